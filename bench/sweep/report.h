/* Output of rows as they finish: stdout in the requested format, and the result file. */
#ifndef GTMARK_BENCH_REPORT_H
#define GTMARK_BENCH_REPORT_H

#include <sys/stat.h>

#include "analysis/record/record.h"
#include "analysis/tables/table.h"
#include "bench/sweep/resume.h"

struct report {
    const struct options *options;
    struct record *record;
    const struct resume *resume; /* positions of rows in the record */
    const char *path;            /* result file; null: none */
    struct table table;
    struct stat saved; /* the result file when last saved; zeros: never */
    bool told;         /* warned that another program writes it */
};

/* Starts a report over a record. False with a message if the result file cannot be written. */
bool report_start(struct report *r, const struct options *o, struct record *record,
                  const struct resume *resume, const char *path, struct message *error);

/* Takes ownership of a finished row, all earlier ones being in the record; saves the file and prints it. */
bool report_row(struct report *r, int64_t index, struct row *row, struct message *error);

/* Prints a row kept from an earlier run. Returns whether it is ok. */
bool report_kept(struct report *r, int64_t index);

/* The rows of this command line, without others in the file: a new array. */
struct rows *report_rows(const struct report *r);

/* Computes and prints fits, prints JSON, and saves the file. */
bool report_end(struct report *r, struct message *error);

#endif
