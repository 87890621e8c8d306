/*
 * Graphs from text files, plain or compressed with gzip.
 *
 * A line has two node ids separated by blanks, tabs or a comma, and optionally a third column, a weight,
 * which is ignored. Ids are any whole numbers below 2^64; the nodes are numbered from 0 in ascending order of
 * their ids. Empty lines, and lines that begin with # or %, are comments. Lines end with LF or CR LF.
 *
 * A file may contain a batch: a line "graph N" begins a graph of N nodes, and the edges that follow use its
 * node numbers 0 to N - 1. Nodes and whole graphs may be without edges.
 */
#ifndef GTMARK_GRAPHS_EDGE_LIST_H
#define GTMARK_GRAPHS_EDGE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graphs/batch.h"

struct edge_list {
    int64_t nodes, edges;
    uint64_t *edge;  /* packed (csr_edge), in the order of the file */
    int64_t graphs;  /* 1 without graph lines */
    int64_t *offset; /* graphs + 1: graph g owns nodes offset[g] .. offset[g + 1] - 1 */
    int64_t peak;    /* peak memory of reading in bytes, including this list */
};

/*
 * Reads the file at path, in which a line "a b" is the edge from a to b, and with `undirected` also the one
 * from b to a, unless a is b. Repeated lines are repeated edges. False, a line in error that begins with the
 * path, and nothing to free if the file cannot be read, has a line that is none of the above, has an edge
 * before the first graph line, has neither edges nor graphs, or has more than CSR_MAX_EDGES or CSR_MAX_NODES;
 * also if reading is cancelled, or would take more than the limit with the rows of its nodes: then list->peak
 * is what it needs, above the limit.
 */
bool edge_list_read(struct edge_list *list, const char *path, bool undirected, struct graph_limits limits,
                    char *error, size_t error_size);

/* Frees the arrays and leaves an empty list; freeing it again does nothing. */
void edge_list_free(struct edge_list *list);

#endif
