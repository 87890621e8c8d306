/*
 * An old build and this one in turns: the way to see small differences on a machine that is not quiet.
 *
 * Both run the whole sweep ROUNDS times, in processes of their own, each round in the other order (old, new;
 * new, old), so that what drifts in the machine lies on both. A round gives every program of every row one
 * ratio, new over old, of medians; the verdict is on the median of these ratios and its interval by ranks.
 * Where something is slower, ROUNDS more are run, and it is slower only if they say so too.
 */
#ifndef GTMARK_BENCH_AGAINST_H
#define GTMARK_BENCH_AGAINST_H

#include "analysis/compare/verdict.h"
#include "bench/cli/options.h"

enum { AGAINST_ROUNDS = 40, AGAINST_ROUNDS_MAX = 2 * AGAINST_ROUNDS };

/* A difference smaller than this does not count, however certain: of other alignments of the same code, for
 * example. */
#define AGAINST_MARGIN 0.03

/* ratios[rounds], new over old; AGAINST_ROUNDS of them, or AGAINST_ROUNDS_MAX with those that confirm. Slower
 * or faster where the interval excludes 1 and the ratio is beyond the margin, else unclear. */
struct verdict against_judge(const double *ratios, size_t rounds);

/* Whether there is such a binary, and nothing is asked for that this comparison does not do. */
bool against_possible(const struct options *o, struct message *error);

/*
 * Compares the binary o->against with the one that runs, over the sweep of the command line, and prints a
 * line for each program of each row. missed: how many are slower, or were not timed in every round. False
 * with a message if a run failed, or the rows of the two are not the same work.
 */
bool against(const struct options *o, int argc, char **argv, int *missed, struct message *error);

#endif
