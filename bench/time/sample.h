/*
 * Sampling: the time of one program.
 *
 * Warm-up, then samples until there are min_samples and the half-width of the median's 95 % interval is at
 * most max_noise of the median, or the share of the budget is spent and there are 3. A fixed number of runs
 * replaces this rule. Samples that a throttled GPU spoils are discarded and taken again. At the deadline, and
 * after a signal (bench/base/interrupt.h), no new run begins, and on the host the current run stops between
 * two ops and is not a sample: then there may be fewer samples, or none.
 */
#ifndef GTMARK_BENCH_SAMPLE_H
#define GTMARK_BENCH_SAMPLE_H

#include <stdint.h>

#include "bench/time/noise.h"
#include "bench/time/watch.h"
#include "models/tape/tape.h"

struct sampling {
    int warmup; /* runs; -1: for a tenth of a second, at least one */
    int runs;   /* samples; 0: by the rule */
    int min_samples;
    double max_noise;        /* of the median */
    double budget;           /* seconds for the samples */
    double deadline;         /* by the clock: no run begins later; 0: none */
    const struct nvml *nvml; /* to watch the GPU between samples; null: not watched */
    double look;             /* least seconds between two looks at the GPU */
    struct mat watch;        /* 1 x 1: its value after the first run is kept; may be absent */
    void (*progress)(void *context, int samples, double seconds); /* after each sample; may be null */
    void *context;
};

enum { SAMPLES_MAX = 1000, SAMPLES_MIN = 3 };

struct samples {
    int n, warmup;
    double *seconds;       /* n */
    double *phase[PHASES]; /* n each: seconds of a sample in the phase; NAN in a graph */
    double *clock;         /* n, of a GPU that is watched: Hz, when the sample was accepted; NAN: unknown */
    struct seen seen;      /* on that GPU */
    struct usage used;     /* while the samples were taken, including discarded ones */
    double elapsed;        /* seconds that sampling took */
    double first;          /* value of `watch` after the first run */
};

/* Whether sampling must stop, because of a signal or the deadline. For a struct cancel whose context is a
 * struct sampling. */
bool sampling_cancelled(const void *rule);

/* Runs a tape that is laid out and initialised. */
struct samples sample_tape(struct tape *t, const struct sampling *s);

/* Whether the samples satisfy the rule; elapsed: seconds since sampling began. */
bool sampling_enough(const struct samples *s, const struct sampling *rule, double elapsed);

/* Memory for samples; aborts without it. */
void samples_allocate(struct samples *s, size_t capacity);
void samples_free(struct samples *s);

/* Appends the samples of a later turn and frees it; `into` may be empty. */
void samples_join(struct samples *into, struct samples *turn);

#endif
