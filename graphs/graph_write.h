/* Writing graphs to files in the formats of graphs/graph_file.h that have one file. */
#ifndef GTMARK_GRAPHS_GRAPH_WRITE_H
#define GTMARK_GRAPHS_GRAPH_WRITE_H

#include <stdio.h>

#include "graphs/batch.h"
#include "graphs/graph_file.h"

/*
 * Why a batch cannot be written in one of the first three formats; null if it can. Matrix Market and METIS
 * have one graph, METIS without loops and with each edge in both directions.
 */
const char *graph_unwritable(const struct batch *b, enum graph_format f);

/*
 * Writes a batch that can be written, so that graph_file_read gives the same batch again: as an edge list
 * with graph lines only if there are several graphs or isolated nodes, in Matrix Market's format as a pattern
 * that is symmetric if the batch is. False, with errno set, if the file cannot be written or without memory;
 * cancelled: EINTR.
 */
bool graph_write(const struct batch *b, enum graph_format f, bool gzip, FILE *out, struct cancel cancel);

#endif
