/* The argument of --data: a table beside the graph of a file. */
#ifndef GTMARK_BENCH_DATA_H
#define GTMARK_BENCH_DATA_H

#include "bench/cli/syntax.h"
#include "graphs/inputs.h"

/* Adds "features=FILE", "edge-features=FILE" or "labels=FILE", each once, to the struct graph_tables at the
 * flag's field; FILE may be none. False with a message. */
bool data_read(const struct argument *a, struct message *error);

#endif
