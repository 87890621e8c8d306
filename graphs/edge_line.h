/* The lines of an edge list (graphs/edge_lines.h). */
#ifndef GTMARK_GRAPHS_EDGE_LINE_H
#define GTMARK_GRAPHS_EDGE_LINE_H

#include <stdint.h>

#include "graphs/words.h"

enum edge_line { EDGE_LINE_EDGE, EDGE_LINE_GRAPH, EDGE_LINE_COMMENT, EDGE_LINE_BAD };

/*
 * Scans a line. Sets id to the two ids of an edge, and how many columns the line has, or id[0] to the number
 * of nodes of a graph, from 1 to CSR_MAX_NODES; for a bad line the words have the reason.
 */
enum edge_line edge_line_scan(struct words *line, uint64_t id[2], int *columns);

/* The same where nodes have names, which are words; there are no graph lines. Of each name id has two hashes.
 */
enum edge_line edge_line_names(struct words *line, uint64_t id[2][2], int *columns);

/* Whether the line begins with two words of which none begins like a number: names of columns, not an edge.
 */
bool edge_line_is_header(const struct words *line);

#endif
