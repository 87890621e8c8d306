/* Where the time of a program goes, read off its tape: per op, per part of a layer, per layer, per phase. */
#ifndef GTMARK_BENCH_PROFILE_H
#define GTMARK_BENCH_PROFILE_H

#include <stdio.h>

#include "bench/machine/calibration.h"
#include "models/layers/model.h"

/*
 * Replays the tape `runs` times with a clock reading after each entry, and prints the medians as tables: per
 * op, per part of a layer, per layer, per phase, and the entries that take longest. Where there are ceilings
 * (else null) rates are set against them.
 */
void profile_print(struct tape *t, int runs, const char *title, const struct calibration *ceilings,
                   FILE *out);

/* Parameters and their bytes, and memory at the peak by category. The tape is planned. */
void model_report(const struct tape *t, enum program_kind kind, FILE *out);

/*
 * Draws PREFIX_timeline_PROGRAM.png and .svg: live bytes over the entries of the tape, category upon
 * category. message[MESSAGE_SIZE] gets a line for the user, as of chart_draw.
 */
void model_timeline(const struct tape *t, enum program_kind kind, const char *prefix, char *message);

#endif
