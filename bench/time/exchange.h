/* What a program's exchange with other ranks takes. */
#ifndef GTMARK_BENCH_EXCHANGE_H
#define GTMARK_BENCH_EXCHANGE_H

#include "analysis/record/row_struct.h"
#include "models/tape/tape.h"

/* The most runs of each kind, and the seconds after which no more begin. */
enum { EXCHANGE_RUNS = 10, EXCHANGE_SECONDS = 5 };

/* Sets the measured times and bandwidth of to->communication. For a tape that is laid out, initialised and
 * leads: so many runs of each kind, at most EXCHANGE_RUNS; 0: by time. */
void exchange_measure(struct tape *t, int runs, struct row_program *to);

#endif
