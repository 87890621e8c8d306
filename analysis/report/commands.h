/* The command that measures a row again. */
#ifndef GTMARK_ANALYSIS_COMMANDS_H
#define GTMARK_ANALYSIS_COMMANDS_H

#include "analysis/record/axes.h"
#include "analysis/record/record.h"

/* The axes that a command has to set to measure one of these rows; returns how many. */
size_t command_axes(const struct rows *rows, const struct field *axes[AXES_MAX]);

/*
 * The command line of the record with the values of this row for these axes (command_axes), quoted for a
 * shell; without --output and --resume, so that it replaces no file. To be freed. A benchmark of ops measures
 * all kernels of the row's op.
 */
char *command_of_row(const struct record *record, const struct row *row, const struct field *const *axes,
                     size_t n);

#endif
