/*
 * A backend is a table of kernels on top of another backend's: the reference defines every op, fast kernels
 * override it.
 */
#ifndef GTMARK_KERNELS_BACKEND_H
#define GTMARK_KERNELS_BACKEND_H

#include "kernels/fault.h"
#include "kernels/ops.h"

/*
 * One implementation of an op. `run` takes the op's argument struct; operands are bound and have data.
 * `scratch` returns the bytes that call.scratch must have (64-byte aligned) for these arguments and
 * call.threads, without reading data; null means none. Some device kernels query a library through
 * call.context; without a context they omit its part. Kernels know no tape, no clock and no allocation.
 * Results do not depend on call.threads.
 */
struct kernel {
    enum op op;
    const char *variant;
    enum dtype dtype; /* of operands whose type ops.def leaves open */
    int bits;         /* significant bits of operands in products (TYPE_..., mat.h) */
    void (*run)(const void *args);
    int64_t (*scratch)(const void *args);
    /*
     * On a device: computes what depends on the shapes and graphs alone, once before the first run. The
     * results stay in the scratch buffer, which only calls with the same shapes and graphs share. Null: none.
     */
    void (*prepare)(const void *args);
    /* Whether it computes the op with arguments that have these options (op_options). Null: with any. */
    bool (*supports)(unsigned options);
};

/* Properties reported by a device. */
struct device_facts {
    char name[128], bus[32]; /* PCI, as 0000:65:00.0 */
    int multiprocessors, major, minor;
    int64_t memory, l2;         /* bytes; l2: the cache shared by the whole device, 0: not reported */
    double clock, memory_clock; /* maximum, in Hz; 0: not reported */
    int runtime, driver;        /* versions of CUDA, 1000 major + 10 minor */
    int blas, blas_lt, sparse;  /* versions of the libraries, in their own numbering */
};

/* A launch of device code, as a profiler sees it. */
struct launched {
    int number; /* of what launched it (kernels_of) */
    double seconds;
    char name[256];
};

enum run_part { RUN_WHOLE, RUN_DATA, RUN_PARAMETERS };
enum { DEVICE_STREAMS = 3 };

/*
 * Where kernels run, if not on the host: memory, order of execution and time. `open` takes a device index and
 * returns its context, or null with a message; every kernel call passes the context on. Work is launched
 * asynchronously and runs in order; write, read and wait return when all previously launched work is
 * complete.
 */
struct device {
    int64_t alignment;                            /* bytes, of scratch and of allocations */
    int64_t beside;                               /* bytes that it takes at least beside an arena */
    double per_entry;                             /* seconds that an entry takes at least in a captured run */
    int (*count)(char *error, size_t error_size); /* 0 with a message: none, and why */
    bool (*facts)(int index, struct device_facts *f);
    void *(*open)(int index, char *error, size_t error_size);
    void (*close)(void *context);
    void *(*allocate)(void *context, int64_t bytes); /* null: out of memory, or a fault */
    void (*release)(void *context, void *memory);
    void (*write)(void *context, void *to, const void *from, int64_t bytes);
    void (*read)(void *context, void *to, const void *from, int64_t bytes);
    /* Zero-fills, asynchronously, like a kernel. */
    void (*clear)(void *context, void *memory, int64_t bytes);
    void (*wait)(void *context);
    int64_t (*available)(void *context); /* bytes that programs may allocate */
    int64_t (*taken)(void *context);     /* bytes in use by any process */
    /*
     * While set, kernel calls load the code that they need and launch nothing; data may be null. Null: no
     * code is loaded.
     */
    void (*load_only)(void *context, bool only);
    /* The stream of all launches, for kernels of others; null while nothing may be launched. */
    void *(*stream)(void *context);
    /*
     * What failed since `recover`, to be looked at before any value is believed: from then on nothing is
     * launched or allocated, reads give zeros and times NAN. `recover` forgets it, unless the device is lost.
     */
    struct fault (*fault)(void *context);
    void (*recover)(void *context);
    /* Points in time in the order of execution; `seconds` between two of them, after a wait. */
    void *(*event_new)(void *context);
    void (*event_free)(void *context, void *event);
    void (*event_record)(void *context, void *event);
    double (*seconds)(void *context, void *from, void *to);
    /*
     * Work launched between begin and end is not run, but captured as a graph that can be launched as a
     * whole; null after a fault.
     */
    void (*capture_begin)(void *context);
    void *(*capture_end)(void *context);
    /*
     * In between, what is launched next goes to one of DEVICE_STREAMS, each in order, and waits until an
     * event of another has passed. The first is the stream of `begin`, and must wait for all that others
     * have. `tied`: kernels that are launched on the first alone. Null: there is one stream. `part`, of
     * linear_backward: dx, or then, with its scratch, dw and db.
     */
    bool (*tied)(const struct kernel *k);
    void (*use_stream)(void *context, int stream, enum run_part part);
    void (*event_await)(void *context, void *event);
    void (*launch)(void *context, void *graph);
    void (*graph_free)(void *context, void *graph);
    /* Page-locked host memory, which the device accesses directly; null: none available. */
    void *(*host_allocate)(void *context, int64_t bytes);
    void (*host_release)(void *context, void *memory);
    /*
     * Tells what kernels used, since this was called last, of what was chosen by timing (`tell` may be null);
     * or what was timed since then, as lines, which `recall` gives to a later run on the same device with the
     * same version of the library. Null: nothing is.
     */
    void (*choices)(void *context, bool lines, void (*tell)(void *to, const char *text), void *to);
    void (*recall)(void *context, const char *line);
    /* Nested ranges for a profiler. `traced`: whether one is attached. Names are copied. */
    bool (*traced)(void *context);
    void (*range_push)(void *context, const char *name);
    void (*range_pop)(void *context);
    /*
     * What is launched between begin and end, in order of launch, allocated; `of` numbers what comes next.
     * begin returns false, and why, where that cannot be seen; null: never.
     */
    bool (*kernels_begin)(void *context, char *why, size_t size);
    void (*kernels_of)(void *context, int number);
    struct launched *(*kernels_end)(void *context, int *count);
};

/* The first row of an op is its default; an op without a row falls back to `base`. */
struct backend {
    const char *name, *doc;
    const struct kernel *kernels;
    int count;
    const struct backend *base;
    const struct device *device; /* null: the host */
    int head_most;               /* maximum columns of a head for `attention`; 0: no limit */
    const unsigned char *needs;  /* instructions that the processor must have (kernels/cpu); null: none */
};

/* Scalar loops in float (F32) and double (F64), the definition of every op. */
extern const struct backend backend_ref;

/*
 * ref's loops over a type that only counts: running a kernel computes nothing and accesses no operand's
 * memory except the offsets of graphs; ref_count_take returns the FLOPs, and the exps of ops.def, counted
 * since the last call. Not thread-safe.
 */
extern const struct backend backend_count;
struct ref_count {
    int64_t flops, exps;
};
struct ref_count ref_count_take(void);

/* The reference in double (F64) and float (F32), with its product-heavy ops on CBLAS, for checking whole
 * steps. */
extern const struct backend backend_oracle;

/* OpenMP, CBLAS and SIMD, compiled for the best instruction set that this processor supports. */
const struct backend *backend_cpu(void);

/* The tables of all instruction sets that this processor and its system support, best first, terminated by
 * null; from the one on that GTMARK_ISA names, if it is among them. */
const struct backend *const *backend_cpu_all(void);

/*
 * NVIDIA GPUs: float kernels, but not for every op, and no backend below. Returns null, with a message, if
 * this build has none or its library cannot be opened. The table works without a GPU: programs whose ops it
 * has can be recorded and planned.
 */
const struct backend *backend_cuda(char *error, size_t error_size);

/*
 * Plans for such a GPU without that library: it is taken to have every op, none of which has scratch or can
 * run.
 */
extern const struct backend backend_cuda_plan;

/* The row for an op and a dtype (DTYPE_NONE: any); variant null: the default. Returns null if there is none.
 */
const struct kernel *backend_kernel(const struct backend *b, enum op op, enum dtype dtype,
                                    const char *variant);

/* The same for a form of the op, of rows that support it. */
const struct kernel *backend_form_kernel(const struct backend *b, enum op op, unsigned options,
                                         enum dtype dtype, const char *variant);

/*
 * The same, of ops with factors (ops.def) a row whose products know this many bits of them, if there is one;
 * 0: any.
 */
const struct kernel *backend_bits_kernel(const struct backend *b, enum op op, unsigned options,
                                         enum dtype dtype, int bits, const char *variant);

bool kernel_supports(const struct kernel *k, unsigned options);

/*
 * The factor on the f32 error limits: 1, but 100 with the 11 bits of TF32, and a factor of two for each bit
 * less, where not we round (converted.h). An output in BF16 may have the error of one rounding beside.
 */
double kernel_allowance(const struct kernel *k);

/* What may be added to these limits: the rounding of factors that the kernel itself computes, in BF16. */
double kernel_rounding(const struct kernel *k);

#endif
