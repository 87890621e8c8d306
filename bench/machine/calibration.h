/*
 * A calibration: what this machine reached at best, with the conditions that it holds for, as JSON and in a
 * file that is kept from run to run.
 */
#ifndef GTMARK_BENCH_CALIBRATION_H
#define GTMARK_BENCH_CALIBRATION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/base/message.h"
#include "kernels/peak.h"

/* Levels of the memory hierarchy, from the processor outwards. */
enum memory_level { MEMORY_L2, MEMORY_LLC, MEMORY_DRAM, MEMORY_LEVELS };

/* "L2", "LLC" (the last-level cache), "DRAM". */
const char *memory_level_name(enum memory_level level);

/* Bytes are those that a loop names: a cache line that is read because it will be written is not counted. */
struct bandwidth {
    int64_t capacity;    /* bytes that the level holds for all threads; 0: no such level, and no rates */
    int64_t working_set; /* bytes that were passed over */
    double read, write, triad; /* GB/s of all threads */
};

struct calibration {
    char cpu[256], isa[16]; /* it holds where these four agree */
    int threads;
    int64_t memory; /* bytes of the machine */
    double load;    /* the load average when it was measured */
    char time[32];  /* and when that was: UTC, ISO 8601 */
    double
        peak; /* GFLOP/s of all threads: fused multiply-adds in float, where the instruction set has them */
    struct bandwidth level[MEMORY_LEVELS];
};

/* The conditions of now, and no rates. */
struct calibration calibration_conditions(const struct peak *peak, int threads);

json_t *calibration_json(const struct calibration *c);

/* False if the JSON is no calibration. */
bool calibration_read(const json_t *json, struct calibration *c);

/* The calibration in the file whose conditions agree with those of now; false if there is none. */
bool calibration_kept(const char *path, const struct peak *peak, int threads, struct calibration *c);

/* What calibration_get is asked for. */
struct calibration_request {
    const struct peak *peak;
    int threads;
    const char *path; /* the file where calibrations are kept; null: nowhere */
    bool refresh;     /* measure anew, whatever the file holds */
    double seconds;   /* for measuring, if need be: CALIBRATION_SECONDS */
};

/*
 * The calibration of this machine: the one in the file whose conditions agree, or a new one, which takes its
 * place there; other machines' calibrations in the file stay. False with a message where it could not be
 * measured; where only the file could not be written, true with a message (else the message is empty).
 */
bool calibration_get(const struct calibration_request *r, struct calibration *c, struct message *message);

/* Seconds that a calibration is given, besides allocating its memory. */
#define CALIBRATION_SECONDS 2.0

/*
 * Measures the peak of arithmetic and, at a working set well inside each level of the memory hierarchy, the
 * bandwidths. Each figure is the best of several repetitions (at least five, within its share of `seconds`),
 * each by the wall time from the first thread's start to the last one's end. False with a message if there is
 * no memory.
 */
bool calibrate(const struct peak *peak, int threads, double seconds, struct calibration *c,
               struct message *error);

#endif
