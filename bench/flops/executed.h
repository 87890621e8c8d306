/*
 * The FLOPs that one run of a program, or one computation of an encoding, really executes, measured and not
 * computed: by hardware counters, or by running each distinct entry of the tape in another process of this
 * binary under valgrind, which counts how often each instruction is executed, times the FLOPs of the
 * instruction.
 */
#ifndef GTMARK_BENCH_EXECUTED_H
#define GTMARK_BENCH_EXECUTED_H

#include "bench/flops/counters.h"
#include "bench/flops/disassembly.h"
#include "graphs/batch.h"
#include "models/encodings/encoding.h"
#include "models/tape/tape.h"

/* --- runs this program again under callgrind and reads what each call of a function executed */

struct valgrind_run {
    const char *const *arguments; /* of this program, null-terminated, without its name */
    const char *function;         /* counted with everything it calls in the same thread */
    int calls;                    /* of the function, each a profile; further ones are ignored */
    const char *directory;        /* for files */
    double seconds;               /* the child is killed after this time */
    bool base;                    /* only instructions that any x86-64 has, instead of up to AVX2 */
};

/* Waits for the child to end. False with a message, also if there were fewer calls. */
bool valgrind_executions(const struct valgrind_run *run, struct executions *out, struct message *error);

/* COUNT_VALGRIND counts the instruction set closest to the timed one that valgrind knows (AVX2), COUNT_BASE
 * that of any x86-64, which is 18 times faster. COUNT_AUTO: counters, or COUNT_BASE where there are none. */
enum count_mode { COUNT_AUTO, COUNT_COUNTERS, COUNT_VALGRIND, COUNT_BASE, COUNT_OFF };

/* Encodings, and entries not yet counted of a program, with more analytic FLOPs are not run under valgrind;
 * its process is killed after this many seconds, or when less is left. */
static const int64_t executed_flops_max = 3000000000, executed_base_flops_max = 12000000000;
static const double executed_seconds_max = 300;

struct executed {
    int64_t flops;
    char source[128]; /* method, instruction set, threads; and those of the timed runs if they differ */
    const char *isa;  /* of the counted run: base, avx2, avx512 */
    int threads;      /* of the counted run */
    const char *differences; /* between the counted and the timed runs; empty: none */
};

/* How to count, and what the timed runs were. */
struct executed_request {
    enum count_mode mode;
    const struct counters *counters; /* null if the machine has none; `no_counters` says why */
    const char *no_counters;
    struct counted_entries *entries; /* counted so far; more are added */
    const struct backend *backend;
    int threads;
    double seconds; /* for valgrind */
};

/* Of a tape, laid out and initialised, which is run once more. False with a message that says why. */
bool executed_by_tape(const struct executed_request *r, struct tape *t, struct executed *out,
                      struct message *error);

/* Of an encoding with these analytic FLOPs. False with a message that says why. */
bool executed_by_encoding(const struct executed_request *r, const struct encoding_config *pe,
                          const struct batch *b, int64_t flops, struct executed *out, struct message *error);

bool executed_by_valgrind(const struct valgrind_run *run, struct executed_flops *out, struct message *error);

/* What entries of tapes executed, each distinct one counted once: op, kernel, shapes, attributes, contents of
 * indices, and the alignment of operands. */

struct counted_entry {
    uint64_t key;
    struct executed_flops executed;
};

/* Zero is an empty list. */
struct counted_entries {
    struct counted_entry *list;
    int count;
};

/* A hash of everything on which the number of operations of an entry depends; its operands must hold what
 * they hold when it runs. Entries with the same key run the same instructions equally often. */
uint64_t entry_key(const struct entry *e);

/* The index of a key; a new one is added. */
int counted_entry(struct counted_entries *c, uint64_t key);

void counted_entries_free(struct counted_entries *c);

#endif
