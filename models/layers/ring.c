/*
 * Attention among nodes that ranks divide: each rank keeps its queries, and blocks of keys and values, those
 * of one rank each, go around. While a rank folds the block in hand into its result, it sends it on and
 * receives the next one, so that it has two. models/tape/ring.c has the backward pass.
 */
#include "models/layers/layers.h"
#include "models/tape/tape_internal.h"

/* The nodes of graph g before node `end` of a rank's that begin at `first`. */
static int64_t nodes_before(const struct halo *h, int64_t g, int64_t first, int64_t end)
{
    int64_t at = h->offset[g];
    return at < first ? 0 : (at < end ? at : end) - first;
}

/* The bounds of each graph in the blocks of all ranks: a column of `at` for each. */
static struct key_block block_of(const struct batch *b, int64_t *at, struct mat bounds, int rank)
{
    const struct halo *h = &b->halo;
    struct key_block block = {(int)(h->first[rank + 1] - h->first[rank]), {mat_cols(bounds, rank, 1), 0}};
    for (int64_t g = 0; g <= b->graphs; g++) {
        at[g * h->ranks + rank] = nodes_before(h, g, h->first[rank], h->first[rank + 1]);
        if (g > 0)
            block.keys.pairs +=
                (b->offset[g] - b->offset[g - 1]) * (at[g * h->ranks + rank] - at[(g - 1) * h->ranks + rank]);
    }
    return block;
}

void ring_blocks(struct tape *t, struct structure *s, const struct batch *b)
{
    const struct halo *h = &b->halo;
    int64_t *at = arena_alloc(t->metadata, (size_t)((b->graphs + 1) * h->ranks) * sizeof *at);
    struct key_block *block = arena_alloc(t->metadata, (size_t)h->ranks * sizeof *block);
    struct mat bounds = input_copy(t, "ranks.keys", I64, b->graphs + 1, h->ranks, at);
    for (int p = 0; p < h->ranks; p++)
        block[p] = block_of(b, at, bounds, p);
    s->division.block = block;
    s->graphs.pairs = 0;
    for (int64_t g = 0; g < b->graphs; g++) {
        int64_t own = b->offset[g + 1] - b->offset[g];
        s->graphs.pairs += own * own;
    }
}

/* The block in hand is sent on, and the one that `next` has comes. */
static const struct ring_start_args *send_block(struct tape *t, struct mat hand, const struct key_block *own,
                                                const struct key_block *next)
{
    struct mat y = tape_matrix(t, next->nodes > 0 ? next->nodes : 1, hand.cols);
    return op(t, ring_start, .y = y, .x = hand, .gets = next->nodes, .sends = own->nodes);
}

struct mat ring_attention(struct tape *t, struct mat qkv, const struct structure *s, int heads)
{
    const struct division *d = &s->division;
    int64_t width = qkv.cols / 3;
    /* Rows that are sent are contiguous; with copies of all three qkv need not wait for the backward pass. */
    struct mat q = op(t, clone, .x = mat_cols(qkv, 0, width))->y;
    struct mat hand = op(t, clone, .x = mat_cols(qkv, width, 2 * width))->y;
    struct mat y = {0}, lse = tape_storage(t, MEMORY_ACTIVATIONS, F64, q.rows, heads, NULL);
    span_enter(t, "ring");
    for (int step = 0; step < d->ranks; step++) {
        const struct key_block *own = &d->block[(d->rank - step + d->ranks) % d->ranks];
        const struct key_block *next = &d->block[(d->rank - step - 1 + 2 * d->ranks) % d->ranks];
        const struct ring_start_args *sent = step + 1 < d->ranks ? send_block(t, hand, own, next) : NULL;
        struct mat k = mat_cols(hand, 0, width), v = mat_cols(hand, width, width);
        if (step == 0)
            y = op(t, attention, .lse = lse, .q = q, .k = k, .v = v, .graphs = s->graphs, .heads = heads)->y;
        else
            op(t, attention, .y = y, .lse = lse, .q = q, .k = k, .v = v, .from = y, .from_lse = lse,
               .graphs = {s->graphs.at, own->keys.pairs}, .keys = own->keys, .heads = heads);
        if (sent) {
            op(t, ring_wait, .y = sent->y, .x = hand, .request = sent->request);
            hand = sent->y;
        }
    }
    span_leave(t);
    return y;
}
