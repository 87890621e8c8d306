/*
 * Graphs as compressed sparse rows. Row i lists the in-neighbours of node i (who sends to i) in ascending
 * order; an edge may occur several times, and each occurrence counts.
 */
#ifndef GTMARK_GRAPHS_CSR_H
#define GTMARK_GRAPHS_CSR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/cancel.h"

struct csr {
    int64_t nodes, edges; /* edges are directed */
    int64_t *row_ptr;     /* nodes + 1: row i is col[row_ptr[i]] .. col[row_ptr[i + 1] - 1] */
    int32_t *col;         /* edges: the senders */
};

/* Node numbers have 32 bits. Edges are limited too, so that kernels may index them with 32 bits. */
#define CSR_MAX_NODES INT64_C(0x7fffffff)
#define CSR_MAX_EDGES INT64_C(0x7fffffff)

/* A directed edge in one word. Words compare by receiver, then by sender, which is the order of a CSR. */
static inline uint64_t csr_edge(int64_t from, int64_t to)
{
    return (uint64_t)to << 32 | (uint64_t)from;
}

static inline int64_t csr_edge_from(uint64_t edge)
{
    return (int64_t)(edge & UINT32_MAX);
}

static inline int64_t csr_edge_to(uint64_t edge)
{
    return (int64_t)(edge >> 32);
}

/*
 * Builds g from `edges` packed edges in any order, which it leaves sorted; the result is the same for any
 * number of threads. Needs 8 bytes per edge beside the list while it sorts. If a node is out of range or
 * without memory, or cancelled: false, a line in error, and nothing to free.
 */
bool csr_build(struct csr *g, int64_t nodes, uint64_t *edge, int64_t edges, struct cancel cancel, char *error,
               size_t error_size);

/*
 * The same for a part of a graph: g gets `rows` rows, whose receivers count from 0, with senders of all
 * `nodes`.
 */
bool csr_build_rows(struct csr *g, int64_t rows, int64_t nodes, uint64_t *edge, int64_t edges,
                    struct cancel cancel, char *error, size_t error_size);

/*
 * Peak bytes of building g, of which only the sizes need be there, from a list of its edges, where making
 * the list took list_peak.
 */
int64_t csr_build_peak(const struct csr *g, int64_t list_peak);

/* Whether g is a valid CSR; if not, error names the first fault. Never reads out of bounds. */
bool csr_validate(const struct csr *g, char *error, size_t error_size);

/*
 * The transpose: row j of t lists in ascending order the nodes that receive from node j of g, as often as g
 * has the edge. Needs 16 bytes per edge meanwhile. Without memory, or cancelled: false, a line in error, and
 * nothing to free.
 */
bool csr_transpose(struct csr *t, const struct csr *g, struct cancel cancel, char *error, size_t error_size);

/*
 * For each edge of t, the transpose of g, its position in g->col; parallel edges are in the same order in
 * both. In linear time; needs 4 bytes per node meanwhile. Free it; null without memory.
 */
int32_t *csr_number_transpose(const struct csr *t, const struct csr *g);

/* Leaves each edge once. */
void csr_drop_repeated(struct csr *g);

/* Whether two graphs are equal: the same nodes with the same rows. */
bool csr_equal(const struct csr *a, const struct csr *b);

/* Frees the arrays and leaves an empty g; freeing it again does nothing. */
void csr_free(struct csr *g);

/* Bytes of both arrays; needs only the sizes. */
int64_t csr_bytes(const struct csr *g);

#endif
