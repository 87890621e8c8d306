/* Where rows go as they finish: stdout in the format asked for, and the result file. */
#ifndef GTMARK_BENCH_REPORT_H
#define GTMARK_BENCH_REPORT_H

#include <sys/stat.h>

#include "analysis/record/record.h"
#include "analysis/tables/table.h"
#include "bench/row/resume.h"

struct report {
    const struct options *options;
    struct record *record;
    const struct resume *resume; /* where rows belong in the record */
    const char *path;            /* of the result file; null: none */
    struct table table;
    struct stat saved; /* the result file when it was last saved; zeros: never */
    bool told;         /* that another run writes to it */
};

/* Starts a report over a record. False with a message if the result file cannot be written. */
bool report_start(struct report *r, const struct options *o, struct record *record,
                  const struct resume *resume, const char *path, struct message *error);

/* Takes over the finished row of a configuration, all before which are in the record: saves the file and
 * prints it. */
bool report_row(struct report *r, int64_t index, struct row *row, struct message *error);

/* Prints the row of a configuration that an earlier run left. Says whether it is ok. */
bool report_kept(struct report *r, int64_t index);

/* The rows of the command line, without others of the file: a new array. */
struct rows *report_rows(const struct report *r);

/* What comes after the last row. */
bool report_end(struct report *r, struct message *error);

#endif
