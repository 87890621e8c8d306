/*
 * Energy of a program on a GPU, measured in a separate pass after the samples, in which the program runs back
 * to back: between samples the GPU waits, and all samples can be over before its energy counter changes.
 */
#ifndef GTMARK_BENCH_ENERGY_H
#define GTMARK_BENCH_ENERGY_H

#include "analysis/record/row.h"
#include "bench/machine/nvml.h"
#include "models/tape/tape.h"

/* Longest duration of the pass: 20 ticks of 100 ms and the one they begin with. */
#define ENERGY_SECONDS 2.2

/*
 * Sets the energy and the power of a program in a row, and by nvml_busy at the end how busy the GPU was, or
 * the reasons why they are unknown. Runs a tape that is laid out and initialised, alone on its GPU, until
 * the counter has changed 20 times, but for no more than `seconds` beside a run that is longer, at least
 * twice. The energy is that of one run of `graphs` graphs, for each.
 */
void energy_measure(struct tape *t, const struct nvml *n, double seconds, int64_t graphs, struct row *row,
                    struct row_program *to);

/* How the counter was read: `looks` times after its first tick, `ticks` of which found it changed. */
struct ticks {
    int looks, ticks;
    double seconds; /* from the first tick to the last */
};

/*
 * Why these readings do not give an energy; null: they do. The first and the last tick are each seen up to
 * one reading too late, so there must be 20 ticks, or one at every reading.
 */
const char *energy_doubt(const struct ticks *t);

/* Whether ticks are missing that can still come in `left` seconds: at their rate so far, if readings are
 * closer. */
bool energy_lacks_ticks(const struct ticks *t, double left);

#endif
