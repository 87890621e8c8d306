/* Where the time of a program goes, read off its tape: per op, per part of a layer, per layer, per phase. */
#ifndef GTMARK_BENCH_PROFILE_H
#define GTMARK_BENCH_PROFILE_H

#include <stdio.h>

#include "bench/machine/calibration.h"
#include "models/tape/tape.h"

/*
 * Replays the tape `runs` times with a clock reading after each entry, and prints the medians as tables: per
 * op, per part of a layer, per layer, per phase, and the entries that take longest. Where there are ceilings
 * (else null) rates are set against them.
 */
void profile_print(struct tape *t, int runs, const char *title, const struct calibration *ceilings,
                   FILE *out);

#endif
