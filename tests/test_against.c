/*
 * An old build and this one in turns. What the verdict is of is tested with made-up ratios; runs have an "old
 * build" that leaves rows with times far from this one's, so that the machine's noise decides nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "bench/against.h"
#include "kernels/rng.h"
#include "tests/records.h"

#define TINY "--nodes 8,16 --hidden 16 --heads 2 --layers 1 --runs 2 --warmup 0 "

/* Noise of so many percent, the same in every run. */
static void noisy(double ratios[AGAINST_ROUNDS], double middle, double percent, uint64_t key)
{
    for (int i = 0; i < AGAINST_ROUNDS; i++) {
        double u = (double)(rng_bits(key, (uint64_t)i) >> 11) * 0x1p-53;
        ratios[i] = middle * (1 + percent / 100 * (2 * u - 1));
    }
}

static void test_verdicts(void **state)
{
    (void)state;
    double ratios[AGAINST_ROUNDS];
    int false_alarms = 0, caught = 0, faster = 0;
    for (uint64_t key = 0; key < 200; key++) {
        noisy(ratios, 1, 5, key);
        false_alarms += against_judge(ratios).slower;
        noisy(ratios, 1.1, 5, key);
        caught += against_judge(ratios).slower;
        noisy(ratios, 1 / 1.1, 5, key);
        faster += against_judge(ratios).faster;
    }
    assert_int_equal(false_alarms, 0);
    assert_int_equal(caught, 200);
    assert_int_equal(faster, 200);
    noisy(ratios, 1.02, 0.1, 1); /* certain, but within the margin */
    struct against_verdict v = against_judge(ratios);
    assert_true(v.low > 1 && !v.slower && !v.faster);
}

/* An old build that is a script and hands out the rows of this one, their times multiplied. */
static void plant(const struct house *h, double factor)
{
    static const char *const programs[] = {"forward", "step"};
    json_t *record = run_json(h, TINY "--output plant.json", 0);
    for (size_t i = 0; i < row_count(record); i++)
        for (int p = 0; p < 2; p++) {
            json_t *time = json_object_get(
                json_object_get(json_array_get(json_object_get(record, "rows"), i), programs[p]), "time");
            double median = json_real_value(json_object_get(time, "median"));
            json_object_set_new(time, "median", json_real(median * factor));
        }
    char path[160], script[160], error[MESSAGE_SIZE];
    snprintf(path, sizeof path, "%s/rows.json", h->work);
    snprintf(script, sizeof script, "%s/old", h->work);
    assert_true(record_save(record, path, error));
    FILE *out = fopen(script, "w");
    fprintf(
        out,
        "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = --output ] && cp '%s' \"$2\"; shift; done\nexit 0\n",
        path);
    fclose(out);
    assert_int_equal(chmod(script, 0700), 0);
    json_decref(record);
}

static void test_runs(void **state)
{
    const struct house *h = *state;
    plant(h, 1e-3);
    struct ended e = run_words(h, TINY "--against ./old", 1);
    if (!strstr(e.out, "SLOWER"))
        fail_msg("%s%s", e.out, e.err);
    assert_null(strstr(e.out, "faster"));
    ended_free(&e);
    plant(h, 1e3);
    e = run_words(h, TINY "--against ./old", 0);
    assert_non_null(strstr(e.out, "faster"));
    assert_null(strstr(e.out, "SLOWER"));
    ended_free(&e);
    e = run_words(h, "--nodes 8,24 --hidden 16 --heads 2 --layers 1 --runs 2 --against ./old", 1);
    assert_non_null(strstr(e.err, "no row of the old build"));
    ended_free(&e);
}

static void test_refusals(void **state)
{
    static const char *const bad[] = {"--against ./nothing", "--against .. --output x.json",
                                      "--against .. --threshold latency:1s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ended e = run_words(*state, bad[i], 2);
        assert_non_null(strstr(e.err, "--against"));
        assert_string_equal(e.out, "");
        ended_free(&e);
    }
    struct ended e = run_words(*state, TINY "--against /bin/false", 1); /* a program that is no benchmark */
    assert_non_null(strstr(e.err, "/bin/false"));
    ended_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, house_setup, house_teardown);
}
