/* Where the time and the memory of models go, side by side. */
#ifndef GTMARK_ANALYSIS_MODEL_TABLE_H
#define GTMARK_ANALYSIS_MODEL_TABLE_H

#include "analysis/record/row.h"

#include <stdio.h>

enum { MODEL_TABLE_OPS = 10, MODEL_TABLE_ROWS = 3 }; /* ops; rows side by side, at most */

/*
 * Prints, of the training step or else the forward pass of each row, MODEL_TABLE_ROWS of them side by side,
 * named by axes[n]: parameters, memory at the peak by category, and the ops that take most in one of the
 * rows: in time, of a plan in predicted time or in FLOPs.
 */
void model_table_print(FILE *out, const struct rows *rows, const struct field *const *axes, size_t n);

#endif
