/*
 * --against: runs an old build and this one in turns, which shows small differences on a noisy machine.
 *
 * First each of the two checks its results in a run of its own, unless --no-check is given: a row of this
 * build that is wrong is a miss, whatever its time.
 *
 * Both run the whole sweep AGAINST_ROUNDS times, each time in a process of its own, in alternating order
 * (old, new; new, old), so that a drift of the machine affects both. A round gives one ratio of medians, new
 * over old, for each program of each row. The verdict is on the median of these ratios and its interval by
 * ranks. If something is slower, as many rounds are run again, and it is slower only if they confirm it.
 */
#ifndef GTMARK_BENCH_AGAINST_H
#define GTMARK_BENCH_AGAINST_H

#include "analysis/record/record.h"
#include "analysis/record/row_range.h"
#include "analysis/record/value.h"
#include "bench/base/message.h"
#include "bench/cli/options.h"
#include "kernels/ops.h"

enum { AGAINST_ROUNDS = 40, AGAINST_ROUNDS_MAX = 2 * AGAINST_ROUNDS };

/* 3 %, since another alignment of the same code can cause less, and 5 %. */
extern const struct verdict_limits against_limits;

/* Judges ratios[rounds], new over old: AGAINST_ROUNDS, or AGAINST_ROUNDS_MAX with those that confirm. */
struct verdict against_judge(const double *ratios, size_t rounds);

/* Whether the binary is executable, and no flag excludes --against; false with a message. */
bool against_possible(const struct options *o, struct message *error);

/*
 * Compares the binary o->against with this one over the sweep of the command line, and prints the comparison.
 * missed: the misses of gate_pairs, and rows of this build that are wrong or unchecked or were not ok in
 * every round. False with a message if a run failed, or if no rows of the two do the same work.
 */
bool against(const struct options *o, int argc, char **argv, int *missed, struct message *error);

/* --- a kernel of others, timed in turns with ours: is it faster, by how much, and from which size on? */

struct contender {
    const char *library, *device, *variant;
    enum op op;
    const char *axis, *values; /* "nodes", "100-6400*4": as in flags */
    double budget;             /* seconds of samples */
    const char *file;          /* of the rows */
};

/* Runs bench_kernels for the op with the library, whose rows go to the file. Returns its exit status. */
int contender_measure(const struct contender *b);

/*
 * A line of the verdict. The check `times` is over our default kernel at one value of the axis, `crossover`
 * over one of our kernels along it. The verdict is that of verdict_name, "found" of a crossover, "fail" of
 * wrong results, "absent" of what has no time. Takes ownership of the figures.
 */
typedef void contender_say(void *context, const char *check, const char *verdict, const char *finding,
                           struct value *figures);

/* Says all that the rows of the file show. False with a message if it cannot be read. */
bool contender_judge(const struct contender *b, contender_say *say, void *context, struct message *error);

#endif
