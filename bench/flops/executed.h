/*
 * The FLOPs that one run of a program really executes, measured and not computed: by hardware counters, or by
 * running this binary again under valgrind, which counts how often each instruction is executed, times the
 * FLOPs of the instruction (opcodes.h).
 */
#ifndef GTMARK_BENCH_EXECUTED_H
#define GTMARK_BENCH_EXECUTED_H

#include "bench/flops/counters.h"
#include "bench/flops/disassembly.h"

struct tape;

enum count_mode { COUNT_AUTO, COUNT_COUNTERS, COUNT_VALGRIND, COUNT_OFF };

/* Programs with more analytic FLOPs are not run under valgrind; the others are killed after this many
 * seconds. */
static const int64_t executed_flops_max = 3000000000;
static const double executed_seconds_max = 120;

struct executed {
    int64_t flops;
    char source[128]; /* method, instruction set, threads; and those of the timed runs if they differ */
};

struct executed_request {
    enum count_mode mode;
    const struct counters *counters; /* null if the machine has none; `no_counters` says why */
    const char *no_counters;
    struct tape *tape;             /* laid out and initialised; the counters count one more run of it */
    int threads;                   /* of the timed runs */
    int64_t analytic;              /* FLOPs; -1 beyond 63 bits */
    const struct backend *backend; /* of the timed runs */
    const char *const
        *arguments; /* of this program, null-terminated: for one run of the tape and nothing else */
};

/* False with a message that says why. */
bool executed_measure(const struct executed_request *r, struct executed *out, struct message *error);

/*
 * The FLOPs of the first call of a function, in the thread that calls it, when this program is run again
 * under valgrind with these arguments (null-terminated). The child is killed after `seconds`; its files go to
 * `directory`.
 */
bool executed_by_valgrind(const char *const *arguments, const char *function, const char *directory,
                          double seconds, struct executed_flops *out, struct message *error);

#endif
