/* The value of --columns. */
#ifndef GTMARK_BENCH_COLUMNS_H
#define GTMARK_BENCH_COLUMNS_H

#include "analysis/tables/table.h"
#include "bench/base/message.h"

/* Adds a column by its name; false with a message if there is none, or no room. */
bool columns_read(const char *name, const char *list[TABLE_COLUMNS], int *count, struct message *error);

#endif
