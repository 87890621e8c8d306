/*
 * A calibration: the best rates that this machine reached and the conditions for which they are valid, as
 * JSON and in a file that is kept between runs.
 */
#ifndef GTMARK_BENCH_CALIBRATION_H
#define GTMARK_BENCH_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/record/value.h"
#include "bench/base/message.h"
#include "kernels/peak.h"

/* Levels of the memory hierarchy, from the processor outwards. */
enum memory_level { MEMORY_L2, MEMORY_LLC, MEMORY_DRAM, MEMORY_LEVELS };

/* "L2", "LLC" (the last-level cache), "DRAM". */
const char *memory_level_name(enum memory_level level);

/* Bytes are those that the loop accesses: reading a cache line because it will be written is not counted. */
struct bandwidth {
    int64_t capacity;          /* bytes of the level for all threads; 0: no such level, and no rates */
    int64_t working_set;       /* bytes that the measurement went over */
    double read, write, triad; /* GB/s of all threads */
};

struct calibration {
    char cpu[256], isa[16]; /* valid if these four agree */
    int threads;
    int64_t memory; /* bytes of the machine */
    double load;    /* load average when it was measured */
    char time[32];  /* when it was measured: UTC, ISO 8601 */
    double peak; /* GFLOP/s of all threads: multiply-adds in float, fused if the instruction set has them */
    struct bandwidth level[MEMORY_LEVELS];
};

/* The present conditions, without rates. */
struct calibration calibration_conditions(const struct peak *peak, int threads);

struct value *calibration_json(const struct calibration *c);

/* False if the JSON is not a calibration. */
bool calibration_read(const struct value *json, struct calibration *c);

/* Reads the calibration for the present conditions from the file; false if there is none. */
bool calibration_kept(const char *path, const struct peak *peak, int threads, struct calibration *c);

/* Arguments of calibration_get. */
struct calibration_request {
    const struct peak *peak;
    int threads;
    const char *path; /* file of calibrations; null: none */
    bool refresh;     /* measure even if the file has a calibration */
    double seconds;   /* for measuring: CALIBRATION_SECONDS */
};

/*
 * The calibration of this machine: from the file, or a new one, which is written to the file; calibrations of
 * other machines stay there. False with a message if it could not be measured; true with a message if only
 * the file could not be written (otherwise the message is empty).
 */
bool calibration_get(const struct calibration_request *r, struct calibration *c, struct message *message);

/* Seconds for a calibration, without the allocation of its memory. */
#define CALIBRATION_SECONDS 2.0

/*
 * Measures the peak of arithmetic and, at a working set well inside each level of the memory hierarchy, the
 * bandwidths. Each rate is that of the best of several repetitions (at least five, within its share of
 * `seconds`), by the wall time from the first thread's start to the last thread's end. False with a message
 * without memory.
 */
bool calibrate(const struct peak *peak, int threads, double seconds, struct calibration *c,
               struct message *error);

#endif
