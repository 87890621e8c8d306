/*
 * An old build and this one in turns: the way to see small differences on a machine that is not quiet.
 *
 * Both run the whole sweep ROUNDS times, in processes of their own, each round in the other order (old, new;
 * new, old), so that what drifts in the machine lies on both. A round gives every program of every row one
 * ratio, new over old, of medians; the verdict is on the median of these ratios and its interval by ranks.
 */
#ifndef GTMARK_BENCH_AGAINST_H
#define GTMARK_BENCH_AGAINST_H

#include "bench/options.h"

enum { AGAINST_ROUNDS = 10 };

/* A difference smaller than this does not count, however certain: of other alignments of the same code, for
 * example. */
#define AGAINST_MARGIN 0.03

struct against_verdict {
    double ratio, low, high; /* median of the ratios, and its 95 % interval */
    bool slower, faster;     /* the interval does not hold 1, and the ratio is beyond the margin */
};

/* ratios[AGAINST_ROUNDS], new over old. */
struct against_verdict against_judge(const double *ratios);

/* Whether there is such a binary, and nothing is asked for that this comparison does not do. */
bool against_possible(const struct options *o, struct message *error);

/*
 * Compares the binary o->against with the one that runs, over the sweep of the command line, and prints a
 * line for each program of each row. slower: how many are. False with a message if a run failed, or the rows
 * of the two are not the same work.
 */
bool against(const struct options *o, int argc, char **argv, int *slower, struct message *error);

#endif
