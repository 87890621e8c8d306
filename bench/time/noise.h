/* Noise: what else the machine did meanwhile. A probe before, usage around, and warnings with a remedy. */
#ifndef GTMARK_BENCH_NOISE_H
#define GTMARK_BENCH_NOISE_H

#include <stdint.h>
#include <stdio.h>

#include "analysis/statistics/robust.h"
#include "bench/base/warnings.h"

/* The state of the machine. What cannot be read is NAN, -1 or an empty text. */
struct noise {
    int cores, threads;  /* processors online; threads that will measure */
    double load;         /* load average of the last minute, of all programs including this one */
    int runnable;        /* threads of other programs that are ready to run */
    double lost;         /* share of time in which the spinning threads did not run, mean over threads */
    double largest_gap;  /* seconds */
    int64_t preemptions; /* involuntary context switches of the spinning threads, together */
    double frequency, frequency_max; /* Hz: of a core right after it was busy, and its maximum */
    char governor[32];
};

/* Shorter gaps are due to the clock, the timer tick and other interrupts. */
#define NOISE_GAP 10e-6 /* seconds */

/* Reads the load for half of `seconds`, then the clock for `seconds` on each thread: a gap of more than
 * NOISE_GAP between two readings is lost time. Call it while no other thread of this program is running. */
struct noise noise_probe(int threads, double seconds);

/* The parts that are read from files; `root` is put before /proc and /sys, normally "". */
void noise_read_load(const char *root, struct noise *n);
void noise_read_frequency(const char *root, int cpu, struct noise *n);

/* How many times as long the threads may take beside other programs with an equal part of the cores. */
double noise_slowdown(const struct noise *n);

/* Resource usage of the process so far, all threads: counts, and seconds of CPU time. */
struct usage {
    int64_t minor_faults, major_faults; /* pages mapped without and with reading from disk */
    int64_t voluntary, involuntary;     /* context switches: waiting, and preempted */
    double cpu;
};
struct usage usage_now(void);
struct usage usage_since(const struct usage *start);
struct usage usage_sum(const struct usage *a, const struct usage *b);

/* Writes warnings about the machine, one line each with a remedy, and returns how many. */
int noise_warn(const struct noise *n, FILE *out);

/* Add warnings about the samples of a program, and return how many; `runs` runs in `seconds` used `u`. */
int noise_warn_usage(const struct subject *s, const struct usage *u, int64_t runs, double seconds);
int noise_warn_samples(const struct subject *s, const struct drift *d, const struct slow_start *slow);
struct seen; /* of a GPU: bench/time/watch.h */
int noise_warn_throttle(const struct subject *s, const struct seen *seen);

/* --- time in which threads are ready to run and do not: others have the processor, here or in other guests
 */

/* So far, in seconds; NAN: the kernel does not say. */
struct lost {
    double waited;       /* of this process, of all its threads together */
    double stolen, busy; /* of all processors of the machine: by other guests, and not idle */
};

/* `root` is put before /proc, normally "". */
struct lost lost_now(const char *root);

/*
 * The most that may have been lost of the seconds between two looks, as a share, at most 1; NAN: not known.
 * Threads wait for one another, so the waits of all of them are added: while one waits at a time, nothing
 * else goes on, and only what two wait at once is added twice. Of what the host took, its share of the time
 * in which processors were wanted.
 */
double lost_share(const struct lost *start, const struct lost *end, double seconds);

#endif
