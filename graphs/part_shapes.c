/*
 * Which nodes are halo nodes of which ranks is a bit for each rank and node of the graph in hand. The edges
 * of a batch come graph by graph, so that no more than one graph's bits are needed.
 */
#include "graphs/part_shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/draw.h"
#include "graphs/graph.h"
#include "graphs/halo.h"
#include "graphs/partition.h"
#include "kernels/arithmetic.h"

enum { WORD = 64 };

/* What a rank has. */
struct tally {
    int64_t edges, halo_nodes, sends, cut;
};

struct counting {
    struct edge_taker taker;
    const int32_t *number; /* of the nodes in a partition; null: their own */
    int ranks;
    const int64_t *first; /* ranks + 1: their first nodes */
    struct tally *tally;  /* of each rank */
    int64_t begin;        /* the first node of the graph in hand */
    int from, to;         /* the ranks of its first and last node */
    int64_t words;        /* of bits, for each of these; 0: no graph yet */
    uint64_t *halo;
};

/* The rank that has a node: where it would be if all had equally many, and then as far as need be. */
static int rank_of(const struct counting *k, int64_t node)
{
    int p = (int)((double)node * k->ranks / (double)k->first[k->ranks]);
    while (node < k->first[p])
        p--;
    while (node >= k->first[p + 1])
        p++;
    return p;
}

static bool is_shared(const struct counting *k, int64_t first, int64_t nodes)
{
    return k->number || rank_of(k, first) != rank_of(k, first + nodes - 1);
}

/* Each halo node of the graph in hand is a row that its owner sends. */
static void end_graph(struct counting *k)
{
    for (int p = k->from; p <= k->to; p++)
        for (int64_t w = 0; w < k->words; w++)
            for (uint64_t bits = k->halo[(p - k->from) * k->words + w]; bits; bits &= bits - 1) {
                k->tally[p].halo_nodes++;
                k->tally[rank_of(k, k->begin + w * WORD + __builtin_ctzll(bits))].sends++;
            }
}

/* The graph in hand is over, and this one begins. */
static void begin_graph(struct counting *k, int64_t first, int64_t nodes)
{
    end_graph(k);
    k->begin = first;
    k->from = rank_of(k, first);
    k->to = rank_of(k, first + nodes - 1);
    k->words = nodes / WORD + 1;
    memset(k->halo, 0, (size_t)(k->words * (k->to - k->from + 1)) * sizeof *k->halo);
}

static void count_edge(struct counting *k, int64_t from, int64_t to)
{
    from = k->number ? k->number[from] : from;
    int p = rank_of(k, k->number ? k->number[to] : to);
    int64_t bit = from - k->begin;
    k->tally[p].edges++;
    if (from >= k->first[p] && from < k->first[p + 1])
        return;
    k->tally[p].cut++;
    k->halo[(p - k->from) * k->words + bit / WORD] |= UINT64_C(1) << bit % WORD;
}

static bool wants(const struct edge_taker *d, const struct graph_spec *s)
{
    return is_shared((const struct counting *)d, s->first, s->nodes);
}

static bool take(struct edge_taker *d, const struct graph_spec *s, const uint64_t *edge, char *error,
                 size_t error_size)
{
    struct counting *k = (struct counting *)d;
    (void)error;
    (void)error_size;
    if (s->begin == 0 && !k->number)
        begin_graph(k, s->first, s->nodes);
    for (int64_t e = 0; e < 2 * (s->end - s->begin); e++)
        count_edge(k, csr_edge_from(edge[e]), csr_edge_to(edge[e]));
    return true;
}

/* Makes room for the bits of the largest graph that ranks share. */
static bool make_room(struct counting *k, struct batch *b, const struct graph_config *c, char *error,
                      size_t size)
{
    int64_t most = k->number ? (b->adj.nodes / WORD + 1) * k->ranks : 0;
    for (int64_t g = 0; g < b->graphs; g++) {
        int64_t first = b->offset[g], last = b->offset[g + 1] - 1;
        most = max_of(most, ((last - first + 1) / WORD + 1) * (rank_of(k, last) - rank_of(k, first) + 1));
    }
    k->taker.bytes = most * (int64_t)sizeof *k->halo;
    if (!batch_can_alloc(b, c, k->taker.bytes, error, size))
        return false;
    k->halo = reallocarray(NULL, (size_t)most, sizeof *k->halo);
    if (!k->halo)
        snprintf(error, size, "no memory to count the edges between %d ranks", k->ranks);
    return k->halo;
}

static bool count_drawn(struct counting *k, struct batch *b, const struct graph_config *c,
                        const struct graph_name *n, char *error, size_t size)
{
    for (int64_t g = 0; g < b->graphs; g++) {
        struct graph_spec s = draw_spec(b, c, n, g);
        if (!wants(&k->taker, &s))
            k->tally[rank_of(k, s.first)].edges += n->family->edges(&s);
    }
    return draw_in_blocks(&k->taker, b, c, n, error, size);
}

static void count_made(struct counting *k, const struct batch *b)
{
    const int64_t *row = b->adj.row_ptr;
    for (int64_t g = 0; g < b->graphs; g++) {
        int64_t first = b->offset[g], end = b->offset[g + 1];
        if (!is_shared(k, first, end - first)) {
            k->tally[rank_of(k, first)].edges += row[end] - row[first];
            continue;
        }
        if (!k->number)
            begin_graph(k, first, end - first);
        for (int64_t i = first; i < end; i++)
            for (int64_t e = row[i]; e < row[i + 1]; e++)
                count_edge(k, b->adj.col[e], i);
    }
}

/* A batch without arrays like another one. */
static bool copy_shape(struct batch *to, const struct batch *b)
{
    *to = (struct batch){.adj = {.nodes = b->adj.nodes, .edges = b->adj.edges},
                         .graphs = b->graphs,
                         .offset = reallocarray(NULL, (size_t)b->graphs + 1, sizeof *to->offset),
                         .pairs = b->pairs,
                         .clamped = b->clamped,
                         .peak = b->adj.row_ptr ? b->peak : 0};
    if (to->offset)
        memcpy(to->offset, b->offset, (size_t)(b->graphs + 1) * sizeof *to->offset);
    return to->offset;
}

static bool shape_part(struct batch *part, const struct graph_config *c, int rank, const struct batch *b,
                       struct tally t, int64_t before)
{
    struct graph_config own = *c;
    own.rank = rank;
    if (!copy_shape(part, b) || !batch_bound(part, &own, b->adj.nodes, before))
        return false;
    part->adj = (struct csr){.nodes = max_of(1, part->halo.nodes), .edges = t.edges};
    part->out = (struct csr){.nodes = part->adj.nodes + t.halo_nodes, .edges = t.edges};
    part->halo.halo_nodes = t.halo_nodes;
    part->halo.sends = t.sends;
    part->halo.cut = t.cut;
    free(part->halo.node);
    part->halo.node = NULL;
    part->peak = max_of(
        part->peak, max_of(csr_build_peak(&part->adj, 0), csr_bytes(&part->adj) + csr_bytes(&part->out) +
                                                              t.sends * (int64_t)sizeof *part->halo.send));
    return true;
}

/* Of a batch that is made, or of the shape of one that is drawn. */
static bool count(struct counting *k, struct batch *b, const struct graph_config *c,
                  const struct graph_name *n, char *error, size_t size)
{
    bool done = make_room(k, b, c, error, size);
    if (done && k->number) /* all graphs count as one */
        begin_graph(k, 0, b->adj.nodes);
    if (done && b->adj.row_ptr)
        count_made(k, b);
    else if (done)
        done = count_drawn(k, b, c, n, error, size);
    if (done)
        end_graph(k);
    free(k->halo);
    return done;
}

static bool shape_parts(struct batch *part, const struct graph_config *c, struct batch *b,
                        const struct graph_name *n, char *error, size_t size)
{
    int64_t *first = reallocarray(NULL, (size_t)c->ranks + 1, sizeof *first), before = 0;
    struct counting k = {.taker = {wants, take, 0},
                         .number = c->partition ? c->partition->number : NULL,
                         .ranks = c->ranks,
                         .first = first,
                         .tally = calloc((size_t)c->ranks, sizeof *k.tally)};
    bool done = first && k.tally;
    for (int p = 0; p <= c->ranks && done; p++)
        first[p] = halo_first(c, b->adj.nodes, p);
    snprintf(error, size, "no memory to divide a graph among %d ranks", c->ranks);
    done = done && count(&k, b, c, n, error, size);
    for (int p = 0; p < c->ranks && done; p++) {
        done = shape_part(&part[p], c, p, b, k.tally[p], before);
        before += k.tally[p].edges;
    }
    free(k.tally);
    free(first);
    if (!done)
        part->peak = b->peak;
    return done;
}

bool batch_shape_parts(struct batch *part, const struct graph_config *c, const struct batch *whole,
                       char *error, size_t error_size)
{
    struct graph_config all = *c;
    struct graph_name n;
    struct batch b;
    memset(part, 0, (size_t)c->ranks * sizeof *part);
    if (!graph_name_read(c->family, &n, error, error_size))
        return false;
    if (whole) {
        b = *whole;
        return shape_parts(part, c, &b, &n, error, error_size);
    }
    all.ranks = all.rank = all.by_nodes = 0;
    bool done = (n.giant ? batch_generate : batch_shape)(&b, &all, error, error_size);
    if (!done)
        part->peak = b.peak;
    done = done && shape_parts(part, c, &b, &n, error, error_size);
    batch_free(&b);
    return done;
}
