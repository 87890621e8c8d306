/* Facts of a batch of graphs, for `graph describe`. */
#ifndef GTMARK_BENCH_GRAPH_FACTS_H
#define GTMARK_BENCH_GRAPH_FACTS_H

#include <stdio.h>

#include "bench/base/message.h"
#include "graphs/batch.h"
#include "graphs/table.h"

/* Prints sizes, degrees, components and memory, one fact on a line. False with a message, before anything is
 * printed, without memory for the components: 13 bytes per node. */
bool graph_facts_print(FILE *out, const struct batch *b, struct message *error);

void graph_facts_table(FILE *out, const char *name, const struct number_table *t);

#endif
