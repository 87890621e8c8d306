/* An encoding is computed once per graph, so there is no warm-up: the first run counts, as it does for a
 * user. time.slow_start shows whether it was slower than the others. */
#include "bench/row/encode.h"

#include <stdio.h>
#include <string.h>

#include "bench/base/clock.h"
#include "bench/base/interrupt.h"
#include "bench/time/noise.h"
#include "models/encodings/compute.h"

/* Computes the encoding again and keeps this one. False if it failed, with a message, or was cancelled. */
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

/* A single-vector Lanczos method can miss copies of a multiple eigenvalue. The block method of the iterative
 * solver does not, so its eigenvalues are compared. Not timed. */
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
    if (!encoding_any(&c->parts.pe))
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

/* Of the search for missed pairs, for each thread. It streams a block of vectors through memory. */
static const double search_flops_per_second = 5e8;

bool encode_check_is_proven(const char *family)
{
    struct graph_name n;
    char error[1], plain[GRAPH_NAME_TEXT];
    if (!graph_name_read(family, &n, error, sizeof error) || !n.family)
        return false;
    n.giant = false;
    graph_name_text(&n, plain);
    return n.shape || strcmp(plain, n.family->name) == 0;
}

/* What the row says of eigenpairs. */
static void describe_pairs(struct encoded *e, const char *family)
{
    const char *unchecked =
        *e->check.unchecked ? e->check.unchecked
        : encode_check_is_proven(family)
            ? ""
            : "no smaller pair was found, but on such graphs it is not known how often the "
              "search finds one";
    if (*e->check.wrong)
        complain(&e->checked, "residuals in double; incomplete");
    else if (*unchecked)
        complain(&e->checked, "residuals in double; completeness unchecked: %s", unchecked);
    else
        complain(&e->checked, "residuals in double; complete: %s", e->check.how);
}

void encode_check(struct encoded *e, const struct config *c, const struct batch *b,
                  const struct check_options *o, struct cancel cancel)
{
    if (e->is_checked || e->encoding.excess > 1)
        return;
    struct encoding_check_options with = {.seed = c->graph.seed,
                                          .threads = c->threads,
                                          .cancel = cancel,
                                          .flops = o->budget * search_flops_per_second * c->threads};
    e->is_checked = true;
    if (o->wanted)
        e->check = encoding_check(&c->parts.pe, b, &e->encoding, &with);
    else
        snprintf(e->check.unchecked, sizeof e->check.unchecked, "--no-check");
    if (encoding_is_spectral(&c->parts.pe))
        describe_pairs(e, c->graph.family);
    else
        complain(&e->checked, "%s", e->check.how);
}

static void write_eigenpairs(struct row *row, const struct encoded *encoded)
{
    const struct encoding *e = &encoded->encoding;
    row->encoding.nullity = e->nullity;
    row->encoding.iterated = e->iterated;
    row->encoding.iterations = e->iterations;
    row_put_real(row, &row->encoding.residual, e->residual);
    row_put_real(row, &row->encoding.excess, e->excess);
    row_put_reason(row, &row->encoding.displaced,
                   *encoded->not_compared.text ? encoded->not_compared.text : NULL);
    if (encoded->missed >= 0)
        row->encoding.displaced = encoded->missed;
}

void encode_write(struct row *row, const struct encoded *encoded, const struct encoding_config *c,
                  bool uploaded)
{
    const struct encoding *e = &encoded->encoding;
    bool nothing = e->iterated == 0 && e->nullity > 0;
    row->encoding.where = row_keep(row, uploaded ? "host, then uploaded" : "host");
    row->encoding.method = row_keep(row, nothing ? "null space only, no solver ran" : e->method);
    row->encoding.peak = e->peak;
    if (c->expander)
        row->encoding.poor = e->poor;
    row_put_count(row, &row->encoding.flops, e->cost.flops);
    row_put_count(row, &row->encoding.bytes, e->cost.bytes);
    row->encoding.flops_label = row_keep(row, e->flops_label);
    row_put_reason(row, &row->encoding.checked,
                   *encoded->checked.text      ? NULL
                   : *encoded->check.unchecked ? encoded->check.unchecked
                                               : "not converged");
    row->encoding.checked = row_keep(row, encoded->checked.text);
    if (!encoding_without_pairs(c))
        write_eigenpairs(row, encoded);
}

void encode_count(struct row *row, const struct encoded *encoded, const struct config *c,
                  const struct batch *b, struct executed_request how)
{
    int64_t flops = encoded->encoding.cost.flops;
    struct executed e;
    struct message reason;
    how.backend = backend_cpu();
    if (how.mode == COUNT_OFF)
        return;
    if (!executed_by_encoding(&how, &c->parts.pe, b, flops, &e, &reason)) {
        row_put_reason(row, &row->encoding.executed, reason.text);
        return;
    }
    row->encoding.executed = e.flops;
    row->encoding.executed_source = row_keep(row, e.source);
    row->encoding.executed_isa = row_keep(row, e.isa);
    row->encoding.executed_threads = e.threads;
    row->encoding.executed_differences = row_keep(row, e.differences);
}

void encoded_free(struct encoded *e)
{
    samples_free(&e->samples);
    encoding_free(&e->encoding);
    e->computed = false;
}
