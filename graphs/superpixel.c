/*
 * With k = the degree, rounded up, the k nearest of all nodes contain at least n k / 2 different pairs, since
 * a pair is among the nearest of its two nodes: so the k nearest of each node are enough.
 *
 * Coordinates have 16 bits, so that a squared distance (33 bits) and a node (31 bits) fit a word: words
 * compare by distance, then by node, and the order is exact. The points are sorted into about n / 2 square
 * cells. The cells around a point are searched in square rings: beyond ring r everything is farther than r
 * widths of a cell, so the search ends as soon as the k-th nearest so far is not farther than that. These k
 * are a heap with the farthest on top, sorted in the end.
 *
 * Whether the j-th nearest w of v makes a new pair is seen from w's list: it does unless v is among the first
 * j - 1 there, or the j-th and of the smaller number.
 */
#include "graphs/superpixel.h"

#include <math.h>
#include <stdlib.h>

#include "graphs/blocks.h"
#include "graphs/pairs.h"
#include "kernels/rng.h"

enum { PLACE_BITS = 16, NODE_BITS = 31 };

struct cloud {
    int64_t nodes, side, near; /* side: cells; near: nodes in a list of nearest */
    uint64_t key;
    int32_t *start, *member; /* cell c has the nodes member[start[c]] .. member[start[c + 1] - 1] */
    uint64_t *nearest;       /* nodes x near: squared distance and node, ascending */
};

int64_t superpixel_edges(const struct graph_spec *g)
{
    return 2 * pairs_asked(g);
}

/* Only the sizes. */
static struct cloud cloud_of(const struct graph_spec *g)
{
    double near = fmin(ceil(g->degree), (double)(g->nodes - 1));
    return (struct cloud){.nodes = g->nodes,
                          .side = max_of(1, (int64_t)sqrt((double)g->nodes / 2)),
                          .near = (int64_t)near,
                          .key = g->key};
}

int64_t superpixel_scratch(const struct graph_spec *g)
{
    struct cloud c = cloud_of(g);
    return (c.side * c.side + 1 + c.nodes) * (int64_t)sizeof(int32_t) +
           (c.nodes + 1) * c.near * (int64_t)sizeof(uint64_t);
}

struct place {
    int64_t x, y;
};

static struct place place_of(const struct cloud *c, int64_t v)
{
    uint64_t bits = rng_bits(c->key, (uint64_t)v);
    return (struct place){(int64_t)(bits >> 48), (int64_t)(bits >> 32 & 0xffff)};
}

static struct place cell_of(const struct cloud *c, struct place p)
{
    return (struct place){p.x * c->side >> PLACE_BITS, p.y * c->side >> PLACE_BITS};
}

static int32_t *start_of(const struct cloud *c, int64_t v)
{
    struct place cell = cell_of(c, place_of(c, v));
    return &c->start[cell.y * c->side + cell.x];
}

static void fill_cells(const struct cloud *c)
{
    int64_t cells = c->side * c->side;
    for (int64_t v = 0; v < c->nodes; v++)
        ++*start_of(c, v);
    for (int64_t i = 1; i <= cells; i++)
        c->start[i] += c->start[i - 1];
    for (int64_t v = c->nodes - 1; v >= 0; v--)
        c->member[--*start_of(c, v)] = (int32_t)v;
}

static void sift_down(uint64_t *heap, int64_t count, int64_t at)
{
    uint64_t word = heap[at];
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1] > heap[child])
            child++;
        if (heap[child] <= word)
            break;
        heap[at] = heap[child];
    }
    heap[at] = word;
}

/* The nodes nearest to v that were found so far; a heap once all places are taken. */
struct finding {
    const struct cloud *cloud;
    int64_t v, found;
    struct place at;
    uint64_t *list;
};

static void offer(struct finding *f, int64_t w)
{
    struct place p = place_of(f->cloud, w);
    int64_t x = p.x - f->at.x, y = p.y - f->at.y, near = f->cloud->near;
    uint64_t word = (uint64_t)(x * x + y * y) << NODE_BITS | (uint64_t)w;
    if (f->found < near) {
        f->list[f->found++] = word;
        for (int64_t i = near / 2 - 1; f->found == near && i >= 0; i--)
            sift_down(f->list, near, i);
    } else if (word < f->list[0]) {
        f->list[0] = word;
        sift_down(f->list, near, 0);
    }
}

static void search_cell(struct finding *f, int64_t x, int64_t y)
{
    const struct cloud *c = f->cloud;
    if (x < 0 || x >= c->side)
        return;
    const int32_t *start = &c->start[y * c->side + x];
    for (int32_t i = start[0]; i < start[1]; i++)
        if (c->member[i] != f->v)
            offer(f, c->member[i]);
}

static void search_ring(struct finding *f, struct place at, int64_t ring)
{
    for (int64_t y = max_of(0, at.y - ring); y <= min_of(f->cloud->side - 1, at.y + ring); y++) {
        bool whole = y == at.y - ring || y == at.y + ring;
        for (int64_t x = at.x - ring; x <= at.x + ring; x += whole ? 1 : 2 * ring)
            search_cell(f, x, y);
    }
}

static void find_nearest(const struct cloud *c, int64_t v)
{
    struct finding f = {c, v, 0, place_of(c, v), c->nearest + v * c->near};
    struct place cell = cell_of(c, f.at);
    int64_t width = (1 << PLACE_BITS) / c->side;
    for (int64_t ring = 0; ring < c->side; ring++) {
        uint64_t searched = (uint64_t)max_of(0, (ring - 1) * width);
        if (ring > 0 && f.found == c->near && f.list[0] >> NODE_BITS <= searched * searched)
            break;
        search_ring(&f, cell, ring);
    }
    for (int64_t end = c->near - 1; end > 0; end--) {
        uint64_t last = f.list[0];
        f.list[0] = f.list[end];
        f.list[end] = last;
        sift_down(f.list, end, 0);
    }
}

static bool find_all(const struct cloud *c, struct cancel cancel)
{
#pragma omp parallel for schedule(dynamic, 256) if (c->nodes >= PARALLEL_FROM)
    for (int64_t v = 0; v < c->nodes; v++)
        if (!is_cancelled(cancel))
            find_nearest(c, v);
    return !is_cancelled(cancel);
}

/* The other node of a pair that no node before v, or with a smaller j, has; -1 if it is not new. */
static int64_t new_neighbour(const struct cloud *c, int64_t v, int64_t j)
{
    uint64_t word = c->nearest[v * c->near + j];
    int64_t w = (int64_t)(word & ((UINT64_C(1) << NODE_BITS) - 1));
    uint64_t back = (word - (uint64_t)w) | (uint64_t)v, there = c->nearest[w * c->near + j];
    return back > there || (back == there && v < w) ? w : -1;
}

/* Writes the first pairs in the order of j, then of v; new_pairs[j] is how many there are. */
static void write_pairs(uint64_t *edge, const struct cloud *c, int64_t first, int64_t pairs,
                        int64_t *new_pairs)
{
    int64_t levels = 0;
    for (int64_t v = 0; v < c->nodes; v++)
        for (int64_t j = 0; j < c->near; j++)
            new_pairs[j] += new_neighbour(c, v, j) >= 0;
    while (levels < c->near && pairs >= new_pairs[levels])
        pairs -= new_pairs[levels++];
    for (int64_t v = 0; v < c->nodes; v++)
        for (int64_t j = 0; j < levels + (levels < c->near && pairs > 0); j++) {
            int64_t w = new_neighbour(c, v, j);
            if (w < 0)
                continue;
            pairs -= j == levels;
            edge = pair_write(edge, first + v, first + w);
        }
}

bool superpixel_draw(uint64_t *edge, const struct graph_spec *g)
{
    struct cloud c = cloud_of(g);
    int64_t pairs = pairs_asked(g), *new_pairs;
    if (pairs == 0)
        return !is_cancelled(g->cancel);
    new_pairs = calloc((size_t)c.near, sizeof *new_pairs);
    c.start = calloc((size_t)(c.side * c.side) + 1, sizeof *c.start);
    c.member = reallocarray(NULL, (size_t)c.nodes, sizeof *c.member);
    c.nearest = reallocarray(NULL, (size_t)(c.nodes * c.near), sizeof *c.nearest);
    bool drawn = new_pairs && c.start && c.member && c.nearest && !is_cancelled(g->cancel);
    if (drawn) {
        fill_cells(&c);
        drawn = find_all(&c, g->cancel);
    }
    if (drawn)
        write_pairs(edge, &c, g->first, pairs, new_pairs);
    free(new_pairs);
    free(c.start);
    free(c.member);
    free(c.nearest);
    return drawn;
}
