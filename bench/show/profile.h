/* Where the time and memory of a program go, by its tape. */
#ifndef GTMARK_BENCH_PROFILE_H
#define GTMARK_BENCH_PROFILE_H

#include <stdio.h>

#include "analysis/charts/figure.h"
#include "bench/machine/calibration.h"
#include "models/layers/model.h"

/*
 * Replays the tape `runs` times with a mark after each entry, and prints tables of the medians: per op, per
 * part of a layer, per layer, per phase, and the slowest entries. Rates are compared with the ceilings, if
 * there are any (null: none).
 */
void profile_print(struct tape *t, int runs, const char *title, const struct calibration *ceilings,
                   FILE *out);

/* Parameters and their bytes, and memory at the peak by category. The tape is planned. */
void model_report(const struct tape *t, enum program_kind kind, FILE *out);

/*
 * Draws PREFIX_timeline_PROGRAM.png and .svg: live bytes over the entries of the tape, stacked by category.
 * message[MESSAGE_SIZE] receives a line for the user, as in figures_draw.
 */
enum chart_result model_timeline(const struct tape *t, enum program_kind kind, const char *prefix,
                                 char *message);

#endif
