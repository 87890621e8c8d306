/*
 * Joining result files of one benchmark: shards of a sweep (--shard), or sweeps of several machines.
 *
 * Rows of shards are put in the order of their sweep; other files follow one another. The same work and axes
 * twice on one machine and build is one row if all fields agree, and a conflict if not. Rows of several
 * machines or builds are kept apart by the field `origin`, an axis.
 */
#ifndef GTMARK_ANALYSIS_MERGE_H
#define GTMARK_ANALYSIS_MERGE_H

#include "analysis/record/record.h"

/* What was found; the reports to `out` name each in a line. */
struct merge_found {
    size_t conflicts; /* rows that another file has with other results */
    size_t missing;   /* shards of which there is no file, and sweeps that lack rows */
};

/*
 * Whether these can be joined: files of one benchmark, none joined already, whose origins would be lost. If
 * not, error[MESSAGE_SIZE] says why. `names`: of the files, for messages.
 */
bool merge_possible(struct record *const *records, char *const *names, size_t count, char *error);

/* The joined record, which takes the rows of the others; with conflicts it has the first of each. `command`
 * made it. */
struct record *merge_records(struct record *const *records, char *const *names, size_t count,
                             const char *command, FILE *out, struct merge_found *found);

#endif
