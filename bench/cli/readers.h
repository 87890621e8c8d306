/* Readers of flags that benchmarks and tools share. */
#ifndef GTMARK_BENCH_READERS_H
#define GTMARK_BENCH_READERS_H

#include "analysis/tables/table.h"
#include "bench/cli/syntax.h"
#include "graphs/inputs.h"

/* --columns: adds a column by its name; false with a message if there is none, or no room. */
bool columns_read(const char *name, const char *list[TABLE_COLUMNS], int *count, struct message *error);

/* --data: adds "features=FILE", "edge-features=FILE" or "labels=FILE", each once, to the struct graph_tables
 * at the flag's field; FILE may be none. False with a message. */
bool data_read(const struct argument *a, struct message *error);

#endif
