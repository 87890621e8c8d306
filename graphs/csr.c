/*
 * Building and checking compressed sparse rows.
 *
 * The edges are sorted by receiver and sender; a row begins where the receiver changes. The cost of the radix
 * sort does not depend on the structure of the graph, so hubs and complete graphs cost as much as sparse
 * ones. Equal edges are equal words, so the result does not depend on how the work was divided among threads.
 *
 * The rows of a graph list its edges in ascending order of the receivers. Reversed edges are then in
 * ascending order of their senders, and a stable sort by the new receivers alone gives the transpose.
 */
#include "graphs/csr.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/radix.h"
#include "kernels/arithmetic.h"

enum { PARALLEL_FROM = 1 << 14 }; /* edges from which starting threads pays off */

/* The bits that node numbers can have. */
static uint64_t node_bits(int64_t nodes)
{
    uint64_t bits = 0;
    while (nodes - 1 > (int64_t)bits)
        bits = bits << 1 | 1;
    return bits;
}

/* The position of the first edge with an end out of range, or `edges`. */
static int64_t first_out_of_range(const uint64_t *edge, int64_t edges, int64_t rows, int64_t nodes)
{
    int64_t stray = edges;
#pragma omp parallel for reduction(min : stray) if (edges >= PARALLEL_FROM)
    for (int64_t e = 0; e < edges; e++)
        if ((csr_edge_from(edge[e]) >= nodes || csr_edge_to(edge[e]) >= rows) && e < stray)
            stray = e;
    return stray;
}

/* Row i begins at the first edge whose receiver is not below i; each edge fills the gap before it. */
static void fill_rows(struct csr *g, const uint64_t *edge)
{
#pragma omp parallel for if (g->edges >= PARALLEL_FROM)
    for (int64_t e = 0; e <= g->edges; e++) {
        int64_t before = e > 0 ? csr_edge_to(edge[e - 1]) : -1;
        int64_t row = e < g->edges ? csr_edge_to(edge[e]) : g->nodes;
        for (int64_t i = before + 1; i <= row; i++)
            g->row_ptr[i] = e;
        if (e < g->edges)
            g->col[e] = (int32_t)csr_edge_from(edge[e]);
    }
}

static bool validate_sizes(int64_t nodes, int64_t edges, char *error, size_t size)
{
    if (nodes >= 0 && nodes <= CSR_MAX_NODES && edges >= 0 && edges <= CSR_MAX_EDGES)
        return true;
    snprintf(error, size, "a graph cannot have %" PRId64 " nodes and %" PRId64 " edges", nodes, edges);
    return false;
}

/* Sorts the edges by the bits of `mask`, which puts them in order, and makes them the rows of g. */
static bool build_rows(struct csr *g, int64_t nodes, uint64_t *edge, int64_t edges, uint64_t mask,
                       struct cancel cancel, char *error, size_t size)
{
    *g = (struct csr){0};
    bool room = radix_sort(edge, edges, mask, cancel);
    if (room) {
        g->row_ptr = reallocarray(NULL, (size_t)nodes + 1, sizeof *g->row_ptr);
        g->col = reallocarray(NULL, (size_t)edges, sizeof *g->col);
        room = g->row_ptr && g->col;
    }
    if (!room) {
        csr_free(g);
        snprintf(error, size, "%s a graph of %" PRId64 " nodes and %" PRId64 " edges",
                 is_cancelled(cancel) ? "stopped while building" : "no memory to build", nodes, edges);
        return false;
    }
    g->nodes = nodes;
    g->edges = edges;
    fill_rows(g, edge);
    return true;
}

bool csr_build_rows(struct csr *g, int64_t rows, int64_t nodes, uint64_t *edge, int64_t edges,
                    struct cancel cancel, char *error, size_t error_size)
{
    *g = (struct csr){0};
    if (!validate_sizes(nodes, edges, error, error_size))
        return false;
    int64_t stray = first_out_of_range(edge, edges, rows, nodes);
    if (stray < edges) {
        snprintf(error, error_size,
                 "edge %" PRId64 " goes from %" PRId64 " to %" PRId64 ", but there are %" PRId64 " nodes",
                 stray, csr_edge_from(edge[stray]), csr_edge_to(edge[stray]), nodes);
        return false;
    }
    return build_rows(g, rows, edge, edges, node_bits(rows) << 32 | node_bits(nodes), cancel, error,
                      error_size);
}

bool csr_build(struct csr *g, int64_t nodes, uint64_t *edge, int64_t edges, struct cancel cancel, char *error,
               size_t error_size)
{
    return csr_build_rows(g, nodes, nodes, edge, edges, cancel, error, error_size);
}

/* Of the list, of sorting it, and of filling the rows from it. */
int64_t csr_build_peak(const struct csr *g, int64_t list_peak)
{
    int64_t list = g->edges * (int64_t)sizeof(uint64_t), filling = list + csr_bytes(g);
    return max_of(list_peak, max_of(2 * list, filling));
}

bool csr_transpose(struct csr *t, const struct csr *g, struct cancel cancel, char *error, size_t error_size)
{
    *t = (struct csr){0};
    uint64_t *edge = reallocarray(NULL, (size_t)g->edges, sizeof *edge);
    if (!edge) {
        snprintf(error, error_size, "no memory to transpose a graph of %" PRId64 " edges", g->edges);
        return false;
    }
#pragma omp parallel for schedule(dynamic, 1024) if (g->edges >= PARALLEL_FROM)
    for (int64_t i = 0; i < g->nodes; i++)
        for (int64_t e = g->row_ptr[i]; e < g->row_ptr[i + 1]; e++)
            edge[e] = csr_edge(i, g->col[e]);
    bool built =
        build_rows(t, g->nodes, edge, g->edges, node_bits(g->nodes) << 32, cancel, error, error_size);
    free(edge);
    return built;
}

/* The edges of g come in the order of their receivers, which is the order within each row of t. */
int32_t *csr_number_transpose(const struct csr *t, const struct csr *g)
{
    int32_t *number = reallocarray(NULL, (size_t)g->edges, sizeof *number);
    int32_t *next = reallocarray(NULL, (size_t)t->nodes, sizeof *next);
    for (int64_t j = 0; number && next && j < t->nodes; j++)
        next[j] = (int32_t)t->row_ptr[j];
    for (int64_t e = 0; number && next && e < g->edges; e++)
        number[next[g->col[e]]++] = (int32_t)e;
    if (!next) {
        free(number);
        number = NULL;
    }
    free(next);
    return number;
}

void csr_drop_repeated(struct csr *g)
{
    int64_t kept = 0, first = 0;
    for (int64_t i = 0; i < g->nodes; i++) {
        int64_t end = g->row_ptr[i + 1];
        for (int64_t e = first; e < end; e++)
            if (e == first || g->col[e] != g->col[e - 1])
                g->col[kept++] = g->col[e];
        first = end;
        g->row_ptr[i + 1] = kept;
    }
    g->edges = kept;
}

bool csr_equal(const struct csr *a, const struct csr *b)
{
    return a->nodes == b->nodes && a->edges == b->edges &&
           memcmp(a->row_ptr, b->row_ptr, ((size_t)a->nodes + 1) * sizeof *a->row_ptr) == 0 &&
           memcmp(a->col, b->col, (size_t)a->edges * sizeof *a->col) == 0;
}

static bool validate_rows(const struct csr *g, char *error, size_t size)
{
    if (g->row_ptr[0] != 0) {
        snprintf(error, size, "row_ptr[0] is %" PRId64 ", not 0", g->row_ptr[0]);
        return false;
    }
    for (int64_t i = 0; i < g->nodes; i++)
        if (g->row_ptr[i + 1] < g->row_ptr[i]) {
            snprintf(error, size, "row_ptr decreases from %" PRId64 " to %" PRId64 " after row %" PRId64,
                     g->row_ptr[i], g->row_ptr[i + 1], i);
            return false;
        }
    if (g->row_ptr[g->nodes] != g->edges) {
        snprintf(error, size, "row_ptr ends at %" PRId64 ", but there are %" PRId64 " edges",
                 g->row_ptr[g->nodes], g->edges);
        return false;
    }
    return true;
}

static bool validate_columns(const struct csr *g, char *error, size_t size)
{
    for (int64_t i = 0; i < g->nodes; i++)
        for (int64_t e = g->row_ptr[i]; e < g->row_ptr[i + 1]; e++) {
            if (g->col[e] < 0 || g->col[e] >= g->nodes) {
                snprintf(error, size,
                         "row %" PRId64 " holds column %" PRId32 ", but there are %" PRId64 " nodes", i,
                         g->col[e], g->nodes);
                return false;
            }
            if (e > g->row_ptr[i] && g->col[e] < g->col[e - 1]) {
                snprintf(error, size, "row %" PRId64 " is not sorted: column %" PRId32 " follows %" PRId32, i,
                         g->col[e], g->col[e - 1]);
                return false;
            }
        }
    return true;
}

bool csr_validate(const struct csr *g, char *error, size_t error_size)
{
    if (!validate_sizes(g->nodes, g->edges, error, error_size))
        return false;
    if (!g->row_ptr || (g->edges > 0 && !g->col)) {
        snprintf(error, error_size, "%s is missing", g->row_ptr ? "col" : "row_ptr");
        return false;
    }
    return validate_rows(g, error, error_size) && validate_columns(g, error, error_size);
}

void csr_free(struct csr *g)
{
    free(g->row_ptr);
    free(g->col);
    *g = (struct csr){0};
}

int64_t csr_bytes(const struct csr *g)
{
    return (g->nodes + 1) * (int64_t)sizeof *g->row_ptr + g->edges * (int64_t)sizeof *g->col;
}
