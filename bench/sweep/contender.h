/* A kernel of others, timed in turns with ours: is it faster, by how much, and from which size on? */
#ifndef GTMARK_BENCH_CONTENDER_H
#define GTMARK_BENCH_CONTENDER_H

#include "analysis/record/value.h"
#include "bench/base/message.h"
#include "kernels/ops.h"

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
