/* A profile as tables, and as comma-separated values. */
#ifndef GTMARK_ANALYSIS_PROFILE_TABLE_H
#define GTMARK_ANALYSIS_PROFILE_TABLE_H

#include "analysis/record/profile.h"

/*
 * Prints its tables: per op, per part of a layer, per layer, per phase, and ten entries: the slowest, or
 * those with the most FLOPs of a profile that is only planned, which has shares of FLOPs, bytes and, with
 * ceilings, of the predicted time instead, also per class of intensity and per bound. `title` names the
 * program and its input.
 */
void profile_print(const struct profile *p, const char *title, FILE *out);

/* The tables per op and per part of a layer as HTML. */
void profile_print_page(const struct profile *p, FILE *out);

/* A table of the sections that plug-ins opened in a program of the row; nothing without any. */
void profile_print_sections(const struct row *row, const char *program, FILE *out);

/* The timeline of memory: the most live bytes of each part of the program, in the order in which they run. */
void profile_print_memory(const struct profile *p, FILE *out);

/* A line for each entry of each profile in a row, after the values of its axes; nothing without a profile. */
void profile_csv_header(FILE *out);
void profile_csv(FILE *out, const struct row *row);

enum { MODEL_TABLE_OPS = 10, MODEL_TABLE_ROWS = 3 }; /* ops; rows side by side, at most */

/*
 * Prints, of the training step or else the forward pass of each row, MODEL_TABLE_ROWS of them side by side,
 * named by axes[n]: parameters, memory at the peak by category, and the ops that take most in one of the
 * rows: in time, of a plan in predicted time or in FLOPs.
 */
void model_table_print(FILE *out, const struct rows *rows, const struct field *const *axes, size_t n);

#endif
