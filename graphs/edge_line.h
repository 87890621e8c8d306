/* The lines of an edge list (graphs/edge_lines.h). */
#ifndef GTMARK_GRAPHS_EDGE_LINE_H
#define GTMARK_GRAPHS_EDGE_LINE_H

#include <stdint.h>

#include "graphs/words.h"

enum edge_line { EDGE_LINE_EDGE, EDGE_LINE_GRAPH, EDGE_LINE_COMMENT, EDGE_LINE_WORDS, EDGE_LINE_BAD };

/*
 * Scans a line. Sets id to the two ids of an edge, or with `names` to hashes of its names, and how many
 * columns the line has; or id[0] to the number of nodes of a graph, from 1 to CSR_MAX_NODES, of which there
 * is none with names. Of a bad line, or one of words where ids should be, the words have the reason.
 */
enum edge_line edge_line_scan(struct words *line, bool names, uint64_t id[2], int *columns);

#endif
