/* The machine's ceilings: calibrations for all numbers of threads of a sweep and states of the machine. */
#ifndef GTMARK_BENCH_CEILINGS_H
#define GTMARK_BENCH_CEILINGS_H

#include "analysis/record/value.h"
#include "bench/base/paths.h"
#include "bench/machine/calibration.h"
#include "bench/machine/device.h"

struct ceilings {
    struct calibration *list;
    int count;
    const char *no_ceilings; /* why there are none */
    const struct peak *peak; /* of the processors; null: none */
    const struct device_choice
        *device;                   /* a GPU, measured when it is first in use, and not kept; null: none */
    char path[PATH_MAX];           /* of the calibration file; empty: none */
    bool given;                    /* by --peaks: of another machine, for any number of threads */
    struct calibrated *calibrated; /* what this run has measured */
    int calibrated_count;
};

/* Ceilings from the command line (--peaks). */
struct given_ceilings {
    struct calibration *list;
    int count;
    const char *file; /* of calibrations, for numbers of threads; null: rates */
};

struct ceilings_request {
    const struct peak *peak;            /* null: not of the processors */
    const struct device_choice *device; /* a GPU; null: none */
    const char *no_ceilings;            /* why there are to be no ceilings; null: they are wanted */
    const double *threads;              /* `count` of them, as in --threads */
    int count;
    bool calibrate;                     /* measure even if the calibration file has them */
    const struct given_ceilings *given; /* count 0: none */
};

/* The ceilings for each number of threads in the present state of the machine, from the calibration file or
 * measured and written there. Notes go to stderr. */
void ceilings_get(struct ceilings *c, const struct ceilings_request *r);

/* Only the ceilings in the calibration file: measures and writes nothing. */
struct ceilings ceilings_kept(const struct ceilings_request *r);

void ceilings_free(struct ceilings *c);

/* Adds a calibration as the last one, in the place of the one of the same state, whose rates it keeps if they
 * are higher, or of the oldest of CALIBRATION_STATES. */
void ceilings_add(struct ceilings *c, struct calibration *new);

/* The last calibration for this number of threads, for predictions, or of those given the last with the most
 * threads; null if there is none. */
const struct calibration *ceilings_for(const struct ceilings *c, int threads);

/* Whether a program was faster than one of these, so that what they predict is no bound. */
bool ceilings_were_exceeded(const struct ceilings *c);

/* The calibration of the state `probe`, as told apart by turns[n] and the probes of all calibrations
 * together. Null if there is none; *reason says why. */
const struct calibration *ceilings_in(const struct ceilings *c, int threads, const struct turn *turns,
                                      size_t n, const struct probe *probe, const char **reason);

/* Between turns, at most once a second: measures the ceilings of a state that has none. True if it did. */
bool ceilings_refresh(struct ceilings *c, int threads);

/* A program reached `percent` > 100 of the calibration of this time, which is marked: whether it was
 * not before. It is not measured again: all rows and runs of a state have the same ceilings. */
bool ceilings_exceeded(struct ceilings *c, int threads, const char *time, double percent);

/* The array of calibrations for the record, without those given. */
struct value *ceilings_json(const struct ceilings *c);

#endif
