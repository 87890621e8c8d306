/* One run of the old build or of this one for --against, in a process of its own. */
#ifndef GTMARK_BENCH_AGAINST_SIDE_H
#define GTMARK_BENCH_AGAINST_SIDE_H

#include "analysis/record/record.h"
#include "bench/base/message.h"

/* A build, and the command line of the sweep. */
struct side {
    const char *program;
    int argc;
    char **argv;
    const char *scratch; /* directory */
};

/*
 * Runs a build over the sweep: with a budget (s) and without checking the results, or to check them
 * (`check`), with one run of each program. Returns its record, even with rows that are not ok, or null with a
 * message.
 */
struct record *side_run(const struct side *s, bool check, double budget, struct message *error);

#endif
