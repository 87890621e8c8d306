/* What a row says of its configuration, its batch, and its programs before they run. */
#ifndef GTMARK_BENCH_FIELDS_H
#define GTMARK_BENCH_FIELDS_H

#include "analysis/record/axes.h"
#include "bench/row/workload.h"

/* The work, and the device it runs on. */
void fields_config(struct row *row, const struct config *c, const struct options *o);

/* The values of all axes that vary: "2 layers, 500 nodes"; backwards with the nodes in any case. */
void fields_varying(const struct options *o, const struct config *c, bool backwards, char text[AXES_TEXT]);

/* "500 nodes, 2 layers" */
void fields_describe(const struct options *o, const struct config *c, char text[AXES_TEXT]);

/* A program of the row: "step at 500 nodes, 2 layers". */
enum { TITLE_TEXT = AXES_TEXT + 32 };
void fields_title(const struct options *o, const struct config *c, enum program_kind kind,
                  char text[TITLE_TEXT]);

/* The batch of an open workload, and what is known of its encoding before: bounds, and its stored bytes. */
void fields_batch(struct row *row, const struct workload *w);

/* What each of several ranks has of the batch, for the program that was loaded or planned last. */
void fields_ranks(struct row *row, const struct workload *w);

/* The memory and the work of a planned program; of several ranks the work of all. Returns its cost. */
struct cost fields_plan(struct row *row, enum program_kind kind, const struct tape *t);
struct cost fields_plan_ranks(struct row *row, enum program_kind kind, const struct workload *w);

/* The FLOPs of a model's program if the graphs of its batch were batched in other ways. */
void fields_ways(struct row *row, enum program_kind kind, const struct workload *w);

/* FLOPs and bytes of all phases. */
struct cost fields_total(const struct cost cost[PHASES]);

#endif
