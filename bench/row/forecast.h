/*
 * What several ranks that run one program need, by their tapes alone: each rank's memory and work, the bytes
 * that they send, and, by a model of the link between them (bench/machine/link.h), the time of that.
 *
 * All ranks have the same exchanges in the same order. One begins when the last rank has come to its start
 * and the exchange before it is over, and takes as long as that of the rank which sends most; its wait ends
 * with it. So what is computed between the two hides it. Computation takes the least time that the peak rates
 * allow, so the time of a run is a lower bound.
 */
#ifndef GTMARK_BENCH_FORECAST_H
#define GTMARK_BENCH_FORECAST_H

#include "bench/machine/link.h"
#include "bench/row/workload.h"

/* The start or the wait of an exchange on one rank. */
struct exchange_step {
    bool starts;
    int request; /* pairs them */
    enum link_kind kind;
    int64_t bytes; /* payload that the rank sends; of a wait 0 */
    double before; /* seconds computed since the step before; NAN: not known */
    double moving; /* seconds in which the rank packs it, or unpacks what came; NAN: not known */
};

/* A rank's part of a program. */
struct timeline {
    struct exchange_step *step;
    int count;
    double after; /* seconds computed after the last step */
};

struct forecast {
    bool known;
    int64_t bytes;               /* most payload of a rank */
    double alone;                /* seconds of nothing but the exchanges, one after another */
    double run;                  /* seconds of a run; NAN: not known */
    double exposed;              /* of these, beyond what the rank with the most computation computes */
    struct message reason, link; /* why it is not known; what it assumes */
};

/* Of `ranks` parts of one program; a link of null: without times. */
struct forecast forecast_of(const struct timeline *part, int ranks, const struct link *link);

/* Plans a program of a workload on each of its ranks; sets the workload's facts. */
struct forecast forecast_make(struct workload *w, enum program_kind kind, const struct calibration *peaks);

#endif
