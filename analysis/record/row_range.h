/*
 * What the rows of a program say of its time, and verdicts on rows that did the same work.
 */
#ifndef GTMARK_ANALYSIS_ROW_RANGE_H
#define GTMARK_ANALYSIS_ROW_RANGE_H

#include "analysis/record/row.h"
#include "analysis/statistics/range.h"

/* The groups of samples that stand for turns in files of versions without these. */
enum { ROW_GROUPS = 8 };

/* The range of a time of a row: the interval of its median, if at least 7 turns in one state of the machine
 * have one, else the extremes of all turns. Without a time the median is NAN. */
struct range times_range(const struct row *row, const struct row_times *time);
struct range row_range(const struct row *row, size_t kind); /* of a program's time */

/* What rows of one work know together, of those that are ok and have a time. */
struct range rows_range(const struct rows *rows, size_t kind);

/*
 * Judges a program, or the encoding, of a row against one of the baseline. Inconclusive with the reason if a
 * row is not ok or has no time. On one machine a difference counts only if it is one at any clock and rate of
 * sharing between the two, and if no other state explains it.
 */
struct verdict row_verdict(const struct row *base, size_t of_base, const struct row *row, size_t kind,
                           struct verdict_limits limits);

/* The same for all rows that two files have of one work, at least one each. */
struct verdict rows_verdict(const struct rows *base, const struct rows *rows, size_t kind,
                            struct verdict_limits limits);

#endif
