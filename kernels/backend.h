/*
 * A backend is a table of kernels above another backend's: the reference is the definition, fast rows
 * override it.
 */
#ifndef GTMARK_KERNELS_BACKEND_H
#define GTMARK_KERNELS_BACKEND_H

#include "kernels/ops.h"

/*
 * One implementation of an op. `run` takes the op's argument struct; operands are bound and laid out.
 * `scratch` says how many bytes call.scratch must hold (64-byte aligned) for these arguments and
 * call.threads; null means none. Kernels know no tape, no clock and no allocation. Results do not depend on
 * call.threads.
 */
struct kernel {
    enum op op;
    const char *variant;
    enum dtype dtype;
    void (*run)(const void *args);
    int64_t (*scratch)(const void *args);
};

/* The first row of an op is its default; an op without a row is taken from `base`. */
struct backend {
    const char *name, *doc;
    const struct kernel *kernels;
    int count;
    const struct backend *base;
};

/* Scalar loops in float (F32) and double (F64), the definition of every op. */
extern const struct backend backend_ref;

/*
 * ref's loops over a type that only counts: running a kernel computes nothing and touches no operand's memory
 * but the offsets of graphs, and ref_count_take returns the FLOPs counted since the last call. Not for
 * several threads at once.
 */
extern const struct backend backend_count;
int64_t ref_count_take(void);

/* The reference in double, its product-heavy ops on CBLAS: what a whole step can be checked against. */
extern const struct backend backend_oracle;

/* OpenMP, CBLAS and SIMD, built for the best instruction set that this processor has. */
const struct backend *backend_cpu(void);

/* The tables of each instruction set that this processor can run, the best first; null ends the list. */
const struct backend *const *backend_cpu_all(void);

/* The row for an op; variant null means the default. Null if there is none. */
const struct kernel *backend_kernel(const struct backend *b, enum op op, enum dtype dtype,
                                    const char *variant);

#endif
