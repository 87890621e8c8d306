/*
 * An encoding is computed once per graph, so there is no warm-up: the first run counts, as it does for a
 * user. time.slow_start shows whether it was slower than the others.
 */
#include "bench/row/encode.h"

#include "bench/base/clock.h"
#include "bench/base/interrupt.h"
#include "bench/time/lost.h"
#include "models/encodings/compute.h"

/* Computes the encoding once more and keeps this one. False if it failed, with a message, or was cancelled.
 */
static bool compute(struct encoded *e, struct samples *turn, const struct config *c, const struct batch *b,
                    const struct sampling *rule)
{
    struct encoding next;
    struct encoding_options with = {.threads = c->threads, .cancel = {sampling_cancelled, rule}};
    double start = clock_now();
    if (!encoding_compute(&c->parts.pe, b, &with, &next, e->error.text, sizeof e->error.text)) {
        e->cancelled = next.cancelled;
        return false;
    }
    turn->seconds[turn->n++] = clock_now() - start;
    encoding_free(&e->encoding);
    e->encoding = next;
    e->computed = true;
    return true;
}

/* Computes until the block is complete or it is cancelled. False if it failed, with a message. */
static bool compute_block(struct encoded *e, struct samples *turn, const struct config *c,
                          const struct batch *b, const struct sampling *rule)
{
    struct probe before = sampling_probe(rule);
    struct usage used = usage_now();
    struct lost first = lost_now("");
    double start = clock_now();
    bool more = true;
    while (more && compute(e, turn, c, b, rule))
        more = !block_complete(turn->n, rule, clock_now() - start);
    turn->used = usage_since(&used);
    turn->elapsed = turn->spent = clock_now() - start;
    struct lost last = lost_now("");
    struct probe after = sampling_probe(rule);
    samples_close_turn(turn, &before, &after, lost_share(&first, &last, turn->elapsed));
    return !more || e->cancelled;
}

/*
 * A single-vector Lanczos method can miss copies of a multiple eigenvalue. The block method of the iterative
 * solver does not, so its eigenvalues are compared. Not timed.
 */
static void compare_eigenvalues(struct encoded *e, const struct config *c, const struct batch *b,
                                const struct sampling *rule)
{
    struct encoding other;
    struct encoding_config pe = c->parts.pe;
    struct encoding_options with = {.threads = c->threads, .cancel = {sampling_cancelled, rule}};
    e->missed = -1;
    if (pe.solver != SOLVER_ARPACK || !mat_present(e->encoding.eigenvalues)) /* others miss none */
        return;
    pe.solver = SOLVER_ITERATIVE;
    if (!encoding_compute(&pe, b, &with, &other, e->not_compared.text, sizeof e->not_compared.text))
        return;
    e->missed = encoding_missed(&e->encoding, &other);
    encoding_free(&other);
}

bool encode(struct encoded *e, const struct config *c, const struct batch *b, const struct sampling *rule)
{
    if (c->parts.pe.kind == ENCODING_NONE)
        return true;
    bool first = !e->computed;
    int needed = rule->runs > 0 ? rule->runs : 1;
    struct samples turn = {0};
    samples_allocate(&turn, (size_t)(rule->runs > 0 ? rule->runs : rule->most));
    bool done = compute_block(e, &turn, c, b, rule) && turn.n >= needed;
    if (!done && e->cancelled)
        complain(&e->error, "encoding: only %d of %d samples within --timeout", turn.n, needed);
    if (interrupt_signal() && turn.n < rule->runs) /* --resume takes the whole turn again */
        samples_free(&turn);
    else
        samples_join(&e->samples, &turn);
    if (done && first)
        compare_eigenvalues(e, c, b, rule);
    if (!done && first)
        encoded_free(e);
    return done;
}

void encode_count(struct encoded *e, const struct config *c, const struct batch *b,
                  struct executed_request how)
{
    how.backend = backend_cpu();
    if (how.mode != COUNT_OFF)
        e->counted =
            executed_by_encoding(&how, &c->parts.pe, b, e->encoding.cost.flops, &e->executed, &e->uncounted);
}

void encoded_free(struct encoded *e)
{
    samples_free(&e->samples);
    encoding_free(&e->encoding);
    e->computed = false;
}
