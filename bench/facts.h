/* What is known of a configuration, a batch, a tape and its samples, as fields of a row. */
#ifndef GTMARK_BENCH_FACTS_H
#define GTMARK_BENCH_FACTS_H

#include <jansson.h>

#include "bench/config.h"
#include "bench/sample.h"

void facts_config(json_t *row, const struct config *c, const struct options *o);

/* shape_only: the batch has no edges, so nothing is known of their distribution. */
void facts_batch(json_t *row, const struct batch *b, bool shape_only);

/* Memory by the plan, FLOPs and bytes by the formulas. The tape is planned. */
void facts_plan(json_t *row, enum program_kind kind, const struct tape *t);

/* Times and rates. `resident` is what the process held before the program ran. */
void facts_samples(json_t *row, enum program_kind kind, const struct samples *s, int64_t resident,
                   int64_t graphs);

/* counted: -1 if the loops are too long to count. */
void facts_counted(json_t *row, enum program_kind kind, int64_t counted);

/* Gives every field that is still unset its reason. */
void facts_unmeasured(json_t *row, bool meta);

#endif
