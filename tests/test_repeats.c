/* Rows of the same work: pairs that agree, differ and cannot be judged, and what is said of them. */
#include "analysis/compare/repeats.h"

#include "tests/test.h"
#include "tests/test_analysis_rows.h"

#include <math.h>

/* A row whose step takes about `seconds`, in n turns. */
static struct row *timed(double seconds, size_t n)
{
    double samples[10];
    struct row *row = good_row(500);
    for (size_t i = 0; i < n; i++)
        samples[i] = seconds * (1 + 0.002 * (double)(i % 5));
    row_set_samples(row, "step.time", samples, n);
    row_set_null(row, "forward", "not asked for");
    return row;
}

/* What is found in these rows, which are freed. */
static struct repeats found(struct row *a, struct row *b, struct row *c, char **text)
{
    size_t size;
    struct rows *rows = rows_of(a, b, c);
    struct repeats r = repeats_find(rows);
    FILE *out = open_memstream(text, &size);
    repeats_print(out, &r);
    fclose(out);
    r.row = NULL;
    rows_free(rows);
    return r;
}

static void test_agree(void **state)
{
    (void)state;
    char *text;
    struct repeats r = found(timed(1, 10), timed(1.002, 10), timed(1.001, 7), &text);
    assert_true(r.pairs == 3 && r.differ == 0 && r.unclear == 0);
    assert_true(fabs(r.widest - 1.002) < 0.002);
    assert_non_null(strstr(text, "of 3 pairs of times 3 agree, 0 differ and 0 cannot be judged"));
    free(text);
}

static void test_differ(void **state)
{
    (void)state;
    char *text;
    struct repeats r = found(timed(1, 10), timed(0.5, 10), timed(1.001, 10), &text);
    assert_true(r.pairs == 3 && r.differ == 2);
    assert_true(fabs(r.widest - 2) < 0.01);
    assert_non_null(strstr(text, "1 agree, 2 differ and 0 cannot be judged; the widest ratio is 2.00"));
    assert_non_null(strstr(text, "(step of "));
    free(text);
}

static void test_unclear(void **state)
{
    (void)state;
    char *text;
    struct repeats r = found(timed(1, 10), timed(2, 3), NULL, &text);
    assert_true(r.pairs == 1 && r.differ == 0 && r.unclear == 1);
    assert_non_null(strstr(text, "none could be compared"));
    free(text);
}

static void test_other_work(void **state)
{
    (void)state;
    char *text;
    struct row *other = timed(1, 10);
    row_set_text(other, "work", "fedcba9876543210");
    struct repeats r = found(timed(1, 10), other, NULL, &text);
    assert_int_equal(r.pairs, 0);
    assert_string_equal(text, "");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agree),
        cmocka_unit_test(test_differ),
        cmocka_unit_test(test_unclear),
        cmocka_unit_test(test_other_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
