/*
 * --resume: a sweep that goes on where a result file ends.
 *
 * A row of the file belongs to a configuration if the hash of the work and all axes agree; device, commit and
 * whatever else decides what a row says stand in the head of the file, which must agree as a whole. A row
 * that is ok or oom is kept as it stands; any other is measured again, and stays until its successor has
 * been. Rows that the command line does not ask for are kept too, before the others. Two configurations that
 * are one and the same ("--ffn 0,512" at width 256) have two rows, matched in their order.
 */
#ifndef GTMARK_BENCH_RESUME_H
#define GTMARK_BENCH_RESUME_H

#include "analysis/record/record.h"
#include "bench/cli/options.h"

enum row_state { ROW_MISSING, ROW_REDONE, ROW_KEPT };

struct resume {
    size_t others;         /* rows of other configurations, the first in the record */
    enum row_state *state; /* of every configuration, device after device */
    struct value *run; /* of the record, what is about this run: itself, or its last entry under "resumed" */
};

/* What decides beside axes and seed what a row says; a part of the record's head. */
struct value *resume_settings(const struct options *o);

/*
 * Without --resume, or without a file to go on with: all rows are missing. Else puts the file's record in
 * place of the new one, its rows in the order of the configurations, the command that goes on noted under
 * "resumed". False with a message if the file cannot be read, or its head disagrees.
 */
bool resume_open(struct resume *r, const struct options *o, const char *path, struct record **record,
                 struct message *error);
void resume_close(struct resume *r);

#endif
