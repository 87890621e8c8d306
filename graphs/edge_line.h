/* The lines of an edge list (graphs/edge_list.h). */
#ifndef GTMARK_GRAPHS_EDGE_LINE_H
#define GTMARK_GRAPHS_EDGE_LINE_H

#include <stdint.h>

enum edge_line { EDGE_LINE_EDGE, EDGE_LINE_GRAPH, EDGE_LINE_COMMENT, EDGE_LINE_BAD };

enum { EDGE_LINE_REASON = 120 };

/*
 * Scans [line, end), without its LF. Sets id to the two ids of an edge, or id[0] to the number of nodes of a
 * graph, from 1 to CSR_MAX_NODES; for a bad line sets `reason`.
 */
enum edge_line edge_line_scan(const char *line, const char *end, uint64_t id[2],
                              char reason[EDGE_LINE_REASON]);

#endif
