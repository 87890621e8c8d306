#include "graphs/batching.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels/arithmetic.h"

const char *batching_name(int way)
{
    static const char *const names[BATCHINGS] = {"ragged", "padded", "bucketed", "packed"};
    return way >= 0 && way < BATCHINGS ? names[way] : NULL;
}

int64_t batch_size(const struct batch *b, int64_t g)
{
    return b->nodes ? b->nodes[g] : b->offset[g + 1] - b->offset[g];
}

/* Adds `count` sequences of `length` rows, all of whose pairs are computed. */
static void add(struct batching_work *to, int64_t count, int64_t length)
{
    int64_t pairs;
    bool over = to->pairs < 0 || __builtin_mul_overflow(length * length, count, &pairs) ||
                __builtin_add_overflow(to->pairs, pairs, &to->pairs);
    to->rows += count * length;
    to->pairs = over ? -1 : to->pairs;
}

/* The smallest k with size <= 2^k; all graphs are in bucket 0 if they are padded. */
static int bucket_of(const struct batch *b, int64_t g, enum batching way)
{
    uint64_t size = (uint64_t)batch_size(b, g);
    return way == BATCHING_PADDED || size == 1 ? 0 : 64 - __builtin_clzll(size - 1);
}

static struct batching_work padded(const struct batch *b, enum batching way)
{
    enum { BUCKETS = 64 };
    int64_t count[BUCKETS] = {0}, largest[BUCKETS] = {0};
    struct batching_work work = {0};
    for (int64_t g = 0; g < b->graphs; g++) {
        int k = bucket_of(b, g, way);
        count[k]++;
        largest[k] = max_of(largest[k], batch_size(b, g));
    }
    for (int k = 0; k < BUCKETS; k++)
        add(&work, count[k], largest[k]);
    return work;
}

/*
 * First-fit by a tree over the sequences, whose nodes hold the largest room among the sequences below them.
 * Returns the number of sequences.
 */
static int64_t first_fit(const struct batch *b, int64_t length)
{
    int64_t leaves = 1, used = 0;
    while (leaves < b->graphs)
        leaves *= 2;
    int64_t *room = reallocarray(NULL, (size_t)(2 * leaves), sizeof *room);
    if (!room)
        abort();
    for (int64_t i = 0; i < 2 * leaves; i++)
        room[i] = length;
    for (int64_t g = 0; g < b->graphs; g++) {
        int64_t at = 1, size = batch_size(b, g);
        while (at < leaves)
            at = room[2 * at] >= size ? 2 * at : 2 * at + 1;
        used = max_of(used, at - leaves + 1);
        room[at] -= size;
        for (at /= 2; at > 0; at /= 2)
            room[at] = max_of(room[2 * at], room[2 * at + 1]);
    }
    free(room);
    return used;
}

static int64_t largest_of(const struct batch *b)
{
    int64_t largest = 0;
    for (int64_t g = 0; g < b->graphs; g++)
        largest = max_of(largest, batch_size(b, g));
    return largest;
}

/* The useful rows and pairs. */
static struct batching_work ragged(const struct batch *b)
{
    struct batching_work work = {0};
    for (int64_t g = 0; g < b->graphs; g++)
        add(&work, 1, batch_size(b, g));
    return work;
}

struct batching_work batching_work(const struct batch *b, enum batching way)
{
    struct batching_work work = {0};
    int64_t largest = largest_of(b);
    if (way == BATCHING_RAGGED)
        return ragged(b);
    if (way != BATCHING_PACKED)
        return padded(b, way);
    add(&work, first_fit(b, largest), largest);
    return work;
}

/* The node of the padded batch that a node becomes; graphs are in order, so `g` only grows. */
static int64_t padded_node(const struct batch *b, int64_t node, int64_t most, int64_t *g)
{
    while (node >= b->offset[*g + 1])
        ++*g;
    return *g * most + node - b->offset[*g];
}

/* The edges of the padded batch. The columns are changed in place; a node's edges are of its own graph. */
static void pad_edges(struct csr *to, const struct csr *from, const struct batch *b, int64_t most)
{
    int64_t graph = 0;
    *to = (struct csr){b->graphs * most, from->edges, to->row_ptr, from->col};
    for (int64_t i = 0, row = 0; i < from->nodes; i++) {
        int64_t at = padded_node(b, i, most, &graph), shift = at - i;
        for (; row <= at; row++)
            to->row_ptr[row] = from->row_ptr[i];
        for (int64_t e = from->row_ptr[i]; e < from->row_ptr[i + 1]; e++)
            to->col[e] += (int32_t)shift;
        for (int64_t end = i + 1 == from->nodes ? to->nodes + 1 : row; row < end; row++)
            to->row_ptr[row] = from->row_ptr[i + 1];
    }
}

static bool pad_arrays(struct batch *b, int64_t most)
{
    bool two = b->out.row_ptr != b->adj.row_ptr;
    struct csr adj = {.row_ptr = reallocarray(NULL, (size_t)(b->graphs * most) + 1, sizeof *adj.row_ptr)};
    struct csr out = {.row_ptr = two ? reallocarray(NULL, (size_t)(b->graphs * most) + 1, sizeof *out.row_ptr)
                                     : adj.row_ptr};
    if (!adj.row_ptr || !out.row_ptr) {
        free(adj.row_ptr);
        free(two ? out.row_ptr : NULL);
        return false;
    }
    pad_edges(&adj, &b->adj, b, most);
    if (two)
        pad_edges(&out, &b->out, b, most);
    free(b->adj.row_ptr);
    free(two ? b->out.row_ptr : NULL);
    b->adj = adj;
    b->out = two ? out : adj;
    return true;
}

bool batch_pad(struct batch *b, char *error, size_t error_size)
{
    int64_t most = largest_of(b), *nodes = reallocarray(NULL, (size_t)b->graphs, sizeof *nodes);
    bool fits = most <= CSR_MAX_NODES / b->graphs;
    if (!fits || !nodes || (b->adj.row_ptr && !pad_arrays(b, most))) {
        snprintf(error, error_size,
                 fits ? "no memory to pad %lld graphs" : "%lld padded graphs: too many nodes",
                 (long long)b->graphs);
        free(nodes);
        return false;
    }
    b->adj.nodes = b->out.nodes = b->graphs * most;
    b->pairs = b->graphs * most * most;
    for (int64_t g = 0; g < b->graphs; g++)
        nodes[g] = batch_size(b, g);
    for (int64_t g = 0; g <= b->graphs; g++)
        b->offset[g] = g * most;
    b->nodes = nodes;
    b->peak += 8 * b->adj.nodes;
    return true;
}
