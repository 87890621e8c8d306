/*
 * An encoding is a cost paid once, so there is no warm-up: the first run counts as it would for a user, and
 * whether it is slow is told by time.slow_start.
 */
#include "bench/encode.h"

#include "bench/clock.h"

/* One more computation, in place of the last; false with a message. */
static bool compute(struct encoded *e, const struct config *c, const struct batch *b)
{
    struct encoding next;
    double start = clock_now();
    if (!encoding_compute(&c->parts.pe, b, c->threads, &next, e->error.text, sizeof e->error.text))
        return false;
    e->samples.seconds[e->samples.n++] = clock_now() - start;
    encoding_free(&e->encoding);
    e->encoding = next;
    return true;
}

bool encode(struct encoded *e, const struct options *o, const struct config *c, const struct batch *b,
            double seconds)
{
    if (c->parts.pe.kind == ENCODING_NONE)
        return true;
    if (e->tried)
        return e->samples.n > 0;
    struct sampling rule = {
        .runs = o->runs, .min_samples = o->min_samples, .max_noise = o->max_noise, .budget = seconds};
    samples_allocate(&e->samples, (size_t)(rule.runs > 0 ? rule.runs : SAMPLES_MAX));
    e->tried = true;
    struct usage before = usage_now();
    double start = clock_now(), elapsed = 0;
    do {
        if (!compute(e, c, b)) {
            encoded_free(e);
            e->tried = true;
            return false;
        }
        elapsed = clock_now() - start;
    } while (!sampling_enough(&e->samples, &rule, elapsed) && (rule.runs > 0 || elapsed < 3 * seconds));
    e->samples.used = usage_since(&before);
    e->samples.elapsed = elapsed;
    return true;
}

void encoded_free(struct encoded *e)
{
    samples_free(&e->samples);
    encoding_free(&e->encoding);
    e->tried = false;
}
