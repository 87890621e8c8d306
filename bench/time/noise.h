/*
 * Noise: what else the machine did while we measured. A probe before, resource usage around a region, and
 * warnings that name their remedy.
 */
#ifndef GTMARK_BENCH_NOISE_H
#define GTMARK_BENCH_NOISE_H

#include <stdint.h>
#include <stdio.h>

#include "analysis/statistics/robust.h"

/* The machine at a moment. What cannot be read is NAN, -1 or an empty text. */
struct noise {
    int cores, threads;  /* processors online; threads that will measure */
    double load;         /* load average of the last minute, all programs; ours too */
    int runnable;        /* threads of other programs ready to run now */
    double lost;         /* share of a spinning thread's time that it did not get, in the mean over threads */
    double largest_gap;  /* seconds */
    int64_t preemptions; /* involuntary context switches of the spinning threads, together */
    double frequency, frequency_max; /* Hz: of a core right after it was busy, and what its governor allows */
    char governor[32];
};

/* Gaps shorter than this are the clock, the timer's tick and other interrupts. */
#define NOISE_GAP 10e-6 /* seconds */

/*
 * Looks at the machine for half of `seconds`, then spins on the clock for `seconds` on each thread: a gap of
 * more than NOISE_GAP between two readings is time that the thread did not have. Call it while our own
 * threads sleep.
 */
struct noise noise_probe(int threads, double seconds);

/* The part that is read from files; `root` stands before /proc and /sys, normally "". */
void noise_read_load(const char *root, struct noise *n);
void noise_read_frequency(const char *root, int cpu, struct noise *n);

/* What the process has used so far, all threads: counts, and seconds of CPU time. */
struct usage {
    int64_t minor_faults, major_faults; /* pages mapped without and with reading them from a disk */
    int64_t voluntary, involuntary;     /* context switches: waiting, and taken off the processor */
    double cpu;
};
struct usage usage_now(void);
struct usage usage_since(const struct usage *start);
struct usage usage_sum(const struct usage *a, const struct usage *b);

/*
 * Warnings, one line each, with the remedy in the line; they return how many. All but the first are about the
 * samples of a program; `runs` runs in `seconds` used `u`.
 */
int noise_warn(const struct noise *n, FILE *out);
int noise_warn_usage(const struct usage *u, int64_t runs, double seconds, const char *program, FILE *out);
int noise_warn_samples(const struct drift *d, const struct slow_start *s, const char *program, FILE *out);
struct seen; /* of a GPU: bench/time/watch.h */
int noise_warn_throttle(const struct seen *s, const char *program, FILE *out);

#endif
