/* The machine's peak rates: calibrations for all numbers of threads of a sweep and states of the machine. */
#ifndef GTMARK_BENCH_PEAKS_H
#define GTMARK_BENCH_PEAKS_H

#include "analysis/record/value.h"
#include "bench/base/paths.h"
#include "bench/machine/calibration.h"
#include "bench/machine/device.h"

struct peaks {
    struct calibration *list;
    int count;
    const char *no_peaks;    /* why there are none */
    const struct peak *peak; /* of the processors; null: none */
    const struct device_choice
        *device;                   /* a GPU, measured when it is first in use, and not kept; null: none */
    char path[PATH_MAX];           /* of the calibration file; empty: none */
    bool given;                    /* by --peaks: of another machine, for any number of threads */
    struct calibrated *calibrated; /* what this run has measured */
    int calibrated_count;
};

/* Peak rates from the command line (--peaks). */
struct given_peaks {
    struct calibration *list;
    int count;
    const char *file; /* of calibrations, for numbers of threads; null: rates */
};

struct peaks_request {
    const struct peak *peak;            /* null: not of the processors */
    const struct device_choice *device; /* a GPU; null: none */
    const char *no_peaks;               /* why there are to be no peak rates; null: they are wanted */
    const double *threads;              /* `count` of them, as in --threads */
    int count;
    bool calibrate;                  /* measure even if the calibration file has them */
    const struct given_peaks *given; /* count 0: none */
};

/* The peak rates for each number of threads in the present state of the machine, from the calibration file or
 * measured and written there. Notes go to stderr. */
void peaks_get(struct peaks *c, const struct peaks_request *r);

/* Only the peak rates in the calibration file: measures and writes nothing. */
struct peaks peaks_kept(const struct peaks_request *r);

void peaks_free(struct peaks *c);

/* Adds a calibration as the last one, in the place of the one of the same state, whose rates it keeps if they
 * are higher, or of the oldest of CALIBRATION_STATES. */
void peaks_add(struct peaks *c, struct calibration *new);

/* The last calibration for this number of threads, for predictions, or of those given the last with the most
 * threads; null if there is none. */
const struct calibration *peaks_for(const struct peaks *c, int threads);

/* Whether a program was faster than one of these, so that what they predict is no bound. */
bool peaks_were_exceeded(const struct peaks *c);

/* The calibration of the state `probe`, as told apart by turns[n] and the probes of all calibrations
 * together. Null if there is none; *reason says why. */
const struct calibration *peaks_in(const struct peaks *c, int threads, const struct turn *turns, size_t n,
                                   const struct probe *probe, const char **reason);

/* Between turns, at most once a second: measures the peak rates of a state that has none. True if it did. */
bool peaks_refresh(struct peaks *c, int threads);

/* A program reached `percent` > 100 of the calibration of this time, which is marked: whether it was
 * not before. It is not measured again: all rows and runs of a state have the same peak rates. */
bool peaks_exceeded(struct peaks *c, int threads, const char *time, double percent);

/* The array of calibrations for the record, without those given. */
struct value *peaks_json(const struct peaks *c);

#endif
