/*
 * Data races of the kernels for the CPU: each row of the baseline runs on three threads, with its loads and
 * stores watched by ThreadSanitizer, which learns of OpenMP's barriers from archer (Atzeni et al., "ARCHER:
 * effectively spotting data races in large OpenMP applications", 2016). A race is found if no barrier orders
 * two accesses, whichever came first in this run.
 */
#include "bench/audit/operands.h"
#include "tests/test.h"

#include <omp.h>

static int reports;

/* ThreadSanitizer calls the first for each race, whose text it prints, and must not watch it. */
void __tsan_on_report(void *report);
__attribute__((no_sanitize("thread"))) void __tsan_on_report(void *report)
{
    (void)report;
    reports++;
}

/* Its options: what was compiled without it, as OpenMP's library, reports nothing. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "exitcode=0:ignore_noninstrumented_modules=1";
}

/* Sizes in the order of enum dim. Graphs of several blocks, rows for all threads; hubs of hundreds of edges,
 * which are cut into pieces, for wide and narrow rows. */
static const int64_t shapes[][DIMS] = {
    {1, 2, 103, 9, 48, 12, 70, 300, 0}, {1, 2, 40, 3, 252, 4, 2, 150, 0},   {1, 2, 1087, 3, 8, 1, 3, 9, 0},
    {1, 2, 9, 3, 20, 2, 2, 2400, 0},    {1, 2, 300, 129, 5, 1, 2, 1200, 0},
};

static bool run_row(const struct kernel *k, const struct sample *s)
{
    struct operands *o = operands_new(s, k->dtype);
    if (o)
        assert_true(operands_run(o, k, 3, 0, 0));
    operands_free(o);
    return o != NULL;
}

static void test_row(void **state)
{
    static struct sample cases[CASES_MAX];
    const struct kernel *k = *(const struct kernel **)*state;
    int before = reports, runs = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct sample base = {.op = k->op, .seed = i + 1, .pad = (int64_t)i % 4};
        for (int d = 0; d < DIMS; d++)
            base.dims[d] = shapes[i][d];
        int count = operands_cases(&base, false, cases);
        for (int c = 0; c < count; c++)
            runs += run_row(k, &cases[c]);
    }
    assert_true(runs > 0);
    if (reports > before)
        fail_msg("%s %s: %d data races", op_info(k->op)->name, k->variant, reports - before);
}

/* Sums of what other threads may have written, after a barrier unless it races. */
static int reports_of_loops(bool races)
{
    enum { COUNT = 64 };
    int first[COUNT] = {0}, second[COUNT] = {0}, before = reports;
#pragma omp parallel num_threads(3)
    {
#pragma omp for schedule(static) nowait
        for (int i = 0; i < COUNT; i++)
            first[i] = i;
        if (!races) {
#pragma omp barrier
        }
#pragma omp for schedule(static) nowait
        for (int i = 0; i < COUNT; i++)
            second[i] = first[i] + first[COUNT - 1 - i];
    }
    assert_true(second[1] >= 0);
    return reports - before;
}

static void test_planted(void **state)
{
    (void)state;
    assert_int_equal(reports_of_loops(false), 0);
    assert_true(reports_of_loops(true) > 0);
}

int main(void)
{
    const struct backend *const *all = backend_cpu_all(), *b;
    do
        b = *all++;
    while (*all);
    struct CMUnitTest *tests = calloc((size_t)b->count + 1, sizeof *tests);
    const struct kernel **rows = calloc((size_t)b->count, sizeof *rows);
    if (!tests || !rows)
        abort();
    tests[0] = (struct CMUnitTest)cmocka_unit_test(test_planted);
    for (int i = 0; i < b->count; i++) {
        rows[i] = &b->kernels[i];
        if (rows[i]->dtype != BF16 &&
            rows[i]->bits >= 24) /* those convert, and run these; cmocka skips them */
            tests[i + 1] = (struct CMUnitTest){op_info(rows[i]->op)->name, test_row, NULL, NULL, &rows[i]};
    }
    int failed = _cmocka_run_group_tests("races", tests, (size_t)b->count + 1, NULL, NULL);
    free(rows);
    free(tests);
    return failed;
}
