/*
 * Attention among nodes that ranks divide: each rank keeps its queries, and blocks of keys and values, those
 * of one rank each, go around. While a rank folds the block in hand into its result, it sends it on and
 * receives the next one, so that it has two.
 *
 * In the backward pass they go around again, and the gradients of a block go with it, from rank to rank, each
 * of which adds its part, until they are home. A block's gradients follow one step behind its values: while a
 * rank computes its part of them, those of the ranks before come, and are then added. So a rank has two
 * blocks of values and three of gradients. When it runs, y and lse are those of all keys, with which the
 * gradients of all blocks are alike (kernels/ref/attention.c).
 */
#include "models/parallel/parallel.h"
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

int64_t ring_inputs(struct tape *t, struct peers *p, const struct batch *b)
{
    const struct halo *h = &b->halo;
    int64_t *at = arena_alloc(t->metadata, (size_t)((b->graphs + 1) * h->ranks) * sizeof *at), pairs = 0;
    struct key_block *block = arena_alloc(t->metadata, (size_t)h->ranks * sizeof *block);
    struct mat bounds = input_copy(t, "ranks.keys", I64, b->graphs + 1, h->ranks, at);
    for (int r = 0; r < h->ranks; r++)
        block[r] = block_of(b, at, bounds, r);
    p->block = block;
    for (int64_t g = 0; g < b->graphs; g++) {
        int64_t own = b->offset[g + 1] - b->offset[g];
        pairs += own * own;
    }
    return pairs;
}

/* Begins to send rows of x to the next rank, and to receive others. */
static const struct ring_start_args *send_on(struct tape *t, struct mat x, int sends, int64_t rows, int gets)
{
    return op(t, ring_start, .y = tape_matrix(t, rows, x.cols), .x = x, .gets = gets, .sends = sends);
}

static struct mat arrived(struct tape *t, const struct ring_start_args *sent)
{
    op(t, ring_wait, .y = sent->y, .x = sent->x, .request = sent->request);
    return sent->y;
}

/* --- backward */

/* The block that came in a step of the forward pass, and what it was folded into. */
struct step {
    const struct ring_start_args *got;
    const struct attention_args *fold;
};

/* The steps of the attention that is being reversed, in order. */
static int steps_of(const struct tape *t, struct step *step)
{
    const struct entry *e = t->main.entries;
    const struct attention_args *first = e[t->reversing].args;
    int count = 0;
    for (int i = t->reversing + 1; i < t->main.count && e[i].phase == PHASE_FORWARD; i++) {
        const struct attention_args *f = e[i].args;
        if (e[i].op != OP_attention || f->from.storage != first->y.storage)
            continue;
        if (step)
            step[count] = (struct step){e[t->storages[f->k.storage].producer].args, f};
        count++;
    }
    return count;
}

static const struct ring_start_args *send_values(struct tape *t, struct mat hand, struct step next)
{
    return send_on(t, hand, next.got->sends, next.got->y.rows, next.got->gets);
}

/* The gradients of a block by this rank's queries. */
static struct mat block_gradient(struct tape *t, const struct attention_args *a, struct step s,
                                 struct mat hand)
{
    int64_t width = a->k.cols;
    struct mat d = tape_matrix(t, hand.rows, hand.cols);
    op(t, attention_backward, .dq = grad_into(t, a->q), .dk = mat_cols(d, 0, width),
       .dv = mat_cols(d, width, width), .dy = grad_from(t, a->y), .y = a->y, .q = a->q,
       .k = mat_cols(hand, 0, width), .v = mat_cols(hand, width, width), .lse = a->lse,
       .graphs = s.fold->graphs, .keys = s.fold->keys, .heads = a->heads);
    return d;
}

static struct mat sum_of(struct tape *t, struct mat a, struct mat b)
{
    struct mat y = a;
    y.acc = true;
    op(t, copy, .y = y, .x = b);
    return a;
}

static void ring_rule(struct tape *t, const void *args)
{
    const struct attention_args *a = args;
    int count = steps_of(t, NULL);
    struct step *step = arena_alloc(t->metadata, (size_t)count * sizeof *step);
    const struct ring_start_args *values, *gradients = NULL;
    struct mat kv = mat_cols(a->k, 0, 2 * a->k.cols); /* v is beside k */
    steps_of(t, step);
    values = send_values(t, kv, step[0]);
    rule_by_names(t, OP_attention, a);
    for (int s = 0; s < count; s++) {
        struct mat hand = arrived(t, values);
        if (s + 1 < count)
            values = send_values(t, hand, step[s + 1]);
        struct mat d = block_gradient(t, a, step[s], hand);
        if (gradients)
            d = sum_of(t, arrived(t, gradients), d);
        const struct ring_start_args *next = s + 1 < count ? step[s + 1].got : NULL;
        gradients = send_on(t, d, step[s].got->gets, next ? next->y.rows : kv.rows,
                            next ? next->gets : step[0].got->sends);
    }
    op(t, copy, .y = grad_into(t, kv), .x = arrived(t, gradients));
}

/* --- forward */

struct mat ring_attention(struct tape *t, struct mat qkv, const struct peers *p, const struct offsets *graphs,
                          int heads)
{
    int64_t width = qkv.cols / 3;
    /* Rows that are sent are contiguous; with copies of all three qkv need not wait for the backward pass. */
    struct mat q = op(t, clone, .x = mat_cols(qkv, 0, width))->y;
    struct mat hand = op(t, clone, .x = mat_cols(qkv, width, 2 * width))->y;
    struct mat y = {0}, lse = tape_storage(t, MEMORY_ACTIVATIONS, F64, q.rows, heads, NULL);
    span_enter(t, "ring");
    for (int step = 0; step < p->ranks; step++) {
        const struct key_block *own = &p->block[(p->rank - step + p->ranks) % p->ranks];
        const struct key_block *next = &p->block[(p->rank - step - 1 + 2 * p->ranks) % p->ranks];
        bool last = step + 1 == p->ranks;
        const struct ring_start_args *sent =
            last ? NULL : send_on(t, hand, own->nodes, next->nodes > 0 ? next->nodes : 1, next->nodes);
        struct mat k = mat_cols(hand, 0, width), v = mat_cols(hand, width, width);
        if (step > 0)
            op(t, attention, .y = y, .lse = lse, .q = q, .k = k, .v = v, .from = y, .from_lse = lse,
               .graphs = {graphs->at, own->keys.pairs}, .keys = own->keys, .heads = heads);
        else
            y = op(t, attention, .lse = lse, .q = q, .k = k, .v = v, .graphs = *graphs, .heads = heads)->y;
        if (step == 0 && !last)
            tape_rule(t, ring_rule);
        if (sent)
            hand = arrived(t, sent);
    }
    span_leave(t);
    return y;
}
