/* Where rows go as they finish: stdout in the format asked for, and the result file. */
#ifndef GTMARK_BENCH_REPORT_H
#define GTMARK_BENCH_REPORT_H

#include <jansson.h>

#include "analysis/table.h"
#include "bench/options.h"

struct report {
    const struct options *options;
    json_t *record;
    const char *path; /* of the result file; null: none */
    struct table table;
};

/* Starts a report over the record, which it takes over. False with a message if the result file cannot be
 * written. */
bool report_start(struct report *r, const struct options *o, json_t *record, const char *path,
                  struct message *error);

/* Takes over a finished row: prints it and saves the file. */
bool report_row(struct report *r, json_t *row, struct message *error);

/* What comes after the last row. */
bool report_end(struct report *r, struct message *error);

#endif
