/*
 * What the GPU's kernels do with memory, by the counters of the emulated device, which executes them from
 * PTX: with operands that are aligned, they touch hardly more sectors of device memory than the bytes they
 * need, and have hardly any bank conflicts.
 *
 * GTMARK_COUNTERS=FILE writes instead what each op's kernels in f32 do at a usual size (make gpu-counters).
 */
#include "bench/audit/operands.h"
#include "tests/emulator/counters.h"
#include "tests/test.h"

#include <dlfcn.h>

enum { KERNELS_MOST = 64 };

typedef int counters_function(struct kernel_counters *list, int most);

struct counted_device {
    struct opened_device opened;
    counters_function *counters; /* null: this device counts nothing */
};

/* What the kernels of one op did. */
struct counted_op {
    struct kernel_counters kernels[KERNELS_MOST];
    int count;
    int64_t flops; /* by its formula */
};

static struct counted_device device_that_counts(void)
{
    struct counted_device d = {.opened = operands_device()};
    void *library = d.opened.context ? dlopen("libgtmark_cuda.so", RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library)
        d.counters = (counters_function *)dlsym(library, "emulated_counters");
    return d;
}

/* Runs the kernel of an op without options once, at these sizes. */
static struct counted_op count_op(const struct counted_device *d, const struct kernel *k,
                                  const int64_t dims[DIMS])
{
    struct counted_op c;
    struct sample s = {.op = k->op, .seed = 1, .act = ACT_GELU, .absent = operands_without(k->op, 0)};
    memcpy(s.dims, dims, sizeof s.dims);
    struct operands *exact = operands_new(&s, F64);
    if (!exact)
        fail_msg("%s: no operands could be made", op_info(k->op)->name);
    struct operands *o = operands_copy(exact, k->dtype, 0);
    operands_free(exact);
    d->counters(c.kernels, 0);
    operands_run_on(o, k, &d->opened, true);
    c.count = d->counters(c.kernels, KERNELS_MOST);
    c.flops = op_flops(k->op, &o->args);
    operands_free(o);
    return c;
}

static void expect_ratio(const struct kernel *k, const struct kernel_counters *c, const char *what,
                         int64_t is, int64_t least, double most)
{
    if ((double)is > most * (double)least)
        fail_msg("%s/%s: %lld %s, where %lld would do: %s", op_info(k->op)->name, k->variant, (long long)is,
                 what, (long long)least, c->name);
}

/* Senders, whose degrees gcn_weights reads, are anywhere; four labels of binary_cross_entropy are two loads.
 */
static double most_sectors(enum op op)
{
    bool labels = op == OP_binary_cross_entropy || op == OP_binary_cross_entropy_backward;
    return op == OP_gcn_weights ? 3 : labels ? 2 : 1.3;
}

static void test_memory_is_accessed_in_few_parts(void **state)
{
    const struct counted_device *d = *state;
    static const int64_t dims[DIMS] = {1, 2, 300, 64, 64, 4, 2, 900, 0};
    if (!d->counters)
        skip();
    for (int i = 0; i < d->opened.backend->count; i++) {
        const struct kernel *k = &d->opened.backend->kernels[i];
        struct counted_op c = count_op(d, k, dims);
        assert_true(c.count > 0);
        for (int n = 0; n < c.count; n++) {
            expect_ratio(k, &c.kernels[n], "sectors", c.kernels[n].sectors, c.kernels[n].fewest,
                         most_sectors(k->op));
            expect_ratio(k, &c.kernels[n], "passes", c.kernels[n].passes, c.kernels[n].least, 1.2);
        }
    }
}

/* A line for each kernel of an op: OP VARIANT FLOPS KERNEL, then the counters in their order. */
static void write_op(FILE *to, const struct kernel *k, const struct counted_op *c)
{
    for (int n = 0; n < c->count; n++) {
        const struct kernel_counters *one = &c->kernels[n];
        fprintf(to, "%s %s %lld %s %d %d %lld %lld %lld %lld %lld %lld %lld %lld %lld\n",
                op_info(k->op)->name, k->variant, (long long)c->flops, one->name, one->threads, one->shared,
                (long long)one->instructions, (long long)one->lanes, (long long)one->flops,
                (long long)one->wide, (long long)one->sectors, (long long)one->fewest, (long long)one->passes,
                (long long)one->least, (long long)one->products);
    }
}

static void test_counters_are_written(void **state)
{
    const struct counted_device *d = *state;
    static const int64_t dims[DIMS] = {1, 2, 500, 256, 256, 8, 1, 2500, 0}; /* as bench_kernels has */
    FILE *to = d->counters && env_set("GTMARK_COUNTERS") ? fopen(getenv("GTMARK_COUNTERS"), "w") : NULL;
    if (!to)
        skip();
    for (int dim = DIM_N; dim <= DIM_E; dim++)
        fprintf(to, "%s%s = %lld", dim == DIM_N ? "" : ", ", dim_name((enum dim)dim), (long long)dims[dim]);
    fputs("\n", to);
    for (int i = 0; i < d->opened.backend->count; i++) {
        const struct kernel *k = &d->opened.backend->kernels[i];
        if (k->dtype != F32)
            continue;
        struct counted_op c = count_op(d, k, dims);
        write_op(to, k, &c);
    }
    assert_int_equal(fclose(to), 0);
}

int main(void)
{
    setenv("GTMARK_PRODUCT_ALGORITHMS", "1", 1); /* what times decide would change what is counted */
    struct counted_device d = device_that_counts();
    const struct CMUnitTest tests[] = {
        {"memory is accessed in few parts", test_memory_is_accessed_in_few_parts, NULL, NULL, &d},
        {"counters are written", test_counters_are_written, NULL, NULL, &d},
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    operands_device_close(&d.opened);
    return failed;
}
