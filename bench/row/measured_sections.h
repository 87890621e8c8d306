/* What plug-ins report of a program, in a row: sections and metrics. */
#ifndef GTMARK_BENCH_MEASURED_SECTIONS_H
#define GTMARK_BENCH_MEASURED_SECTIONS_H

#include "analysis/record/row.h"
#include "bench/time/sections.h"

/* Runs the tape so often, and adds to the row's what the plug-in reports; with a fault of it nothing, and the
 * message. */
void sections_measure(struct tape *t, struct plugin *p, int runs, const char *program, struct row *row,
                      struct message *fault);

#endif
