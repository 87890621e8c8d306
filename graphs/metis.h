/*
 * METIS's graph files (Karypis, "METIS: a software package for partitioning unstructured graphs", manual of
 * version 5.1.0, section 4.1.1), as used in the 10th DIMACS challenge.
 *
 * After a header, line i has the neighbours of node i, counted from 1, each edge in the lines of both its
 * ends. Sizes and weights of nodes, and weights of edges, are checked to be numbers, and ignored.
 */
#ifndef GTMARK_GRAPHS_METIS_H
#define GTMARK_GRAPHS_METIS_H

#include "graphs/edge_list.h"

/*
 * Reads the file, as graph_file_read (graphs/graph_file.h). Loops are refused, as are more or fewer nodes and
 * edges than the header says; whether each edge is listed twice, the caller sees (both_listed).
 */
bool metis_read(struct edge_list *list, const struct graph_source *s);

#endif
