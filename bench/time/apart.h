/* What is measured of a program apart from its samples, in passes of its own. */
#ifndef GTMARK_BENCH_APART_H
#define GTMARK_BENCH_APART_H

#include "analysis/record/row.h"
#include "analysis/record/row_struct.h"
#include "bench/machine/device.h"
#include "bench/machine/nvml.h"
#include "models/tape/tape.h"

/* --- emptying the caches by writing twice their size: the L2 of a device; on the host L2 and the last */

struct flush {
    const struct device *device; /* null: the host */
    void *context;
    char *buffer;
    int64_t bytes;
    int threads;
};

/* Allocates the buffer; `threads` compute on the host. False with a message without memory or sizes. */
bool flush_open(struct flush *f, const struct device_choice *d, int threads, struct message *error);
void flush_close(struct flush *f);

/* Opens it unless it is already open for this device and these threads; `f` is all zeros at first. It stays
 * open for later rows, because mapping its pages takes longer than writing them. */
bool flush_ready(struct flush *f, const struct device_choice *d, int threads, struct message *error);

/* Returns when the flush is complete, so that the next launch finds an idle device as it does without one. */
void flush_run(const struct flush *f);

/* --- time with emptied caches: the program finds none of its operands where the last run left them */

enum { COLD_MIN = 3, COLD_DEFAULT = 5, COLD_MAX = 1000 };

/*
 * Sets to->cold by runs of a tape that has run before. Before each run the caches are flushed, outside of its
 * time. Takes at most `runs` samples (up to COLD_MAX), but no more than COLD_MIN once they have taken
 * `seconds`.
 */
void cold_measure(struct tape *t, const struct flush *f, int runs, double seconds, struct row_program *to);

/* Launch overhead: the host launches a program entry by entry, or as one graph, and normally finishes long
 * before the device; if it does not, the device waits for the host. */

/* Sets to->launch by replays of a tape on a device, which has run before. */
void launching_measure(struct tape *t, struct row_program *to);

/* --- what a program's exchange with other ranks takes */

/* The most runs of each kind, and the seconds after which no more begin. */
enum { EXCHANGE_RUNS = 10, EXCHANGE_SECONDS = 5 };

/* Sets the measured times and bandwidth of to->communication. For a tape that is laid out, initialised and
 * leads: so many runs of each kind, at most EXCHANGE_RUNS; 0: by time. */
void exchange_measure(struct tape *t, int runs, struct row_program *to);

/* Resident memory, measured in a separate pass: the pages of the arena are released, the high-water mark of
 * resident memory is reset, and the program runs once from its initial state. */

/*
 * Sets to->memory.resident and libraries, on a device only libraries: what is allocated beside the arena
 * (contexts, library handles, other programs). Returns why one is absent. The tape is in its initial state
 * afterwards.
 */
const char *memory_measure(struct tape *t, struct row_program *to);

/* Energy of a program on a GPU, measured in a separate pass after the samples, in which the program runs back
 * to back: between samples the GPU waits, and all samples can be over before its energy counter changes. */

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

/* Why these readings do not give an energy; null: they do. The first and the last tick are each seen up to
 * one reading too late, so there must be 20 ticks, or one at every reading. */
const char *energy_doubt(const struct ticks *t);

/* Whether ticks are missing that can still come in `left` seconds, at their rate if readings are closer. */
bool energy_lacks_ticks(const struct ticks *t, double left);

#endif
