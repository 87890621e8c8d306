/*
 * The benchmark on a GPU, from the command line to the record: samples, cold runs and launches, results
 * within the error limits, as single launches and as a captured graph, on every GPU, including variants that
 * call libraries. Skipped without a GPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/record/record.h"
#include "kernels/backend.h"
#include "tests/records.h"

#define SMALL "--hidden 16 --heads 2 --layers 1 --runs 3 --warmup 1 --budget 5 --output x.json "

static int gpus(void)
{
    char why[256];
    const struct backend *b = backend_cuda(why, sizeof why);
    return b ? b->device->count(why, sizeof why) : 0;
}

/* Every row was measured on `device`, with correct results. */
static void expect_row(const struct row *row, const char *device)
{
    static const char *const programs[] = {"forward", "step"};
    assert_string_equal(text_at(row, "status"), "ok");
    assert_string_equal(text_at(row, "device"), device);
    for (int i = 0; i < 2; i++) {
        char field[64];
        snprintf(field, sizeof field, "%s.time.median", programs[i]);
        assert_true(real_at(row, field) > 0);
        snprintf(field, sizeof field, "%s.cold.median", programs[i]);
        assert_true(real_at(row, field) > 0);
        snprintf(field, sizeof field, "%s.launch.median", programs[i]);
        assert_true(real_at(row, field) > 0);
    }
}

static void expect_rows(const struct house *h, const char *words, size_t count)
{
    struct record *record = run_json(h, words, 0);
    assert_int_equal(row_count(record), count);
    for (size_t i = 0; i < count; i++)
        expect_row(row_at(record, i), "cuda:0");
    record_free(record);
}

static void test_a_sweep(void **state)
{
    if (!gpus())
        skip();
    expect_rows(*state, SMALL "--device cuda --nodes 8,20 --attention dense,unfused", 4);
}

static void test_ragged_batches(void **state)
{
    if (!gpus())
        skip();
    expect_rows(*state, SMALL "--device cuda --nodes 12 --batch 3 --norm batch,graph", 2);
}

static void test_a_captured_graph(void **state)
{
    if (!gpus())
        skip();
    expect_rows(*state, SMALL "--device cuda --cuda-graph --nodes 20", 1);
}

static void test_cusparse(void **state)
{
    if (!gpus())
        skip();
    expect_rows(*state,
                SMALL "--device cuda --nodes 20 --model gin --impl spmm=cusparse "
                      "--impl spmm_backward=cusparse",
                1);
}

static void test_every_gpu(void **state)
{
    int count = gpus();
    if (!count)
        skip();
    struct record *record = run_json(*state, SMALL "--device cuda:all --nodes 20", 0);
    assert_int_equal(row_count(record), (size_t)count);
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "cuda:%d", i);
        expect_row(row_at(record, (size_t)i), name);
    }
    record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sweep),          cmocka_unit_test(test_ragged_batches),
        cmocka_unit_test(test_a_captured_graph), cmocka_unit_test(test_cusparse),
        cmocka_unit_test(test_every_gpu),
    };
    return cmocka_run_group_tests(tests, house_setup, house_teardown);
}
