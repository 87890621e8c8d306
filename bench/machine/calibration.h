/* A calibration: the best rates of this machine in one of its states, and the conditions of these. */
#ifndef GTMARK_BENCH_CALIBRATION_H
#define GTMARK_BENCH_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/record/record.h"
#include "analysis/record/value.h"
#include "analysis/statistics/states.h"
#include "bench/base/message.h"
#include "bench/machine/device.h"
#include "kernels/peak.h"

/* --- levels of the memory hierarchy, found in the bandwidths of working sets of increasing size */

/* From the processor outwards. */
enum memory_level { MEMORY_L2, MEMORY_LLC, MEMORY_DRAM, MEMORY_LEVELS };

/* "L2", "LLC" (the last-level cache), "DRAM". */
const char *memory_level_name(enum memory_level level);

/* Bytes are those that the loop accesses: reading a cache line because it will be written is not counted. */
struct bandwidth {
    int64_t capacity;                  /* of a level: bytes that it and those within it hold for all threads;
                                          0: no such level, and no rates */
    int64_t working_set;               /* bytes that the measurement went over */
    double read, write, update, triad; /* GB/s of all threads */
};

enum { SWEEP_MOST = 24 };

/* The highest of the rates: reading and writing together. */
double bandwidth_highest(const struct bandwidth *b);

void bandwidth_raise(struct bandwidth *b, const struct bandwidth *other);

/*
 * The levels in sweep[n], 0 < n <= SWEEP_MOST, whose working sets increase. l2: the size of the second level
 * according to the system, 0 if unknown: it only names a single level of cache. memory: the capacity of DRAM.
 */
void levels_find(struct bandwidth level[MEMORY_LEVELS], const struct bandwidth *sweep, int n, int64_t l2,
                 int64_t memory);

/* Bytes that a program moves, over a working set of distinct ones. updated: the written that are also read.
 */
struct traffic {
    double read, written, updated, working_set;
};

/* Seconds for the traffic at the rates of sweep[n], n > 0, between two working sets in proportion. */
double sweep_seconds(const struct bandwidth *sweep, int n, const struct traffic *t);

/* The least seconds for the traffic, and the level that limits it. The levels within a level serve at most
 * the share of the bytes that they hold of the working set; the rest comes from this level or beyond. */
double levels_seconds(const struct bandwidth level[MEMORY_LEVELS], const struct traffic *t,
                      enum memory_level *limit);

enum {
    BURST = 3,                     /* probes in a row */
    CALIBRATION_TURNS = 5 * BURST, /* of a calibration, at most */
    CALIBRATION_STATES = 4,        /* calibrations kept for the same conditions, at most */
};

struct calibration {
    char cpu[256], isa[16]; /* valid if these five agree */
    int threads;
    int64_t memory;      /* bytes of the machine */
    int64_t clock;       /* Hz, the most that the system allows (cpufreq); 0: it does not say */
    double load;         /* load average when it was measured */
    char time[UTC_TEXT]; /* when it was measured: UTC, ISO 8601 */
    double peak; /* GFLOP/s of all threads: multiply-adds in float, fused if the instruction set has them */
    double tf32, bf16; /* of products in these, where units of their own multiply them; 0: at the peak */
    struct bandwidth sweep[SWEEP_MOST]; /* by working set, without capacities */
    int points;
    struct bandwidth level[MEMORY_LEVELS];
    struct turn turn[CALIBRATION_TURNS]; /* the probes around it, without samples */
    int turns;
    double exceeded; /* %: the most that a program reached; 0: none was faster */
    bool replaced;   /* by a later one of this run: only rows that were printed before refer to it */
};

/* Name and generation of the first processor granted, since virtual machines omit the generation from the
 * name: "family 26, model 2, AMD EPYC, stepping 1". On ARM there are only implementer and part. If the
 * machine has several kinds (kinds.h), also of which those granted are. Returns its number. */
int calibration_cpu(char *text, size_t size);

/* The present conditions, without rates. */
struct calibration calibration_conditions(const struct peak *peak, int threads);

struct value *calibration_json(const struct calibration *c);

/* "62.1 GFLOP/s, DRAM 21.0 GB/s; AMD EPYC, 2 threads, calibrated 2026-11-22T12:00:00Z", or rates alone. */
void calibration_text(const struct calibration *c, char *text, size_t size);

/* False if the JSON is not a calibration. */
bool calibration_read(const struct value *json, struct calibration *c);

struct probe calibration_state(const struct calibration *c);

/* Raises the rates to those of an earlier calibration of the same state, if it has the same working sets. */
void calibration_merge(struct calibration *c, const struct calibration *earlier);

/* Reads the calibrations for these conditions from the file; returns how many there are. */
int calibration_load(const char *path, const struct calibration *conditions,
                     struct calibration list[CALIBRATION_STATES]);

/* Writes list[count], of the same conditions, in the place of those in the file. False with a message. */
bool calibration_save(const char *path, const struct calibration *list, int count, struct message *error);

/* Seconds for a calibration, without the allocation of its memory. */
#define CALIBRATION_SECONDS 3.0

/*
 * Measures the peak of arithmetic and the bandwidths of working sets. Each rate is that of the best of
 * several repetitions (at least five, within its share of `seconds`), by the wall time from the first
 * thread's start to the last thread's end. If the machine's state changes, it takes up to twice as
 * long. False with a message without memory, or if the machine was in no state long enough.
 */
bool calibrate(const struct peak *peak, int threads, double seconds, struct calibration *c,
               struct message *error);

/* --- the peak rates of a GPU */

/* Measures an open GPU, in about a second: `cpu` is its card, `isa` is cuda, and there are no probes. False
 * with a message, without memory or after a fault, from which the device has recovered. */
bool calibrate_device(const struct device_choice *d, int threads, struct calibration *c,
                      struct message *error);

/* Gives an open GPU what kernels chose by timing in earlier runs (P.choices), or keeps what is new in this
 * one, in the file; a note on stderr if it can't. */
void calibration_choices(const struct device_choice *d, bool keep);

#endif
