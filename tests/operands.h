/*
 * Random operands for any op, built from its metadata, with traps around them.
 *
 * Every matrix stands alone in a block of memory: guard elements, rows of ld >= cols, guard elements. All
 * bytes that are no element, and every output before it is written, are 0xff (a NaN), so that a kernel that
 * reads them shows in its results and one that writes them is found. Values depend on seed and operand name
 * alone, so operands of one name are equal in an op, in its backward, and in any dtype up to rounding. What a
 * backward op gets from its forward (y, pre, stats, lse) comes from running the forward in double. Edges are
 * directed, some of them loops or repeated, and every third node has none.
 */
#ifndef GTMARK_TESTS_OPERANDS_H
#define GTMARK_TESTS_OPERANDS_H

#include "kernels/backend.h"

enum { OPERANDS_MAX = 16 };

/* What to build. Bit i of absent and acc speaks of operand i of the op; only optional ones are left out. */
struct sample {
    enum op op;
    int64_t dims[DIMS]; /* B <= N; H divides D where heads matter; P is found from N, B and the seed */
    int act;
    uint64_t seed;
    unsigned absent, acc;
    int64_t pad; /* ld - cols, and a part of the guard's size */
};

struct operand_block {
    unsigned char *bytes;
    size_t size;
};

struct operands {
    struct sample sample;
    enum dtype dtype;
    union any_args args;
    struct operand_block blocks[OPERANDS_MAX]; /* of operand i; no bytes where it is no present matrix */
};

/*
 * Null where the binder refuses the sample (an activation without pre) or no output is left: whoever goes
 * through cases sees to it that some are left. A size that the sample does not give is a mistake in the test:
 * abort.
 */
struct operands *operands_new(const struct sample *s, enum dtype dtype);

/* The same operands in another dtype (rounded) and with other padding. */
struct operands *operands_copy(const struct operands *from, enum dtype dtype, int64_t pad);

void operands_free(struct operands *o);

/* Runs a kernel on some threads and rows (row1 = 0: all). Scratch starts as NaN; false if it was overrun. */
bool operands_run(struct operands *o, const struct kernel *k, int threads, int64_t row0, int64_t row1);

/* Whether every byte that is no element is as it was made. */
bool operands_guarded(const struct operands *o);

/* The matrix of the operand of that name; rows = 0 if absent. */
struct mat operand_of(const struct operands *o, const char *name);

/* The 2-norm. */
double mat_norm(struct mat m);

/*
 * The largest error of all outputs over its limit: outputs 1e-5, gradients 1e-4 in float, 1e-11 in double;
 * *worst is the operand's name. |a - r| / max(|r|, 1e-2 |g| sqrt(n / n_all)), where for gradients g is all of
 * the op's gradients together, and for outputs g is r.
 */
double operands_error(const struct operands *ours, const struct operands *oracle, const char **worst);

/* Every output, element by element. */
bool operands_same_bits(const struct operands *a, const struct operands *b);

/*
 * Fills cases with variations of a sample: every activation, every choice of absent operands, accumulation on
 * none and all of the outputs; or, unless `all`, every activation and accumulation with nothing absent. Some
 * may be refused by operands_new. Returns how many.
 */
enum { CASES_MAX = 256 };
int operands_cases(const struct sample *base, bool all, struct sample cases[CASES_MAX]);

/* Whether an environment variable is set and not 0. */
bool env_set(const char *name);

#endif
