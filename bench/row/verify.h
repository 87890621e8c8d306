/* The check of a row: was what was timed also right? */
#ifndef GTMARK_BENCH_VERIFY_H
#define GTMARK_BENCH_VERIFY_H

#include "bench/row/workload.h"
#include "models/layers/check.h"

struct checked {
    struct check check; /* over all programs of the row */
    char how[256];      /* what was compared, and how */
    char missing[128];  /* why some program was not checked; empty if all were */
};

/*
 * Checks one program after its timing: as a whole against the oracle in double where that is predicted to
 * take at most the seconds of --check-budget and fits the memory, else by rows of every op. The recording is
 * laid out; its state is the initial one afterwards.
 */
void verify(struct checked *v, const struct workload *w, enum program_kind kind, struct recording *r);

#endif
