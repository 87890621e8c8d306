/* The FLOPs of a program by op, as different counters count them (models/tape/conventions.h). */
#ifndef GTMARK_BENCH_BY_CONVENTION_H
#define GTMARK_BENCH_BY_CONVENTION_H

#include <stdio.h>

#include "models/tape/conventions.h"

/*
 * Prints a table: a line for each op with FLOPs and their sum; a column for `full` and for each convention in
 * `chosen` (a bit each), which also has its difference from full in percent. Then the reasons for the
 * differences. `title` says which program.
 */
void conventions_print(const struct tape *t, unsigned chosen, const char *title, FILE *out);

#endif
