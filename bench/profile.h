/* Where the time of a program goes, read off its tape: per op, per part of a layer, per layer, per phase. */
#ifndef GTMARK_BENCH_PROFILE_H
#define GTMARK_BENCH_PROFILE_H

#include <stdio.h>

#include "models/tape.h"

/* Replays the tape `runs` times with a clock reading after each entry, and prints the medians as tables. */
void profile_print(struct tape *t, int runs, const char *title, FILE *out);

#endif
