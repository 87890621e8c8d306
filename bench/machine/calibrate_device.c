/*
 * The peak rates of a GPU: the best rates that ops of its backend reach, by the GPU's own clock. Arithmetic
 * is, in each precision, the largest product that takes a few milliseconds (`linear`, cublasLt's), of random
 * numbers: constants draw less power, and a GPU at its power limit then has higher clocks. Bandwidth is
 * that of fill, copy and add over working sets from a part of its cache to many times the cache. A rate is
 * that of the best of several repetitions, each long enough that launches do not matter.
 */

#include "bench/machine/calibration.h"

#include <math.h>

#include "kernels/arithmetic.h"

enum {
    SIDE_FIRST = 256,
    SIDE_LAST = 8192,
    REPETITIONS = 5,
    SWEEP_FIRST = 1 << 20, /* bytes */
    SWEEP_BEYOND = 16,     /* times the cache, */
    SWEEP_LEAST = 1 << 28, /* and so many bytes, at least */
    ROW = 1024,
};

/* What takes longer than the last, as on an emulated device, is not repeated, nor larger ones measured. */
static const double product_seconds = 2e-3, repetition_seconds = 1e-3, slow_seconds = 0.01;

struct measured {
    const struct device_choice *d;
    void *memory, *from, *to; /* on the device; events */
    int64_t bytes;
};

static struct mat part_in(enum dtype dtype, const struct measured *m, int64_t offset, int64_t rows,
                          int64_t cols)
{
    return (struct mat){(char *)m->memory + offset, rows, cols, cols, 0, 0, dtype, false};
}

static struct mat part_of(const struct measured *m, int64_t offset, int64_t rows, int64_t cols)
{
    return part_in(F32, m, offset, rows, cols);
}

/* Seconds of one of `count` calls of a kernel; NAN after a fault. */
static double seconds_of(const struct measured *m, const struct kernel *k, const void *args, int count)
{
    const struct device *device = m->d->backend->device;
    device->event_record(m->d->context, m->from);
    for (int i = 0; i < count; i++)
        k->run(args);
    device->event_record(m->d->context, m->to);
    device->wait(m->d->context);
    return device->seconds(m->d->context, m->from, m->to) / count;
}

/* The fewest seconds of a call, over repetitions of enough calls; the first call, which loads code, apart. */
static double best_of(const struct measured *m, const struct kernel *k, const void *args)
{
    double best = seconds_of(m, k, args, 1);
    best = seconds_of(m, k, args, 1);
    int count = best > 0 ? (int)fmin(1000, ceil(repetition_seconds / best)) : 1;
    for (int i = 0; i < REPETITIONS && best < slow_seconds; i++)
        best = fmin(best, seconds_of(m, k, args, count));
    return best;
}

static double best_of_op(const struct measured *m, enum op op, const void *args)
{
    return best_of(m, backend_kernel(m->d->backend, op, F32, NULL), args);
}

/* `fill` over the first bytes, which gives them values. */
static double best_fill(const struct measured *m, int64_t bytes)
{
    const struct fill_args fill = {.call = {.context = m->d->context, .threads = 1},
                                   .y = part_of(m, 0, bytes / (4 * ROW), ROW),
                                   .value = 1};
    return best_of_op(m, OP_fill, &fill);
}

/* Fills the first bytes with random numbers; without a kernel for these, with ones. */
static void draw(const struct measured *m, enum dtype dtype, int64_t bytes)
{
    const struct uniform_args a = {.call = {.context = m->d->context, .threads = 1},
                                   .y = part_in(dtype, m, 0, bytes / (int64_t)dtype_size(dtype) / ROW, ROW),
                                   .bound = 1};
    const struct kernel *k = backend_kernel(m->d->backend, OP_uniform, dtype, NULL);
    if (k)
        k->run(&a);
    else
        best_fill(m, bytes);
}

/* The kernel of `linear` of this type; null if there is none. */
static const struct kernel *product_of(const struct backend *b, enum dtype dtype, int bits)
{
    const struct kernel *k = b->kernels, *end = k + b->count;
    while (k < end && (k->op != OP_linear || k->dtype != dtype || k->bits != bits))
        k++;
    return k < end ? k : NULL;
}

/* GFLOP/s of the largest product that fits, up to the first above product_seconds; 0 without a kernel. */
static double best_product(const struct measured *m, enum dtype dtype, int bits)
{
    const struct kernel *k = product_of(m->d->backend, dtype, bits);
    double rate = 0, seconds = 0;
    for (int64_t n = SIDE_FIRST; k && n <= SIDE_LAST && seconds < product_seconds; n *= 2) {
        int64_t one = n * n * (int64_t)dtype_size(dtype);
        struct linear_args a = {.call = {.context = m->d->context, .threads = 1},
                                .y = part_in(dtype, m, 0, n, n),
                                .x = part_in(dtype, m, one, n, n),
                                .w = part_in(dtype, m, 2 * one, n, n)};
        a.call.scratch = (char *)m->memory + 3 * one;
        if (3 * one + (k->scratch ? k->scratch(&a) : 0) > m->bytes)
            break;
        draw(m, dtype, 3 * one);
        seconds = best_of(m, k, &a);
        rate = fmax(rate, 2e-9 * (double)n * (double)n * (double)n / seconds);
    }
    return rate;
}

static struct bandwidth best_bandwidth(const struct measured *m, int64_t bytes)
{
    const struct call call = {.context = m->d->context, .threads = 1};
    double filled = best_fill(m, bytes);
    int64_t half = bytes / 2 / (4 * ROW), third = bytes / 3 / (4 * ROW), at = third * 4 * ROW;
    struct copy_args copy = {
        .call = call, .y = part_of(m, 0, half, ROW), .x = part_of(m, half * 4 * ROW, half, ROW)};
    struct add_args add = {.call = call,
                           .y = part_of(m, 2 * at, third, ROW),
                           .a = part_of(m, 0, third, ROW),
                           .b = part_of(m, at, third, ROW)};
    double gb = 4e-9 * ROW, copied = 2 * gb * (double)half / best_of_op(m, OP_copy, &copy);
    return (struct bandwidth){.working_set = bytes,
                              .read = copied,
                              .write = 1e-9 * (double)bytes / filled,
                              .update = copied,
                              .triad = 3 * gb * (double)third / best_of_op(m, OP_add, &add)};
}

static void measure_device(const struct measured *m, const struct device_facts *f, struct calibration *c)
{
    c->peak = best_product(m, TYPE_f32);
    c->tf32 = best_product(m, TYPE_tf32);
    c->bf16 = best_product(m, TYPE_bf16);
    for (int64_t bytes = SWEEP_FIRST; bytes <= m->bytes && c->points < SWEEP_MOST; bytes *= 2) {
        struct bandwidth b = best_bandwidth(m, bytes);
        c->sweep[c->points++] = b;
        if (1e-9 * (double)bytes / b.triad > slow_seconds)
            break;
    }
    levels_find(c->level, c->sweep, c->points, f->l2, f->memory);
}

bool calibrate_device(const struct device_choice *d, int threads, struct calibration *c,
                      struct message *error)
{
    const struct device *device = d->backend->device;
    struct device_facts f = {0};
    bool known = device->facts(d->index, &f);
    *c = (struct calibration){.threads = threads, .memory = f.memory, .isa = "cuda"};
    snprintf(c->cpu, sizeof c->cpu, "%s", d->card);
    calibration_choices(d, false);
    utc_now(c->time);
    int64_t room = device->available(d->context) / 2, wanted = max_of(SWEEP_LEAST, SWEEP_BEYOND * f.l2);
    struct measured m = {.d = d, .bytes = min_of(wanted, room) / SWEEP_FIRST * SWEEP_FIRST};
    if (!known || m.bytes < 4 * SWEEP_FIRST)
        return complain(error, "calibration: no memory on %s", d->name);
    m.memory = device->allocate(d->context, m.bytes);
    m.from = device->event_new(d->context);
    m.to = device->event_new(d->context);
    if (m.memory) {
        measure_device(&m, &f, c);
    }
    struct fault fault = device->fault(d->context);
    device->event_free(d->context, m.from);
    device->event_free(d->context, m.to);
    if (m.memory)
        device->release(d->context, m.memory);
    device->recover(d->context);
    return (m.memory && !fault.kind) ||
           complain(error, "calibration: %s: %s", d->name, fault.kind ? fault.words : "out of memory");
}
