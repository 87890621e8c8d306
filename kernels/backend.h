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
 * call.threads, without looking at data; null means none. Of a device's kernels some ask a library, through
 * call.context; without one they leave its part out. Kernels know no tape, no clock and no allocation.
 * Results do not depend on call.threads.
 */
struct kernel {
    enum op op;
    const char *variant;
    enum dtype dtype;
    void (*run)(const void *args);
    int64_t (*scratch)(const void *args);
};

/* What a device says of itself. */
struct device_facts {
    char name[128], bus[32]; /* PCI, as 0000:65:00.0 */
    int multiprocessors, major, minor;
    int64_t memory, l2;         /* bytes; l2: the cache that all of it has, 0: not told */
    double clock, memory_clock; /* Hz, the highest; 0: not told */
    int runtime, driver;        /* versions of CUDA, 1000 major + 10 minor */
    int blas, blas_lt, sparse;  /* versions of the libraries, as they number themselves */
};

/*
 * Where kernels run, if not on the host: memory, order of work and time. `open` takes the index of a device
 * and gives its context, null with a line that says why; every call of a kernel carries it. Work is launched
 * and runs in order; write, read and wait return when all of it that was launched before has been done. What
 * fails on an open device, but for want of memory, is a message and abort.
 */
struct device {
    int64_t alignment;                            /* bytes, of scratch and of what is allocated */
    int (*count)(char *error, size_t error_size); /* 0 with a line: there is none, and why */
    bool (*facts)(int index, struct device_facts *f);
    void *(*open)(int index, char *error, size_t error_size);
    void (*close)(void *context);
    void *(*allocate)(void *context, int64_t bytes); /* null: there is not so much */
    void (*release)(void *context, void *memory);
    void (*write)(void *context, void *to, const void *from, int64_t bytes);
    void (*read)(void *context, void *to, const void *from, int64_t bytes);
    /* Zeros, launched like a kernel: does not wait. */
    void (*clear)(void *context, void *memory, int64_t bytes);
    void (*wait)(void *context);
    int64_t (*available)(void *context); /* bytes that can still be taken */
    int64_t (*taken)(void *context);     /* bytes that cannot, whoever has them */
    /* Points in time among what is launched; `seconds` between two of them after a wait. */
    void *(*event_new)(void *context);
    void (*event_free)(void *event);
    void (*event_record)(void *context, void *event);
    double (*seconds)(void *from, void *to);
    /* What is launched from begin to end does not run, but becomes a graph that can be launched as one. */
    void (*capture_begin)(void *context);
    void *(*capture_end)(void *context);
    void (*launch)(void *context, void *graph);
    void (*graph_free)(void *graph);
    /* Memory of the host that the device reads and writes by itself (page-locked); null: none to be had. */
    void *(*host_allocate)(void *context, int64_t bytes);
    void (*host_release)(void *context, void *memory);
    /* Nested ranges of launches for a tool to show, if one listens: `traced`. Names are copied. */
    bool (*traced)(void *context);
    void (*range_push)(void *context, const char *name);
    void (*range_pop)(void *context);
};

/* The first row of an op is its default; an op without a row is taken from `base`. */
struct backend {
    const char *name, *doc;
    const struct kernel *kernels;
    int count;
    const struct backend *base;
    const struct device *device; /* null: the host */
    int head_most;               /* columns of a head that `attention` can have; 0: any number */
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

/*
 * NVIDIA GPUs: kernels in float for every op but those of the host alone. Null with a line that says why
 * where this build has none, its library cannot be opened, or an op has no row. A table needs no GPU:
 * programs can be recorded and planned.
 */
const struct backend *backend_cuda(char *error, size_t error_size);

/* The row for an op; variant null means the default. Null if there is none. */
const struct kernel *backend_kernel(const struct backend *b, enum op op, enum dtype dtype,
                                    const char *variant);

/*
 * How many times the errors allowed in f32 a kernel's may be: 1, but for a variant "tf32", whose products
 * know their operands to 10 bits of mantissa.
 */
double kernel_allowance(const struct kernel *k);

#endif
