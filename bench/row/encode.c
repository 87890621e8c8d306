/*
 * An encoding is computed once per graph, so there is no warm-up: the first run counts, as it does for a
 * user. time.slow_start shows whether it was slower than the others.
 */
#include "bench/row/encode.h"

#include "bench/base/clock.h"
#include "models/encodings/compute.h"

/* Computes the encoding once more and keeps this one. False if it failed, with a message, or was cancelled.
 */
static bool compute(struct encoded *e, const struct config *c, const struct batch *b,
                    const struct sampling *rule)
{
    struct encoding next;
    struct encoding_options with = {.threads = c->threads, .cancel = {sampling_cancelled, rule}};
    double start = clock_now();
    if (!encoding_compute(&c->parts.pe, b, &with, &next, e->error.text, sizeof e->error.text)) {
        e->cancelled = next.cancelled;
        return false;
    }
    e->samples.seconds[e->samples.n++] = clock_now() - start;
    encoding_free(&e->encoding);
    e->encoding = next;
    return true;
}

/* Computes until there are enough samples or it is cancelled. False if it failed, with a message. */
static bool sample(struct encoded *e, const struct config *c, const struct batch *b,
                   const struct sampling *rule)
{
    struct usage before = usage_now();
    double start = clock_now(), elapsed = 0;
    bool more = true;
    while (more && compute(e, c, b, rule)) {
        elapsed = clock_now() - start;
        more = !sampling_enough(&e->samples, rule, elapsed) && (rule->runs > 0 || elapsed < 3 * rule->budget);
    }
    e->samples.used = usage_since(&before);
    e->samples.elapsed = elapsed;
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
    if (pe.solver != SOLVER_ARPACK || !mat_present(e->encoding.eigenvalues)) {
        complain(&e->not_compared, "only ARPACK can miss eigenvalues");
        return;
    }
    pe.solver = SOLVER_ITERATIVE;
    if (!encoding_compute(&pe, b, &with, &other, e->not_compared.text, sizeof e->not_compared.text))
        return;
    e->missed = encoding_missed(&e->encoding, &other);
    encoding_free(&other);
}

bool encode(struct encoded *e, const struct options *o, const struct config *c, const struct batch *b,
            double seconds, double deadline)
{
    if (c->parts.pe.kind == ENCODING_NONE)
        return true;
    if (e->tried)
        return e->samples.n > 0;
    struct sampling rule = {.runs = o->sampling.runs,
                            .min_samples = o->sampling.min_samples,
                            .max_noise = o->sampling.max_noise,
                            .budget = seconds,
                            .deadline = deadline};
    samples_allocate(&e->samples, (size_t)(rule.runs > 0 ? rule.runs : SAMPLES_MAX));
    int needed = rule.runs > 0 ? rule.runs : 1;
    bool done = sample(e, c, b, &rule) && e->samples.n >= needed;
    if (!done && e->cancelled)
        complain(&e->error, "encoding: only %d of %d samples within --timeout, %g s", e->samples.n, needed,
                 o->sampling.timeout);
    if (done)
        compare_eigenvalues(e, c, b, &rule);
    else
        encoded_free(e);
    e->tried = true;
    return done;
}

void encoded_free(struct encoded *e)
{
    samples_free(&e->samples);
    encoding_free(&e->encoding);
    e->tried = false;
}
