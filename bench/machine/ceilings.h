/* The machine's ceilings for every number of threads of a sweep. */
#ifndef GTMARK_BENCH_CEILINGS_H
#define GTMARK_BENCH_CEILINGS_H

#include "analysis/record/value.h"
#include "bench/machine/calibration.h"

struct ceilings {
    struct calibration *list;
    int count;
    const char *missing; /* why there are none */
};

struct ceilings_request {
    const struct peak *peak; /* null: the device has no calibration */
    const char *unwanted;    /* why there are to be no ceilings; null: they are wanted */
    const double *threads;   /* `count` of them, as in --threads */
    int count;
    bool calibrate; /* measure even if the calibration file has them */
};

/* The ceilings for each number of threads, from the calibration file or measured and written there. Notes go
 * to stderr. */
void ceilings_get(struct ceilings *c, const struct ceilings_request *r);

/* Only the ceilings in the calibration file: measures and writes nothing. */
void ceilings_kept(struct ceilings *c, const struct ceilings_request *r);

void ceilings_free(struct ceilings *c);

/* The calibration for this number of threads; null if there is none. */
const struct calibration *ceilings_for(const struct ceilings *c, int threads);

/* The array of calibrations for the record. */
struct value *ceilings_json(const struct ceilings *c);

#endif
