/*
 * --resume: continues the sweep of a result file.
 *
 * A row of the file belongs to a configuration if the work id and all axes agree. Device, commit and
 * everything else that determines a row are in the head of the file, which must agree as a whole. A row that
 * is ok or oom is kept unchanged; any other is measured again, and stays until it is replaced. Rows that the
 * command line does not ask for are kept too, before the others. Two identical configurations ("--ffn 0,512"
 * at width 256) have two rows, matched in order.
 */
#ifndef GTMARK_BENCH_RESUME_H
#define GTMARK_BENCH_RESUME_H

#include "analysis/record/record.h"
#include "analysis/record/value.h"
#include "bench/cli/options.h"
#include "bench/row/job.h"

struct resume {
    size_t others;         /* rows of other configurations, first in the record */
    enum row_state *state; /* per configuration, device by device */
    struct value *run;     /* the record's entry for this run: its head, or the last entry under "resumed" */
};

/* What determines a row besides axes and seed; part of the record's head. */
struct value *resume_settings(const struct options *o);

/*
 * Without --resume, or without a file to continue: all rows are missing. Otherwise replaces the new record by
 * the file's, with its rows in the order of the configurations and the resuming command noted under
 * "resumed". False with a message if the file cannot be read or its head disagrees.
 */
bool resume_open(struct resume *r, const struct options *o, const char *path, struct record **record,
                 struct message *error);

void resume_close(struct resume *r);

/* --shard I/N: a part of the rows of a sweep, the same on every machine. It depends on the rows and their
 * analytic FLOPs alone: not on the device, what is free of the memory, or peak rates. */

/*
 * Divides rows with these costs into `of` parts: the costliest row that is left goes to the part that has the
 * least, of equal parts to the one with the fewest rows, of these to the first; of equal rows the first goes
 * first. Costs that are not known (NAN) count as the mean of those that are. part[i]: of row i, from 0.
 */
void shard_divide(const double *cost, int64_t count, int of, int *part);

/* The cost of every row of the sweep: FLOPs of a run of each of its programs, and likely ones of its
 * encoding; NAN if the graph cannot be planned. To be freed. */
double *shard_costs(const struct options *o);

/* With --shard: keeps the rows of the part in the plan. False with a message with fewer rows than parts. */
bool shard_choose(struct options *o, struct message *error);

struct value *shard_value(const struct options *o);

#endif
