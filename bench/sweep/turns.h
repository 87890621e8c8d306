/* Which programs of a row take part in a turn of the sweep, and for how long. */
#ifndef GTMARK_BENCH_TURNS_H
#define GTMARK_BENCH_TURNS_H

#include "bench/row/row.h"

/* A program or encoding of a row. */
struct slot {
    bool is_wanted;
    double share;  /* seconds of the budget, as planned */
    double block;  /* of it for the next turn, as time is left */
    double earned; /* for all turns so far */
    double call;   /* of a run, seconds: measured, or a lower bound; 0: unknown */
    double spent;  /* seconds of all turns, without warm-up */
    int turns, reported;
};

/* Updates a slot after a turn, given the states of the machine. */
void slot_learn(struct slot *s, const struct measurement *m, size_t timed, const struct states *states);

/*
 * The block of a slot in a turn, counted from 0. A run that is longer than its block takes part in fewer
 * turns, and all do where no time is left; at least in TURNS_LEAST (an encoding only within three times its
 * share). With --runs the runs are divided over the turns.
 */
struct block_plan slot_plan(const struct slot *s, const struct sampling_options *o, int turn,
                            bool is_encoding);

/*
 * After the planned turns: whether fewer than REPORTED_MIN turns are in one state, and those that are missing
 * fit into half of the seconds that are left, so that a long program does not take them from all short ones.
 * False if the options allow no such number.
 */
bool slot_lacks_turns(const struct slot *s, const struct sampling_options *o, double left);

#endif
