/* The rows of a result file, printed again as a benchmark prints them. */
#ifndef GTMARK_BENCH_SAVED_H
#define GTMARK_BENCH_SAVED_H

#include "analysis/database/ask.h"
#include "analysis/record/record.h"
#include "analysis/tables/printer.h"

struct saved_format {
    enum format format;
    const char *const *columns; /* of the table or CSV; count 0: all of times, rates, memory and plans */
    int count;
};

/* Removes the rows that do not meet the limits and the conditions on axes. Returns how many are left. */
size_t saved_keep(struct record *record, const struct question *q);

void saved_print(const struct record *record, const struct saved_format *how);

#endif
