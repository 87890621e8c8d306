/* One run of the old build or of this one for --against, in a process of its own. */
#ifndef GTMARK_BENCH_AGAINST_SIDE_H
#define GTMARK_BENCH_AGAINST_SIDE_H

#include "analysis/record/record.h"
#include "bench/base/message.h"

/* A build, and the command line of the sweep as it spells it. */
struct side {
    const char *program;
    int argc;
    char **argv;
    const char *scratch; /* directory */
};

/*
 * The user's command line as another build spells it, which may be of before a flag was renamed: by the flags
 * that its help lists. False with a message if it has the flag under neither name. To be freed in any case.
 */
bool side_translate(const struct side *user, const char *program, struct side *to, struct message *error);
void side_free(struct side *s);

/*
 * Runs a build over the sweep: with a budget (s) and without checking the results, or to check them
 * (`check`), with one run of each program. Returns its record, even with rows that are not ok, or null with a
 * message.
 */
struct record *side_run(const struct side *s, bool check, double budget, struct message *error);

#endif
