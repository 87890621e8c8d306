/* The command that measures a row again. */
#ifndef GTMARK_ANALYSIS_COMMANDS_H
#define GTMARK_ANALYSIS_COMMANDS_H

#include "analysis/record/record.h"

/*
 * The command line of the record with the values of this row in place of the axes that vary, and without
 * --output and
 * --resume, so that it replaces no file; quoted for a shell. To be freed. A benchmark of ops measures all
 * kernels of the row's op.
 */
char *command_of_row(const struct record *record, const struct row *row);

#endif
