/* The machine's ceilings for every number of threads that a sweep uses. */
#ifndef GTMARK_BENCH_CEILINGS_H
#define GTMARK_BENCH_CEILINGS_H

#include "bench/machine/calibration.h"

struct ceilings {
    struct calibration *list;
    int count;
    const char *missing; /* why there is none */
};

struct ceilings_request {
    const struct peak *peak; /* null: the device has no calibration */
    const char *unwanted;    /* why there are to be none; null: they are wanted */
    const double *threads;   /* count of them, as --threads takes them */
    int count;
    bool calibrate; /* measure anew even where the kept file has them */
};

/* Takes the ceilings for each number of threads from the kept file, or measures them and says so on stderr.
 */
void ceilings_get(struct ceilings *c, const struct ceilings_request *r);

/* Only what the kept file has: measures and writes nothing. */
void ceilings_kept(struct ceilings *c, const struct ceilings_request *r);

void ceilings_free(struct ceilings *c);

/* The calibration for so many threads; null if there is none. */
const struct calibration *ceilings_for(const struct ceilings *c, int threads);

/* For the record: an array of calibrations. */
json_t *ceilings_json(const struct ceilings *c);

#endif
