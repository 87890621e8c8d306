/*
 * The FLOPs that one run of a program really executes, measured, never computed: by the processor's counters,
 * or by running this binary again under valgrind, counting how often each instruction is executed, and
 * multiplying by the FLOPs of an instruction (opcodes.h).
 */
#ifndef GTMARK_BENCH_EXECUTED_H
#define GTMARK_BENCH_EXECUTED_H

#include "bench/flops/counters.h"
#include "bench/flops/disassembly.h"

struct tape;

enum count_mode { COUNT_AUTO, COUNT_COUNTERS, COUNT_VALGRIND, COUNT_OFF };

/* Programs of more analytic FLOPs are not run under valgrind; what is left is ended after so many seconds. */
static const int64_t executed_flops_max = 3000000000;
static const double executed_seconds_max = 120;

struct executed {
    int64_t flops;
    char source[128]; /* method, instruction set, threads; and those of the timed runs where they differ */
};

struct executed_request {
    enum count_mode mode;
    const struct counters *counters; /* null where the machine has none; then `no_counters` says why */
    const char *no_counters;
    struct tape *tape;             /* laid out and initialised; the counters count one more run of it */
    int threads;                   /* of the timed runs */
    int64_t analytic;              /* -1 beyond 63 bits */
    const struct backend *backend; /* of the timed runs */
    const char *const *arguments;  /* of this program, up to a null: one run of the tape and nothing else */
};

/* False with a message of why not: one line. */
bool executed_measure(const struct executed_request *r, struct executed *out, struct message *error);

/*
 * Of the first call of a function in this program, run again under valgrind with these arguments (null ends
 * them), in the thread that calls it. The child is ended after so many seconds; its files go to `directory`.
 */
bool executed_by_valgrind(const char *const *arguments, const char *function, const char *directory,
                          double seconds, struct executed_flops *out, struct message *error);

#endif
