/*
 * Which nodes of other ranks are halo nodes is a bit for each node of the batch, with the count of those
 * before each word of bits, so that the number of a halo node is found without a search: 12 bytes for 64
 * nodes.
 */
#include "graphs/halo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/partition.h"
#include "graphs/relabel.h"
#include "kernels/arithmetic.h"

enum { WORD = 64 };

/* A batch that is being divided, and what finds the halo nodes of one rank. */
struct cut {
    struct batch *b;
    struct halo *h;
    int rank;
    int64_t begin, end; /* the nodes of this rank */
    uint64_t *halo;     /* a bit for each node of the batch */
    int32_t *before;    /* of each word of these: the halo nodes in the words before */
    struct csr out;
};

static void *array(int64_t count, size_t size)
{
    return calloc((size_t)count + 1, size);
}

int64_t halo_first(const struct graph_config *c, int64_t nodes, int p)
{
    return c->partition ? c->partition->first[p] : nodes * p / c->ranks;
}

/* Where the own nodes of each graph are, which with a partition are any. */
static void bound_graphs(struct batch *b, const struct partition *p, int64_t begin, int64_t end)
{
    const int64_t *whole = b->halo.offset;
    int64_t own = 0;
    for (int64_t g = 0; g <= b->graphs; g++) {
        for (int64_t i = g && p ? whole[g - 1] : whole[g]; i < whole[g]; i++)
            if (p->number[i] >= begin && p->number[i] < end)
                b->halo.node[own++] = (int32_t)i;
        b->offset[g] = p ? own : min_of(max_of(whole[g], begin), end) - begin;
    }
    b->offset[b->graphs] = max_of(1, end - begin);
}

bool batch_bound(struct batch *b, const struct graph_config *c, int64_t nodes, int64_t before)
{
    struct halo *h = &b->halo;
    int64_t begin = halo_first(c, nodes, c->rank), end = halo_first(c, nodes, c->rank + 1);
    *h = (struct halo){.ranks = c->ranks,
                       .nodes = end - begin,
                       .first = array(c->ranks + 1, sizeof *h->first),
                       .get_at = array(c->ranks + 1, sizeof *h->get_at),
                       .send_at = array(c->ranks + 1, sizeof *h->send_at),
                       .offset = array(b->graphs + 1, sizeof *h->offset),
                       .node = c->partition ? array(end - begin, sizeof *h->node) : NULL};
    if (!h->first || !h->get_at || !h->send_at || !h->offset || (c->partition && !h->node))
        return false;
    for (int p = 0; p <= c->ranks; p++)
        h->first[p] = halo_first(c, nodes, p);
    memcpy(h->offset, b->offset, (size_t)(b->graphs + 1) * sizeof *b->offset);
    bound_graphs(b, c->partition, begin, end);
    b->part = (struct batch_part){
        .empty = h->nodes == 0, .node = begin, .edge = before, .graphs = b->graphs, .nodes = nodes};
    b->symmetric = false;
    return true;
}

/* Visits each own node once for each other rank with receivers of it: counts in next[p], and lists it if
 * there is a list. */
static void visit_sent(struct cut *d, int64_t *next)
{
    const struct csr *out = &d->b->out;
    for (int64_t i = 0; i < d->h->nodes; i++)
        for (int64_t e = out->row_ptr[i], p = 0, last = d->rank; e < out->row_ptr[i + 1]; e++) {
            while (out->col[e] >= d->h->first[p + 1])
                p++;
            if (p == d->rank || p == last)
                continue;
            if (d->h->send)
                d->h->send[next[p]] = (int32_t)i;
            next[p]++;
            last = p;
        }
}

static bool list_sent(struct cut *d)
{
    struct halo *h = d->h;
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

static bool is_own(const struct cut *d, int64_t node)
{
    return node >= d->begin && node < d->end;
}

/* The number of a halo node among the halo nodes, or of the first one after a node. */
static int64_t halo_before(const struct cut *d, int64_t node)
{
    uint64_t below = (UINT64_C(1) << node % WORD) - 1;
    return d->before[node / WORD] + __builtin_popcountll(d->halo[node / WORD] & below);
}

static bool find_halo(struct cut *d, int64_t nodes)
{
    const struct csr *g = &d->b->adj;
    int64_t words = nodes / WORD + 1;
    d->halo = array(words, sizeof *d->halo);
    d->before = array(words, sizeof *d->before);
    if (!d->halo || !d->before)
        return false;
    for (int64_t e = 0; e < g->edges; e++)
        if (!is_own(d, g->col[e])) {
            d->halo[g->col[e] / WORD] |= UINT64_C(1) << g->col[e] % WORD;
            d->h->cut++;
        }
    for (int64_t w = 0; w < words; w++)
        d->before[w + 1] = d->before[w] + __builtin_popcountll(d->halo[w]);
    d->h->halo_nodes = d->before[words];
    for (int p = 0; p <= d->h->ranks; p++)
        d->h->get_at[p] = halo_before(d, d->h->first[p]);
    return true;
}

/* Gives senders their numbers here: own nodes, then halo nodes. */
static void number_senders(struct cut *d)
{
    struct csr *g = &d->b->adj;
    for (int64_t e = 0; e < g->edges; e++) {
        int64_t node = g->col[e];
        g->col[e] = (int32_t)(is_own(d, node) ? node - d->begin : g->nodes + halo_before(d, node));
    }
}

/* The receivers of this rank's nodes and halo nodes among its own nodes, by counting sort. */
static bool reverse_rows(struct cut *d)
{
    const struct csr *g = &d->b->adj;
    int64_t senders = g->nodes + d->h->halo_nodes, *at = array(senders + 1, sizeof *at);
    d->out = (struct csr){senders, g->edges, at, array(g->edges, sizeof(int32_t))};
    if (!at || !d->out.col)
        return false;
    for (int64_t e = 0; e < g->edges; e++)
        at[g->col[e] + 1]++;
    for (int64_t i = 0; i < senders; i++)
        at[i + 1] += at[i];
    for (int64_t i = 0; i < g->nodes; i++)
        for (int64_t e = g->row_ptr[i]; e < g->row_ptr[i + 1]; e++)
            d->out.col[at[g->col[e]]++] = (int32_t)i;
    memmove(at + 1, at, (size_t)senders * sizeof *at);
    at[0] = 0;
    return true;
}

static void drop_out(struct batch *b)
{
    if (b->out.row_ptr != b->adj.row_ptr)
        csr_free(&b->out);
}

/* Whether the reverse rows may be taken beside what there is. */
static bool may_reverse(struct cut *d, const struct graph_config *c, int64_t nodes, char *error, size_t size)
{
    struct batch *b = d->b;
    struct csr out = {.nodes = b->adj.nodes + d->h->halo_nodes, .edges = b->adj.edges};
    int64_t find = (nodes / WORD + 1) * (int64_t)(sizeof *d->halo + sizeof *d->before);
    int64_t bytes = csr_bytes(&b->adj) + find + d->h->sends * (int64_t)sizeof *d->h->send + csr_bytes(&out);
    if (!batch_can_alloc(b, c, bytes, error, size))
        return false;
    b->peak = max_of(b->peak, bytes);
    return true;
}

bool batch_number_halo(struct batch *b, const struct graph_config *c, int64_t nodes, int64_t before,
                       char *error, size_t error_size)
{
    snprintf(error, error_size, "no memory to divide a graph of %" PRId64 " nodes", nodes);
    struct cut d = {.b = b, .h = &b->halo, .rank = c->rank};
    bool done = batch_bound(b, c, nodes, before);
    d.begin = b->part.node;
    d.end = d.begin + b->halo.nodes;
    done = done && list_sent(&d) && find_halo(&d, nodes) && may_reverse(&d, c, nodes, error, error_size);
    if (done) {
        number_senders(&d);
        done = reverse_rows(&d);
    }
    free(d.halo);
    free(d.before);
    drop_out(b);
    b->out = d.out;
    if (!done)
        batch_drop(b);
    return done;
}

/* The rows begin .. end - 1 of a graph, at least one. */
static bool copy_rows(struct csr *part, const struct csr *g, int64_t begin, int64_t end)
{
    int64_t before = g->row_ptr[begin], rows = max_of(1, end - begin);
    *part = (struct csr){rows, g->row_ptr[end] - before, array(rows + 1, sizeof *part->row_ptr),
                         array(g->row_ptr[end] - before, sizeof *part->col)};
    if (!part->row_ptr || !part->col)
        return false;
    for (int64_t i = 0; i <= end - begin; i++)
        part->row_ptr[i] = g->row_ptr[begin + i] - before;
    memcpy(part->col, g->col + before, (size_t)part->edges * sizeof *part->col);
    return true;
}

/* Gives the nodes the numbers of a partition. */
static bool renumber(struct batch *b, const struct graph_config *c, char *error, size_t size)
{
    int64_t bytes = 2 * csr_bytes(&b->adj) + b->adj.nodes * (int64_t)sizeof(int32_t) + relabel_bytes(b);
    if (!c->partition)
        return true;
    if (!batch_can_alloc(b, c, bytes, error, size))
        return false;
    int32_t *list = partition_list(c->partition);
    bool done = list && batch_relabel(b, list, c->limits.cancel);
    free(list);
    b->peak = max_of(b->peak, bytes);
    if (!done)
        snprintf(error, size, "%s a graph of %" PRId64 " nodes",
                 is_cancelled(c->limits.cancel) ? "stopped while renumbering" : "no memory to renumber",
                 b->adj.nodes);
    return done;
}

bool batch_divide(struct batch *b, const struct graph_config *c, char *error, size_t error_size)
{
    if (!renumber(b, c, error, error_size)) {
        batch_drop(b);
        return false;
    }
    struct batch all = *b;
    bool two = b->out.row_ptr != b->adj.row_ptr;
    int64_t nodes = all.adj.nodes, begin = halo_first(c, nodes, c->rank);
    int64_t end = halo_first(c, nodes, c->rank + 1), before = all.adj.row_ptr[begin];
    struct csr own = {.nodes = end - begin, .edges = all.adj.row_ptr[end] - before};
    int64_t bytes = (csr_bytes(&all.adj) + csr_bytes(&own)) * (two ? 2 : 1);
    bool done = batch_can_alloc(b, c, bytes, error, error_size);
    if (!done) {
        batch_drop(b);
        return false;
    }
    b->peak = max_of(b->peak, bytes);
    b->adj = b->out = (struct csr){0};
    done = copy_rows(&b->adj, &all.adj, begin, end) && (!two || copy_rows(&b->out, &all.out, begin, end));
    if (!two)
        b->out = b->adj;
    csr_free(&all.adj);
    if (two)
        csr_free(&all.out);
    if (!done) {
        snprintf(error, error_size, "no memory to divide a graph of %" PRId64 " nodes", nodes);
        batch_drop(b);
    }
    return done && batch_number_halo(b, c, nodes, before, error, error_size);
}
