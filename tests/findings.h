/* Planted rows, and what findings say of them. */
#ifndef GTMARK_TESTS_FINDINGS_H
#define GTMARK_TESTS_FINDINGS_H

#include "analysis/record/row.h"

/* Ten turns with this median, and an interval of +-noise around it; and three noisy ones. */
void set_turns(struct row *row, const char *path, double seconds, double noise);
void set_noisy(struct row *row, const char *path, double seconds);

/* A checked row without any time. */
struct row *checked_row(int64_t nodes);

/* A step of this time and work, compute-bound in the last-level cache. */
void set_step(struct row *row, double seconds, double noise, double flops);

/* A list of findings, of which no line is too long, with each on one line, in place. */
char *in_single_lines(char *text);

/* What the findings of these rows say, each sentence on one line, to be freed; the rows are freed. */
char *said(struct rows *rows);

/* Whether that contains a text; prints it if not as expected. */
void assert_said(struct rows *rows, const char *expected);
void assert_not_said(struct rows *rows, const char *unexpected);

#endif
