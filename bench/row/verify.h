/* The numerical check of a row. */
#ifndef GTMARK_BENCH_VERIFY_H
#define GTMARK_BENCH_VERIFY_H

#include "bench/row/workload.h"
#include "models/layers/check.h"

struct checked {
    struct check check; /* over all programs of the row */
    char how[256];      /* what was compared, and how */
    char missing[128];  /* programs not checked, and why; empty if all were */
};

/*
 * Checks one program after its timing: the whole program against the oracle in double, if that is predicted
 * to take at most --check-budget seconds and fits the memory; otherwise some rows of every op. The program is
 * loaded, and in its initial state afterwards.
 */
void verify(struct checked *v, const struct workload *w, enum program_kind kind, struct recording *r);

#endif
