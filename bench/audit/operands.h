/*
 * Random operands for any op, built from its metadata, with guards around them.
 *
 * Every matrix has a block of memory of its own: guard elements, rows with ld >= cols, guard elements. All
 * bytes outside elements, and every output before it is written, are 0xff (a NaN), so reads of them show in
 * the results and writes are detected. Values depend on seed and operand name only, so operands of the same
 * name are equal in an op, in its backward, and in any dtype up to rounding. Results of the forward that a
 * backward op reads (y, pre, stats, lse) come from running the forward in double. Edges are directed, some of
 * them loops or duplicates, and every third node has none.
 */
#ifndef GTMARK_BENCH_OPERANDS_H
#define GTMARK_BENCH_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/backend.h"

/* --- memory between two pages that nobody may access */

/* Where accesses outside are noticed at once: nowhere, after the last byte, before the first. */
enum guard { GUARD_NONE, GUARD_AFTER, GUARD_BEFORE };

struct guarded {
    void *bytes;          /* aligned to `unit` */
    unsigned char *pages; /* with the two */
    size_t size;          /* of pages */
};

/* `size` bytes, of which those that fill pages up stand away from the guard. Out of memory: abort. */
struct guarded guarded_new(size_t size, size_t unit, enum guard guard);

/* From now on: may be read, but not written; may not be accessed. */
void guarded_freeze(struct guarded g);
void guarded_close(struct guarded g);

void guarded_free(struct guarded g);

bool guarded_has(struct guarded g, const void *address);

/* What to build. Bit i of absent and acc refers to operand i of the op; only optional ones can be absent. */
struct sample {
    enum op op;
    int64_t
        dims[DIMS]; /* B <= N; H divides D where heads are used; P, C and F follow from these and the seed */
    int act;        /* or features, of an op that has them */
    bool smooth;    /* attributes with which outputs do not depend on what counts as constant in gradients */
    int bits;       /* significant bits of random values; 0: all of the type */
    uint64_t seed;
    unsigned absent, acc;
    int64_t pad;      /* ld - cols, and part of the guard's size */
    enum guard guard; /* pages in place of the guard elements */
};

/* Awkward shapes: sizes in the order of enum dim, 1, 2, N, M, D, H, B, E; the others follow. */
struct operands_shape {
    int64_t dims[DIMS];
    bool small, all; /* takes no time; with every choice of absent operands */
    uint64_t seed;   /* of its operands; 0 past the last */
};
extern const struct operands_shape operands_shapes[];

struct operand_block {
    unsigned char *bytes;
    size_t size;
    struct guarded pages;
};

struct operands {
    struct sample sample;
    enum dtype dtype;
    union any_args args;
    struct operand_block blocks[OPERANDS_MAX]; /* of operand i; empty unless it is a present matrix */
    struct guarded scratch, closed;            /* with guard pages: of this call, of the one before */
    double rounding;                           /* of the kernel that ran (kernel_rounding) */
};

/*
 * Null if the binder refuses the sample (an activation without pre) or no output is left: callers that loop
 * over cases must check that some remain. A size that the sample does not define is an error of the caller:
 * abort.
 */
struct operands *operands_new(const struct sample *s, enum dtype dtype);

/* The same operands in another dtype (rounded) and with other padding. */
struct operands *operands_copy(const struct operands *from, enum dtype dtype, int64_t pad);

void operands_free(struct operands *o);

/*
 * Runs a kernel with this number of threads on these rows (row1 = 0: all). Scratch starts as NaN; returns
 * false if it was overrun. With guard pages inputs cannot be written, nor the scratch accessed after the run.
 */
bool operands_run(struct operands *o, const struct kernel *k, int threads, int64_t row0, int64_t row1);

/* Whether all bytes outside elements are unchanged. */
bool operands_guarded(const struct operands *o);

/* The first output that is there, or the next one; null past the last. */
const struct operand *operands_output(const struct operands *o, const struct operand *after);

/* Whether a sample may leave an operand out. */
static inline bool operand_optional(const struct operand *p)
{
    return p->role == ROLE_GRAD || p->role == ROLE_SAVE || p->role == ROLE_OPT || p->option;
}

/* The matrix of the operand with this name; rows = 0 if absent. */
struct mat operand_of(const struct operands *o, const char *name);

double mat_norm(struct mat m); /* the 2-norm */

/*
 * The largest error of all outputs relative to its limit: outputs 1e-5 (of one number, a sum of up to N M
 * terms, 1.2e-7 sqrt(N M) if that is more), gradients 1e-4 in float, 1e-11 in double, one rounding more in
 * BF16, and what kernel_rounding says, but of lse; *worst is the operand's name. The error is |a - r| / |r|,
 * for gradients |a - r| / max(|r|, s |g| sqrt(n / n_all)): g is all of the op's gradients that have a row per
 * node, or all others, which are sums over N terms; s is 1e-2, for sums of N > 31 terms 1.8e-3 sqrt(N), as
 * their rounding errors grow.
 */
double operands_error(const struct operands *ours, const struct operands *reference, const char **worst);

bool operands_same_bits(const struct operands *a, const struct operands *b);

/*
 * Fills cases with variations of a sample: every form of the op, every activation or kind of features,
 * accumulation on none and all of the outputs, and if `all`, every choice of other absent operands.
 * operands_new may refuse some. Returns the number of cases.
 */
enum { CASES_MAX = 256 };
int operands_cases(const struct sample *base, bool all, struct sample cases[CASES_MAX]);

/* For `absent` of a sample: the operands of an op that belong to other options than these. */
unsigned operands_without(enum op op, unsigned options);

/* For operands.c: the sizes that follow from those of a sample; values of operands that have shapes and
 * memory; the same entries, rounded to another dtype. */
void operands_sizes(struct sample *s);
void operands_fill(struct operands *o);
void operands_copy_entries(struct mat to, struct mat from);

/* --- on a device */

/* An open device, or why there is none. */
struct opened_device {
    const struct backend *backend;
    void *context; /* null: none */
    char why[256];
};

struct opened_device operands_device(void);
void operands_device_close(struct opened_device *d);

/*
 * Runs a kernel on copies of the operands, including guards, in device memory, and copies everything back.
 * `aligned`: the first element of every matrix has the device's alignment; otherwise it is offset from it.
 * Scratch starts as NaN; returns false if it was overrun. A fault of the device ends the program with a line.
 */
bool operands_run_on(struct operands *o, const struct kernel *k, const struct opened_device *d, bool aligned);

#endif
