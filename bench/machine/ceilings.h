/* The machine's ceilings for every number of threads that a sweep uses. */
#ifndef GTMARK_BENCH_CEILINGS_H
#define GTMARK_BENCH_CEILINGS_H

#include "bench/cli/options.h"
#include "bench/machine/calibration.h"

struct ceilings {
    struct calibration *list;
    int count;
    const char *missing; /* why there is none */
};

/* Calibrates for each number of threads among the options' rows, from the kept file where that holds; says so
 * on stderr. */
void ceilings_get(struct ceilings *c, const struct options *o);

/* Only what the kept file has: measures and writes nothing. */
void ceilings_kept(struct ceilings *c, const struct options *o);

void ceilings_free(struct ceilings *c);

/* The calibration for so many threads; null if there is none. */
const struct calibration *ceilings_for(const struct ceilings *c, int threads);

/* For the record: an array of calibrations. */
json_t *ceilings_json(const struct ceilings *c);

#endif
