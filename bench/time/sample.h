/*
 * Sampling: the time of one program, in turns.
 *
 * A turn warms up, probes the machine, takes a block of samples, and probes it again. The block ends after
 * `runs` samples, or when it has `most` or its share of the budget is spent. Samples that a throttled GPU
 * spoils are discarded and taken again. At the deadline, and after a signal (bench/base/interrupt.h), no new
 * run begins, and on the host the current run stops between two ops and is not a sample: then there may be
 * fewer samples, or none.
 */
#ifndef GTMARK_BENCH_SAMPLE_H
#define GTMARK_BENCH_SAMPLE_H

#include "analysis/record/row_struct.h"
#include "bench/machine/probe.h"
#include "bench/time/noise.h"
#include "bench/time/watch.h"
#include "models/tape/tape.h"

enum { SAMPLE_TICKS = 1000 };

struct sampling {
    int warmup; /* runs; -1: for warm_seconds, at least one */
    double warm_seconds;
    int runs, most;          /* samples: exactly; or 0, and at most */
    int batch;               /* runs of a sample, on the host; 0: as many as take SAMPLE_TICKS of the clock */
    double budget;           /* seconds for the samples */
    double deadline;         /* by the clock: no run begins later; 0: none */
    bool probed;             /* whether the machine is probed, with `threads` threads */
    const struct peak *peak; /* multiply-adds of the probe; null: without */
    int threads;
    const struct nvml *nvml; /* to watch the GPU between samples; null: not watched */
    double look;             /* least seconds between two looks at the GPU */
    struct mat watch;        /* the loss: its value after the first run is kept; may be absent */
    void (*progress)(void *context, int samples, double seconds); /* after each sample; may be null */
    void *context;
};

struct samples {
    int n, warmup;
    int batch;             /* runs of each sample, whose mean it is */
    double *seconds;       /* n */
    double *phase[PHASES]; /* n each: seconds of a sample in the phase; NAN in a graph or an older file */
    double *clock;         /* n, of a GPU that is watched: Hz, when the sample was accepted; NAN: unknown */
    int turns;
    struct turn *turn; /* turns, each with at least one sample */
    double *lost;      /* turns: the share of each that others took (lost.h) */
    struct seen seen;  /* on that GPU */
    struct usage used; /* while the samples were taken, including discarded ones */
    double elapsed;    /* seconds in which the samples were taken */
    double spent;      /* the same with warm-up and probes */
    double first;      /* value of `watch` after the first run */
};

/* Whether sampling must stop: for a struct cancel whose context is a struct sampling. */
bool sampling_cancelled(const void *rule);

/* Takes one turn of a tape that is laid out and initialised. */
struct samples sample_tape(struct tape *t, const struct sampling *s);

/* Whether a block of n samples is complete; elapsed: seconds since it began. */
bool block_complete(int n, const struct sampling *rule, double elapsed);

struct probe sampling_probe(const struct sampling *rule);

/* Makes the first s->n samples one turn, of which others took this share; none without samples. */
void samples_close_turn(struct samples *s, const struct probe *before, const struct probe *after,
                        double lost);

/* Runs while they were taken: of discarded samples too, and of those that were too short for the clock. */
int64_t samples_runs(const struct samples *s);

/* The turns of some samples, as statistics take them. */
struct turns samples_turns(const struct samples *s);

enum { EAGER_MIN = 3, EAGER_MAX = 20 };

/*
 * Sets to->eager by runs of which the host launches each entry, beside samples of a graph, and the seconds of
 * each in its phases. For a tape on a device, which has run before. No run begins after `seconds`, except the
 * first few.
 */
void eager_measure(struct tape *t, double seconds, struct row_program *to, double phase[PHASES][EAGER_MAX]);

void samples_allocate(struct samples *s, size_t capacity);
void samples_free(struct samples *s);

/* Appends the samples of a later turn and frees it; both may be empty. */
void samples_join(struct samples *into, struct samples *turn);

#endif
