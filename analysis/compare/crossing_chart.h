/* The chart PREFIX_crossover: the ratio of the times of two variants over the axis, where one overtakes the
 * other. */
#ifndef GTMARK_ANALYSIS_CROSSING_CHART_H
#define GTMARK_ANALYSIS_CROSSING_CHART_H

#include "analysis/record/record.h"

#include <stdbool.h>
#include <stdio.h>

/* Draws it if the record has a crossing, and says so on `log`. False with one line in message[MESSAGE_SIZE].
 */
bool crossing_chart_draw(const struct record *record, const char *prefix, FILE *log, char *message);

#endif
