/* A turn of a row: what to sample, and for how long. */
#ifndef GTMARK_BENCH_SAMPLING_H
#define GTMARK_BENCH_SAMPLING_H

#include "bench/row/job.h"

enum {
    TURNS_LEAST = 3,      /* turns of a program, also beyond the budget */
    SAMPLES_WANTED = 200, /* of all turns; more would not narrow the interval, which is by turns */
    BLOCK_LEAST = 20,     /* samples of a turn that its time does not limit */
};

/* A program or encoding in a turn. */
struct block_plan {
    bool wanted;
    double seconds; /* for the block */
    int runs;       /* exactly; 0: by the time */
    bool is_long;   /* a run takes longer than a warm-up: it is left out */
};

struct turn_plan {
    bool first;
    bool later; /* what can be left out for lack of time is measured */
    struct block_plan block[TIMED];
};

/* For how long a program warms up in a turn unless --warmup is given. */
double sampling_warm_seconds(const struct device_choice *d, bool first);

/* What sampling_turn and encode need; no run begins after the deadline (clock time). */
struct sampling sampling_rule(const struct job *job, const struct turn_plan *plan, size_t timed,
                              double deadline);

/* Takes the turn of a loaded program and adds it to the samples. */
void sampling_turn(const struct job *job, const struct turn_plan *plan, enum program_kind kind,
                   const struct recording *r, double deadline, struct samples *samples);

void sampling_warn(const struct samples *s, const struct states *states, const struct subject *subject);

#endif
