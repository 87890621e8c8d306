/*
 * Building and checking compressed sparse rows.
 *
 * The edges are sorted by receiver and sender, and rows are where the receiver changes. The sort is a
 * parallel radix sort from the least significant digit (Zagha and Blelloch, "Radix sort for vector
 * multiprocessors", Supercomputing 1991): in each pass every thread counts the digits of its share, a prefix
 * sum over digits and threads gives each its places, and every thread moves its share. No pass depends on the
 * shape of the graph, so that hubs and complete graphs cost what sparse ones do, and equal edges are equal
 * words, so that the result is one and the same however the work was shared.
 */
#include "graphs/csr.h"

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    DIGIT_BITS = 11, /* 2048 open places to write to: they fit the second-level cache and its page table */
    DIGITS = 1 << DIGIT_BITS,
    PARALLEL_FROM = 1 << 14 /* edges that outweigh the start of a team of threads */
};

/* From counts[thread][digit] to the place of each thread's first word of each digit. */
static void counts_to_places(int64_t *counts, int threads)
{
    int64_t place = 0;
    for (int digit = 0; digit < DIGITS; digit++)
        for (int t = 0; t < threads; t++) {
            int64_t count = counts[t * DIGITS + digit];
            counts[t * DIGITS + digit] = place;
            place += count;
        }
}

/*
 * Stably moves `count` words into the order of their digit that begins at bit `shift`. A sender's last digit
 * may reach into the receiver's bits, which does no harm: the passes over the receiver come later.
 */
static void radix_pass(const uint64_t *from, uint64_t *to, int64_t count, int shift, int64_t *counts,
                       int most_threads)
{
#pragma omp parallel num_threads(most_threads)
    {
        int threads = omp_get_num_threads(), thread = omp_get_thread_num();
        int64_t first = count * thread / threads, end = count * (thread + 1) / threads;
        int64_t *place = counts + thread * DIGITS;
        for (int digit = 0; digit < DIGITS; digit++)
            place[digit] = 0;
        for (int64_t e = first; e < end; e++)
            place[from[e] >> shift & (DIGITS - 1)]++;
#pragma omp barrier
#pragma omp single
        counts_to_places(counts, threads);
        for (int64_t e = first; e < end; e++)
            to[place[from[e] >> shift & (DIGITS - 1)]++] = from[e];
    }
}

/*
 * Sorts the words by sender, then stably by receiver. Both take the same number of passes, so that the words
 * end in the array where they began. False without memory.
 */
static bool sort_edges(uint64_t *edge, int64_t edges, int64_t nodes)
{
    int threads = edges < PARALLEL_FROM ? 1 : omp_get_max_threads();
    int64_t *counts = reallocarray(NULL, (size_t)threads * DIGITS, sizeof *counts);
    uint64_t *spare = reallocarray(NULL, (size_t)edges, sizeof *spare);
    bool room = counts && spare;
    for (int field = 0; room && field < 64; field += 32)
        for (int bit = 0; (nodes - 1) >> bit > 0; bit += DIGIT_BITS) {
            radix_pass(edge, spare, edges, field + bit, counts, threads);
            uint64_t *sorted = spare;
            spare = edge;
            edge = sorted;
        }
    free(counts);
    free(spare);
    return room;
}

/* The position of the first edge with an end that is no node, or `edges`. */
static int64_t first_stray(const uint64_t *edge, int64_t edges, int64_t nodes)
{
    int64_t stray = edges;
#pragma omp parallel for reduction(min : stray) if (edges >= PARALLEL_FROM)
    for (int64_t e = 0; e < edges; e++)
        if ((csr_edge_from(edge[e]) >= nodes || csr_edge_to(edge[e]) >= nodes) && e < stray)
            stray = e;
    return stray;
}

/* Row i begins at the first edge whose receiver is not below i; the gap before each edge is filled by it. */
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
    if (nodes >= 0 && nodes <= CSR_MAX_NODES && edges >= 0)
        return true;
    snprintf(error, size, "a graph cannot have %" PRId64 " nodes and %" PRId64 " edges", nodes, edges);
    return false;
}

bool csr_build(struct csr *g, int64_t nodes, uint64_t *edge, int64_t edges, char *error, size_t error_size)
{
    *g = (struct csr){0};
    if (!validate_sizes(nodes, edges, error, error_size))
        return false;
    int64_t stray = first_stray(edge, edges, nodes);
    if (stray < edges) {
        snprintf(error, error_size,
                 "edge %" PRId64 " goes from %" PRId64 " to %" PRId64 ", but there are %" PRId64 " nodes",
                 stray, csr_edge_from(edge[stray]), csr_edge_to(edge[stray]), nodes);
        return false;
    }
    bool room = sort_edges(edge, edges, nodes);
    if (room) {
        g->row_ptr = reallocarray(NULL, (size_t)nodes + 1, sizeof *g->row_ptr);
        g->col = reallocarray(NULL, (size_t)edges, sizeof *g->col);
        room = g->row_ptr && g->col;
    }
    if (!room) {
        csr_free(g);
        snprintf(error, error_size, "no memory to build a graph of %" PRId64 " nodes and %" PRId64 " edges",
                 nodes, edges);
        return false;
    }
    g->nodes = nodes;
    g->edges = edges;
    fill_rows(g, edge);
    return true;
}

static bool validate_rows(const struct csr *g, char *error, size_t size)
{
    if (g->row_ptr[0] != 0) {
        snprintf(error, size, "row_ptr[0] is %" PRId64 ", not 0", g->row_ptr[0]);
        return false;
    }
    for (int64_t i = 0; i < g->nodes; i++)
        if (g->row_ptr[i + 1] < g->row_ptr[i]) {
            snprintf(error, size, "row_ptr falls from %" PRId64 " to %" PRId64 " after row %" PRId64,
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

struct degrees csr_degrees(const struct csr *g)
{
    struct degrees d = {.min = g->edges, .mean = (double)g->edges / (double)g->nodes};
    for (int64_t i = 0; i < g->nodes; i++) {
        int64_t degree = g->row_ptr[i + 1] - g->row_ptr[i];
        if (degree < d.min)
            d.min = degree;
        if (degree > d.max)
            d.max = degree;
    }
    return d;
}

int64_t csr_bytes(const struct csr *g)
{
    return (g->nodes + 1) * (int64_t)sizeof *g->row_ptr + g->edges * (int64_t)sizeof *g->col;
}
