/* The same work in several rows of some files: how far its times agree. */
#ifndef GTMARK_ANALYSIS_REPEATS_H
#define GTMARK_ANALYSIS_REPEATS_H

#include "analysis/record/row.h"

#include <stdio.h>

struct repeats {
    size_t pairs;          /* of times of the same program in rows that match (match.h) */
    size_t differ;         /* that verdict_rows calls faster or slower */
    size_t unclear;        /* that it cannot judge: noisy, or in different states of the machine */
    double widest;         /* largest ratio of two medians of a judged pair, at least 1 */
    const struct row *row; /* one of that pair; null without judged pairs */
    const char *program;
};

/* Compares all rows with each other. */
struct repeats repeats_find(const struct rows *rows);

/* Says in one or two sentences what was found; nothing without pairs. */
void repeats_print(FILE *out, const struct repeats *r);

#endif
