/*
 * What a row will need, before anything runs: its work and memory by the tapes, and from them the least time
 * of a run.
 */
#ifndef GTMARK_BENCH_ESTIMATE_H
#define GTMARK_BENCH_ESTIMATE_H

#include "bench/cli/config.h"
#include "bench/machine/ceilings.h"

struct estimate {
    bool known;    /* false: the graph cannot be had before it is read */
    int64_t batch; /* bytes of the host to generate it */
    struct {
        int64_t flops, bytes; /* negative: beyond 63 bits */
        int64_t arena;        /* bytes that the plan lays out */
        double seconds;       /* of one run under the roofline of the calibration; without one, NAN */
    } program[PROGRAMS];      /* 0 where it is not asked for */
};

/* c: null where there is no calibration for the row's threads. */
struct estimate estimate_row(const struct options *o, const struct config *config,
                             const struct calibration *c);

/* How many runs of a program a row needs at least, warm-up and samples. */
int estimate_runs(const struct options *o);

/*
 * --dry-run: prints the rows that would run, with what each needs, and where the figures come from. Writes
 * nothing else. False with a message.
 */
bool estimate_print(const struct options *o, FILE *out, struct message *error);

/* --list-tape: prints the tape of every program of every row, which make sense. False with a message. */
bool estimate_list_tapes(const struct options *o, struct message *error);

#endif
