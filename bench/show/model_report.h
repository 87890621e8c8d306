/* What bench_model adds to a profile: parameters, memory by category, and how memory goes over the program.
 */
#ifndef GTMARK_BENCH_MODEL_REPORT_H
#define GTMARK_BENCH_MODEL_REPORT_H

#include <stdio.h>

#include "models/layers/model.h"

/* Parameters and their bytes, and memory at the peak by category. The tape is planned. */
void model_report(const struct tape *t, enum program_kind kind, FILE *out);

/*
 * Draws PREFIX_timeline_PROGRAM.png and .svg: live bytes over the entries of the tape, category upon
 * category. message[MESSAGE_SIZE] gets a line for the user, as of chart_draw.
 */
void model_timeline(const struct tape *t, enum program_kind kind, const char *prefix, char *message);

#endif
