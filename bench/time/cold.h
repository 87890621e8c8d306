/* Time with emptied caches: the program finds none of its operands where the last run left them. */
#ifndef GTMARK_BENCH_COLD_H
#define GTMARK_BENCH_COLD_H

#include "analysis/record/row_struct.h"
#include "bench/time/flush.h"
#include "models/tape/tape.h"

enum { COLD_MIN = 3, COLD_DEFAULT = 5, COLD_MAX = 1000 };

/*
 * Sets to->cold by runs of a tape that has run before. Before each run the caches are flushed, outside of its
 * time. Takes at most `runs` samples (up to COLD_MAX), but no more than COLD_MIN once they have taken
 * `seconds`.
 */
void cold_measure(struct tape *t, const struct flush *f, int runs, double seconds, struct row_program *to);

#endif
