/* What is known of a configuration, a batch, a tape and its samples, as fields of a row. */
#ifndef GTMARK_BENCH_FACTS_H
#define GTMARK_BENCH_FACTS_H

#include <jansson.h>

#include "bench/machine/roofline.h"
#include "bench/row/encode.h"
#include "bench/row/verify.h"
#include "bench/time/cold.h"
#include "bench/time/energy.h"
#include "bench/time/launching.h"
#include "bench/time/sample.h"

/* What defines the work, and where it runs. */
void facts_config(json_t *row, const struct config *c, const struct options *o);

/* A count, or null where it is negative: beyond 63 bits. */
void facts_count(json_t *row, const char *field, int64_t value);

/* shape_only: the batch has no edges, so nothing is known of their distribution. */
void facts_batch(json_t *row, const struct batch *b, bool shape_only);

/* The encoding, and what its computation took. */
void facts_encoding(json_t *row, const struct encoded *e, const struct config *c, bool uploaded);

/* When the encoding has paid: of the programs that the row has times of. */
void facts_break_even(json_t *row);

/* Memory by the plan, FLOPs and bytes by the formulas. The tape is planned. */
void facts_plan(json_t *row, enum program_kind kind, const struct tape *t);

/* The machine just before the row. */
void facts_noise(json_t *row, const struct noise *n);

/* The rate of a program that was sampled, against the ceilings; null: there are none, for the reason. */
void facts_roofline(json_t *row, enum program_kind kind, const struct calibration *c, const char *missing);

/* Times and rates. */
void facts_samples(json_t *row, enum program_kind kind, const struct samples *s, const struct batch *b);

/* Time with emptied caches; null: there is none, for the reason. */
void facts_cold(json_t *row, enum program_kind kind, const struct cold *c, const char *missing);

/* The rate with emptied caches against the ceilings, once that time is there. */
void facts_cold_roofline(json_t *row, enum program_kind kind, const struct calibration *c,
                         const char *missing);

/* The host's part in a replay on a device; no runs: there is no device. */
void facts_launching(json_t *row, enum program_kind kind, const struct launching *l);

/* What was seen of a GPU while it was sampled, and its energy; or why there is neither. */
void facts_gpu(json_t *row, enum program_kind kind, const struct samples *s);
void facts_energy(json_t *row, enum program_kind kind, const struct energy *e, const struct batch *b);
void facts_no_gpu(json_t *row, enum program_kind kind, const char *reason);

/*
 * Measures what one run makes resident; the tape is in its initial state afterwards. False if that is more
 * than the plan by over 5 % and 4 MiB: something allocates behind its back.
 */
bool facts_resident(json_t *row, enum program_kind kind, struct tape *t);

/* counted: -1 if the loops are too long to count. False if it is not the analytic number. */
bool facts_counted(json_t *row, enum program_kind kind, int64_t counted);

/* FLOPs that were measured, or why they were not. */
void facts_executed(json_t *row, enum program_kind kind, const struct executed *e);
void facts_not_executed(json_t *row, enum program_kind kind, const char *reason);

/* The error of what was checked; a program that was not leaves the reason. */
void facts_check(json_t *row, const struct verdict *v);

/* Gives every field that is still unset its reason. */
void facts_unmeasured(json_t *row, bool meta);

#endif
