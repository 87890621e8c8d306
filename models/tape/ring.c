/*
 * The backward pass of attention over blocks of keys and values that go around the ranks. They go around
 * again, and the gradients of a block go with it, from rank to rank, each of which adds its part, until they
 * are home. A block's gradients follow one step behind its values: while a rank computes its part of them,
 * those of the ranks before come, and are then added. So a rank has two blocks of values and three of
 * gradients.
 *
 * The forward pass records an op attention, and attention+fold for each other block, in place: when this
 * runs, y and lse are those of all keys, with which the gradients of all blocks are alike
 * (kernels/ref/attention.c).
 */
#include "models/tape/tape_internal.h"

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

/* Begins to send rows of x to the next rank, and to receive others. */
static const struct ring_start_args *send_on(struct tape *t, struct mat x, int sends, int64_t rows, int gets)
{
    return op(t, ring_start, .y = tape_matrix(t, rows, x.cols), .x = x, .gets = gets, .sends = sends);
}

static const struct ring_start_args *send_values(struct tape *t, struct mat hand, struct step next)
{
    return send_on(t, hand, next.got->sends, next.got->y.rows, next.got->gets);
}

static struct mat arrived(struct tape *t, const struct ring_start_args *sent)
{
    op(t, ring_wait, .y = sent->y, .x = sent->x, .request = sent->request);
    return sent->y;
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

void ring_backward(struct tape *t, const struct attention_args *a)
{
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

bool ring_continues(const struct tape *t)
{
    return steps_of(t, NULL) > 0;
}
