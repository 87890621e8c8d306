#include "graphs/batching.h"

#include <stdlib.h>

#include "kernels/arithmetic.h"

const char *batching_name(int way)
{
    static const char *const names[BATCHINGS] = {"ragged", "padded", "bucketed", "packed"};
    return way >= 0 && way < BATCHINGS ? names[way] : NULL;
}

static int64_t size_of(const struct batch *b, int64_t g)
{
    return b->offset[g + 1] - b->offset[g];
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
    uint64_t size = (uint64_t)size_of(b, g);
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
        largest[k] = max_of(largest[k], size_of(b, g));
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
        int64_t at = 1, size = size_of(b, g);
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

struct batching_work batching_work(const struct batch *b, enum batching way)
{
    struct batching_work work = {0};
    int64_t largest = 0;
    if (way == BATCHING_RAGGED)
        return (struct batching_work){b->adj.nodes, b->pairs};
    if (way != BATCHING_PACKED)
        return padded(b, way);
    for (int64_t g = 0; g < b->graphs; g++)
        largest = max_of(largest, size_of(b, g));
    add(&work, first_fit(b, largest), largest);
    return work;
}
