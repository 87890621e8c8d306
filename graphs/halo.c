#include "graphs/halo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/graph.h"
#include "kernels/arithmetic.h"

/* What divides a batch for one rank. */
struct division {
    struct batch *b;
    struct halo h;
    int rank;
    int64_t begin, end; /* the nodes of this rank */
    int32_t *local;     /* of each node of the batch: its number here, -1: none */
    struct csr adj, out;
};

static void *array(int64_t count, size_t size)
{
    return calloc((size_t)count + 1, size);
}

static int64_t rows_here(const struct division *d)
{
    return max_of(1, d->end - d->begin); /* at least a placeholder */
}

/* Numbers the nodes of this rank, and its ghosts after them. */
static bool number_nodes(struct division *d)
{
    const struct csr *whole = &d->b->adj;
    d->local = malloc(((size_t)whole->nodes + 1) * sizeof *d->local);
    if (!d->local)
        return false;
    memset(d->local, -1, (size_t)whole->nodes * sizeof *d->local);
    for (int64_t e = whole->row_ptr[d->begin]; e < whole->row_ptr[d->end]; e++)
        d->local[whole->col[e]] = 0;
    for (int64_t i = d->begin; i < d->end; i++)
        d->local[i] = (int32_t)(i - d->begin);
    for (int p = 0; p < d->h.ranks; p++) {
        d->h.get_at[p] = d->h.ghosts;
        for (int64_t i = d->h.first[p]; i < d->h.first[p + 1] && p != d->rank; i++)
            if (d->local[i] == 0)
                d->local[i] = (int32_t)(rows_here(d) + d->h.ghosts++);
    }
    d->h.get_at[d->h.ranks] = d->h.ghosts;
    return true;
}

/* The rows of this rank, with the senders by their numbers here. */
static bool cut_rows(struct division *d)
{
    const struct csr *whole = &d->b->adj;
    int64_t before = whole->row_ptr[d->begin], edges = whole->row_ptr[d->end] - before;
    d->adj = (struct csr){rows_here(d), edges, array(rows_here(d) + 1, sizeof(int64_t)),
                          array(edges, sizeof(int32_t))};
    if (!d->adj.row_ptr || !d->adj.col)
        return false;
    for (int64_t i = 0; i <= d->end - d->begin; i++)
        d->adj.row_ptr[i] = whole->row_ptr[d->begin + i] - before;
    for (int64_t e = 0; e < edges; e++) {
        d->adj.col[e] = d->local[whole->col[before + e]];
        d->h.cut += d->adj.col[e] >= rows_here(d);
    }
    return true;
}

/* The receivers of this rank's nodes and ghosts among its own nodes, by counting sort. */
static bool reverse_rows(struct division *d)
{
    int64_t senders = rows_here(d) + d->h.ghosts, *at = array(senders + 1, sizeof *at);
    d->out = (struct csr){senders, d->adj.edges, at, array(d->adj.edges, sizeof(int32_t))};
    if (!at || !d->out.col)
        return false;
    for (int64_t e = 0; e < d->adj.edges; e++)
        at[d->adj.col[e] + 1]++;
    for (int64_t i = 0; i < senders; i++)
        at[i + 1] += at[i];
    for (int64_t i = 0; i < d->adj.nodes; i++)
        for (int64_t e = d->adj.row_ptr[i]; e < d->adj.row_ptr[i + 1]; e++)
            d->out.col[at[d->adj.col[e]]++] = (int32_t)i;
    memmove(at + 1, at, (size_t)senders * sizeof *at);
    at[0] = 0;
    return true;
}

/* Visits each own node once for each other rank with receivers of it: counts in next[p], and lists it if
 * there is a list. */
static void visit_sent(struct division *d, int64_t *next)
{
    const struct csr *out = &d->b->out;
    for (int64_t i = d->begin; i < d->end; i++)
        for (int64_t e = out->row_ptr[i], p = 0, last = d->rank; e < out->row_ptr[i + 1]; e++) {
            while (out->col[e] >= d->h.first[p + 1])
                p++;
            if (p == d->rank || p == last)
                continue;
            if (d->h.send)
                d->h.send[next[p]] = (int32_t)(i - d->begin);
            next[p]++;
            last = p;
        }
}

static bool list_sent(struct division *d)
{
    struct halo *h = &d->h;
    visit_sent(d, h->send_at + 1);
    for (int p = 0; p < h->ranks; p++)
        h->send_at[p + 1] += h->send_at[p];
    h->sends = h->send_at[h->ranks];
    int64_t *next = array(h->ranks, sizeof *next);
    h->send = array(h->sends, sizeof *h->send);
    if (next && h->send) {
        memcpy(next, h->send_at, (size_t)h->ranks * sizeof *next);
        visit_sent(d, next);
    }
    free(next);
    return next && h->send;
}

static bool bound_ranks(struct division *d, int ranks)
{
    struct halo *h = &d->h;
    h->ranks = ranks;
    h->first = array(ranks + 1, sizeof *h->first);
    h->get_at = array(ranks + 1, sizeof *h->get_at);
    h->send_at = array(ranks + 1, sizeof *h->send_at);
    if (!h->first || !h->get_at || !h->send_at)
        return false;
    for (int p = 0; p <= ranks; p++)
        h->first[p] = d->b->adj.nodes * p / ranks;
    d->begin = h->first[d->rank];
    d->end = h->first[d->rank + 1];
    h->nodes = d->end - d->begin;
    return true;
}

/* Where the own nodes of each graph are; a placeholder is in the last graph. */
static bool cut_graphs(struct division *d)
{
    const struct batch *b = d->b;
    d->h.offset = array(b->graphs + 1, sizeof *d->h.offset);
    if (!d->h.offset)
        return false;
    memcpy(d->h.offset, b->offset, (size_t)(b->graphs + 1) * sizeof *b->offset);
    for (int64_t g = 0; g <= b->graphs; g++)
        b->offset[g] = min_of(max_of(b->offset[g], d->begin), d->end) - d->begin;
    b->offset[b->graphs] = rows_here(d);
    return true;
}

bool batch_divide(struct batch *b, int rank, int ranks, char *error, size_t error_size)
{
    struct division d = {.b = b, .rank = rank};
    bool done = bound_ranks(&d, ranks) && number_nodes(&d) && cut_rows(&d) && reverse_rows(&d) &&
                list_sent(&d) && cut_graphs(&d);
    free(d.local);
    if (!done) {
        csr_free(&d.adj);
        csr_free(&d.out);
        b->halo = d.h;
        snprintf(error, error_size, "no memory to divide a graph of %" PRId64 " nodes", b->adj.nodes);
        batch_drop(b);
        return false;
    }
    b->part = (struct batch_part){.empty = d.h.nodes == 0,
                                  .node = d.begin,
                                  .edge = b->adj.row_ptr[d.begin],
                                  .graphs = b->graphs,
                                  .nodes = b->adj.nodes};
    if (b->out.row_ptr != b->adj.row_ptr)
        csr_free(&b->out);
    csr_free(&b->adj);
    b->adj = d.adj;
    b->out = d.out;
    b->halo = d.h;
    b->symmetric = false;
    return true;
}
