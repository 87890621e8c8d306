/*
 * Sampling: how long one program of a tape takes.
 *
 * Warm-up, then samples until there are min_samples and the half-width of the median's 95 % interval is at
 * most max_noise of the median, or the share of the budget is spent and there are 3. A fixed number of runs
 * overrides. Samples that a throttled GPU spoils are discarded and taken again. At the deadline, and after a
 * signal (bench/base/interrupt.h), no run begins any more, and on the host the one that runs ends between two
 * ops and is no sample: then there may be fewer samples, or none.
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
    double deadline;         /* of the clock: no run begins later; 0: none */
    const struct nvml *nvml; /* looks at the GPU between samples; null: no one does */
    double look;             /* seconds from one look to the next, at least */
    struct mat watch;        /* 1 x 1: its value after the very first run is kept; may be absent */
    void (*progress)(void *context, int samples, double seconds); /* after each sample; may be null */
    void *context;
};

enum { SAMPLES_MAX = 1000, SAMPLES_MIN = 3 };

struct samples {
    int n, warmup;
    double *seconds;       /* n */
    double *phase[PHASES]; /* n each: the part of a sample spent in the phase; NAN in a graph */
    double *clock;     /* n, of a GPU that was looked at: Hz, when the sample was found good; NAN: not told */
    struct seen seen;  /* of that GPU */
    struct usage used; /* while the samples were taken, all of them and those discarded together */
    double elapsed;    /* seconds in which that was */
    double first;      /* what was watched */
};

/* Whether no run may be begun any more, nor one on the host go on, by a signal or the rule's deadline: what a
 * struct cancel asks whose context is a struct sampling. */
bool sampling_cancelled(const void *rule);

/* Runs a tape that is laid out and initialised. */
struct samples sample_tape(struct tape *t, const struct sampling *s);

/* Whether the rule asks for no more; elapsed: seconds since sampling began. */
bool sampling_enough(const struct samples *s, const struct sampling *rule, double elapsed);

/* Room for samples. It is a small thing: without it the program ends. */
void samples_allocate(struct samples *s, size_t capacity);
void samples_free(struct samples *s);

/* Appends what a later turn found, and takes it over; `into` may be empty. */
void samples_join(struct samples *into, struct samples *turn);

#endif
