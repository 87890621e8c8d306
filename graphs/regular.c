/*
 * The configuration model (Bollobas 1980): each node has d stubs, and a random permutation of the n d stubs
 * pairs neighbours in its order. A few pairs, about (d^2 - 1) / 4 however large the graph, are loops or
 * repeat an edge. Each such edge (u, v) is switched with a random edge (x, y) into (u, x) and (v, y), where x
 * must not be u or its neighbour, nor y be v or its neighbour: this makes no loop and repeats nothing. For a
 * fixed degree the graph becomes uniformly distributed as n grows (Janson, "Random graphs with given vertex
 * degrees and switchings", 2020).
 *
 * A switch exists: u and its neighbours, fewer than d of them, have at most d^2 stubs, and so have v and its
 * neighbours, so at most 2 d^2 of the n d stubs are excluded, and d is less than n / 2: a denser graph is
 * drawn as the complement of a sparser one. Two loops switch into a double edge, which is switched later.
 *
 * Stub s is of node s / d, and its word in the list of edges is its mate until the end. The complement is
 * drawn at the end of the list, and each node reads its part before it writes over it.
 */
#include "graphs/regular.h"

#include <math.h>
#include <stdlib.h>

#include "graphs/blocks.h"
#include "graphs/csr.h"
#include "graphs/permutation.h"
#include "kernels/rng.h"

static int64_t degree_of(const struct graph_spec *g)
{
    int64_t degree = (int64_t)fmin(floor(g->degree + 0.5), (double)(g->nodes - 1));
    return degree - (degree % 2 && g->nodes % 2);
}

int64_t regular_edges(const struct graph_spec *g)
{
    return g->nodes * degree_of(g);
}

int64_t regular_scratch(const struct graph_spec *g)
{
    return g->nodes * (int64_t)sizeof(int32_t);
}

struct stubs {
    uint64_t *mate;
    int64_t nodes, degree;
};

static int64_t node_of(const struct stubs *s, int64_t stub)
{
    return stub / s->degree;
}

static int64_t node_at(const struct stubs *s, int64_t stub)
{
    return node_of(s, (int64_t)s->mate[stub]);
}

static void join(const struct stubs *s, int64_t a, int64_t b)
{
    s->mate[a] = (uint64_t)b;
    s->mate[b] = (uint64_t)a;
}

static bool pair_stubs(const struct stubs *s, uint64_t key, struct cancel cancel)
{
    struct permutation order = permutation_make(key, (uint64_t)(s->nodes * s->degree));
    for (struct graph_block part = {0}; graph_block_next(&part, s->nodes * s->degree / 2, cancel);) {
#pragma omp parallel for if (part.end - part.first >= PARALLEL_FROM)
        for (int64_t k = part.first; k < part.end; k++)
            join(s, (int64_t)permutation_at(&order, (uint64_t)(2 * k)),
                 (int64_t)permutation_at(&order, (uint64_t)(2 * k + 1)));
    }
    return !is_cancelled(cancel);
}

static bool is_near(const struct stubs *s, int64_t v, int64_t w)
{
    bool near = v == w;
    for (int64_t i = v * s->degree; i < (v + 1) * s->degree && !near; i++)
        near = node_at(s, i) == w;
    return near;
}

/* Switches the edge of a stub; returns its new neighbour. */
static int64_t switch_edge(const struct stubs *s, int64_t stub, uint64_t key)
{
    int64_t mate = (int64_t)s->mate[stub], u = node_of(s, stub), v = node_of(s, mate);
    for (uint64_t draws = 0;; draws++) {
        int64_t other = (int64_t)(rng_bits(key, draws) % (uint64_t)(s->nodes * s->degree));
        int64_t others_mate = (int64_t)s->mate[other], x = node_of(s, other);
        if (is_near(s, u, x) || is_near(s, v, node_of(s, others_mate)))
            continue;
        join(s, stub, other);
        join(s, mate, others_mate);
        return x;
    }
}

/* Removes loops and repeated edges. seen[w] is v + 1 once v is known to be joined to w. */
static bool simplify(const struct stubs *s, int32_t *seen, uint64_t key, struct cancel cancel)
{
    bool going = true;
    for (int64_t v = 0; v < s->nodes && going; v++) {
        going = !is_cancelled(cancel);
        for (int64_t i = v * s->degree; i < (v + 1) * s->degree; i++) {
            int64_t w = node_at(s, i);
            if (w == v || seen[w] == v + 1)
                w = switch_edge(s, i, rng_bits(key, (uint64_t)i));
            seen[w] = (int32_t)(v + 1);
        }
    }
    return going;
}

static bool write_edges(uint64_t *edge, const struct stubs *s, const struct graph_spec *g)
{
    for (struct graph_block part = {0}; graph_block_next(&part, s->nodes * s->degree, g->cancel);) {
#pragma omp parallel for if (part.end - part.first >= PARALLEL_FROM)
        for (int64_t i = part.first; i < part.end; i++)
            edge[i] = csr_edge(g->first + node_at(s, i), g->first + node_of(s, i));
    }
    return !is_cancelled(g->cancel);
}

/* Joins each node to all that are not joined to it. seen[w] is -(v + 1) if v is joined to w. */
static bool write_complement(uint64_t *edge, const struct stubs *s, const struct graph_spec *g, int32_t *seen)
{
    bool going = true;
    for (int64_t v = 0; v < s->nodes && going; v++) {
        going = !is_cancelled(g->cancel);
        int32_t mark = (int32_t) - (v + 1);
        seen[v] = mark;
        for (int64_t i = v * s->degree; i < (v + 1) * s->degree; i++)
            seen[node_at(s, i)] = mark;
        for (int64_t w = 0; w < s->nodes; w++)
            if (seen[w] != mark)
                *edge++ = csr_edge(g->first + w, g->first + v);
    }
    return going;
}

bool regular_draw(uint64_t *edge, const struct graph_spec *g)
{
    int64_t n = g->nodes, degree = degree_of(g), rest = n - 1 - degree;
    bool dense = rest < degree;
    struct stubs s = {dense ? edge + n * (degree - rest) : edge, n, dense ? rest : degree};
    int32_t *seen = calloc((size_t)n, sizeof *seen);
    if (!seen)
        return false;
    bool drawn = pair_stubs(&s, rng_bits(g->key, 0), g->cancel) &&
                 simplify(&s, seen, rng_bits(g->key, 1), g->cancel) &&
                 (dense ? write_complement(edge, &s, g, seen) : write_edges(edge, &s, g));
    free(seen);
    return drawn;
}
