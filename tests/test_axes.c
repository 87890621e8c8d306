/* The syntax of axes: numbers, lists and ranges, and what is refused. */
#include <math.h>

#include "bench/base/quantity.h"
#include "bench/cli/axes.h"
#include "bench/cli/command_line.h"
#include "bench/cli/config.h"
#include "kernels/rng.h"
#include "tests/test.h"

TEST(test_numbers)
{
    static const struct {
        const char *text;
        bool whole;
        double min, max, value; /* NAN: refused */
    } cases[] = {
        {"0", true, 0, 10, 0},        {"10", true, 0, 10, 10},       {"11", true, 0, 10, NAN},
        {"1k", true, 0, 1e9, 1e3},    {"2M", true, 0, 1e9, 2e6},     {"1g", true, 0, 1e9, 1e9},
        {"1.5k", true, 0, 1e9, 1500}, {"1.5", true, 0, 10, NAN},     {"1.5", false, 0, 10, 1.5},
        {"1e3", true, 0, 1e9, 1e3},   {"0.1k", true, 0, 1e9, 100},   {"", true, 0, 10, NAN},
        {"k", true, 0, 10, NAN},      {"+1", true, 0, 10, NAN},      {"-1", true, -10, 10, NAN},
        {" 1", true, 0, 10, NAN},     {"1 ", true, 0, 10, NAN},      {"1kk", true, 0, 1e9, NAN},
        {"0x10", true, 0, 99, NAN},   {"nan", false, 0, 10, NAN},    {"inf", false, 0, INFINITY, NAN},
        {"1t", true, 0, 1e15, NAN},   {"1e999", false, 0, 1e9, NAN}, {"1,2", false, 0, 1e9, NAN},
        {".5", false, 0, 1, 0.5},     {".", false, 0, 1, NAN},       {"..5", false, 0, 1, NAN},
        {"0.5", false, 0, 1, 0.5},    {"1e", false, 0, 9, NAN},      {"1-", false, 0, 9, NAN},
        {"1e-3", false, 0, 1, 1e-3},  {"1_000", true, 0, 1e9, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = -1;
        bool good = parse_number(cases[i].text, cases[i].whole, cases[i].min, cases[i].max, &value);
        if (good != !isnan(cases[i].value) || (good && value != cases[i].value))
            fail_msg("'%s' is read as %g (%s)", cases[i].text, value, good ? "good" : "refused");
    }
}

static void assert_values(enum axis a, const char *text, const double *wanted, int count)
{
    struct axis_values v = {0};
    struct message error = {""};
    if (!axis_parse(a, text, &v, &error))
        fail_msg("%s", error.text);
    if (v.count != count)
        fail_msg("%s: %d values, not %d", text, v.count, count);
    for (int i = 0; i < count; i++)
        if (v.values[i] != wanted[i])
            fail_msg("%s: value %d is %.17g, not %.17g", text, i, v.values[i], wanted[i]);
    axis_values_free(&v);
}

#define VALUES(...) (const double[]){__VA_ARGS__}, sizeof(double[]){__VA_ARGS__} / sizeof(double)

TEST(test_lists_and_ranges)
{
    assert_values(AXIS_NODES, "7", VALUES(7));
    assert_values(AXIS_NODES, "100,5,50", VALUES(100, 5, 50)); /* in the given order */
    assert_values(AXIS_NODES, "1k-16k*2", VALUES(1000, 2000, 4000, 8000, 16000));
    assert_values(AXIS_NODES, "2-16+7", VALUES(2, 9, 16));
    assert_values(AXIS_NODES, "2-15+7", VALUES(2, 9));
    assert_values(AXIS_NODES, "5-5+1,9-9*2", VALUES(5, 9));
    assert_values(AXIS_NODES, "100-10M*10", VALUES(1e2, 1e3, 1e4, 1e5, 1e6, 1e7));
    assert_values(AXIS_NODES, "1-8*1.5", VALUES(1, 2, 3, 5, 8)); /* 1, 1.5, 2.25, 3.375, 5.06, 7.59 */
    assert_values(AXIS_DEGREE, "0-1+0.25", VALUES(0, 0.25, 0.5, 0.75, 1));
    assert_values(AXIS_ACT, "relu,gelu", VALUES(2, 0));
}

TEST(test_most_values)
{
    struct axis_values v = {0};
    struct message error;
    char text[64];
    snprintf(text, sizeof text, "1-%d+1", AXIS_VALUES_MAX);
    assert_true(axis_parse(AXIS_NODES, text, &v, &error));
    assert_int_equal(v.count, AXIS_VALUES_MAX);
    assert_true(v.values[AXIS_VALUES_MAX - 1] == AXIS_VALUES_MAX);
    assert_true(axis_parse(AXIS_NODES, "5", &v, &error)); /* replaces them */
    assert_int_equal(v.count, 1);
    snprintf(text, sizeof text, "1-%d+1", AXIS_VALUES_MAX + 1);
    assert_false(axis_parse(AXIS_NODES, text, &v, &error));
    assert_true(v.count == 1 && v.values[0] == 5); /* unchanged by a refusal */
    axis_values_free(&v);
}

/* Lists of `count` items, of which the one at `twice` stands a second time at the end (-1: none). */
static void check_long_list(enum axis a, const char *item, int count, int twice)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct axis_values v = {0};
    struct message error;
    for (int i = 0; i < count; i++) {
        fputs(i ? "," : "", out);
        fprintf(out, item, 1 + i * 7 % count); /* each once, if count is no multiple of 7 */
    }
    if (twice >= 0) {
        putc(',', out);
        fprintf(out, item, 1 + twice * 7 % count);
    }
    fclose(out);
    assert_true(axis_parse(a, text, &v, &error) == (twice < 0));
    if (twice < 0)
        assert_int_equal(v.count, count);
    else
        assert_non_null(strstr(error.text, " is given twice"));
    axis_values_free(&v);
    free(text);
}

TEST(test_long_lists)
{
    check_long_list(AXIS_NODES, "%d", 5000, -1);
    check_long_list(AXIS_NODES, "%d", 5000, 0);
    check_long_list(AXIS_NODES, "%d", 5000, 4999);
    check_long_list(AXIS_PE, "rwse:%d", 4000, -1);
    check_long_list(AXIS_PE, "rwse:%d", 4000, 2000);
    struct axis_values v = {0};
    struct message error;
    assert_false(axis_parse(AXIS_NODES, "4,9,2,9,2", &v, &error)); /* the smaller of two */
    assert_non_null(strstr(error.text, ": 2 is given twice"));
}

/* Every combination of long lists is a row, in their order. */
TEST(test_sweep_of_long_lists)
{
    static const struct bench bench = {.name = "bench", .doc = "", .axis = AXIS_NODES, .values = "8"};
    char *words[] = {"bench", "--nodes=1-5000+1", "--layers=1,2", "--pe=none,rwse:4"};
    struct options o;
    struct message error;
    if (!options_parse(&bench, NULL, 4, words, &o, &error))
        fail_msg("%s", error.text);
    assert_int_equal(o.plan.count, 20000);
    bool seen[5001][3][2] = {{{false}}};
    for (int64_t i = 0; i < 20000; i++) {
        struct config c = o.plan.list[i];
        bool *one = &seen[c.graph.nodes][c.parts.layers][c.parts.pe.kind != ENCODING_NONE];
        assert_false(*one);
        *one = true;
    }
    options_free(&o);
}

/* A refusal's message begins with flag and value and continues with what is allowed, in one line. */
static void assert_refused(enum axis a, const char *text)
{
    struct axis_values v = {0};
    struct message error = {""};
    char start[64];
    snprintf(start, sizeof start, "--%s %s: ", axis_info(a)->name, text);
    if (axis_parse(a, text, &v, &error))
        fail_msg("%s is accepted", start);
    if (strncmp(error.text, start, strlen(start)) != 0 || strlen(error.text) == strlen(start) ||
        strchr(error.text, '\n'))
        fail_msg("%s is refused with '%s'", start, error.text);
    assert_null(v.values);
}

TEST(test_refusals_of_every_axis)
{
    static const char *const never[] = {"", ",", "nope", "-1", " ", "1,,2", ",1", "1,", "gelu relu", "%s"};
    static const char *const never_numbers[] = {
        "ten",   "8x",   "5-1*2",    "5-1+1",   "1-5",           "1-5*1",     "1-5*0.5", "1-5+0",
        "1-5-1", "1-5+", "1-+1",     "1-5*2+1", "1--5+1",        "1-2+1-3+1", "nan",     "inf",
        "1e99",  "0x8",  "1-1e99*2", "0-5*2",   "1-2*1.0000001", "1-5+1e-9",
    };
    for (enum axis a = 0; a < AXES; a++) {
        const struct axis_info *axis = axis_info(a);
        char text[64];
        for (size_t i = 0; i < sizeof never / sizeof *never; i++)
            assert_refused(a, never[i]);
        if (axis->choice) {
            snprintf(text, sizeof text, "%s,%sx", axis->standard, axis->standard);
            assert_refused(a, text);
            continue;
        }
        for (size_t i = 0; i < sizeof never_numbers / sizeof *never_numbers; i++)
            assert_refused(a, never_numbers[i]);
        snprintf(text, sizeof text, "%.15g", axis->max + 1);
        assert_refused(a, text);
        snprintf(text, sizeof text, "%.15g", axis->min - 1);
        assert_refused(a, text);
        snprintf(text, sizeof text, "%.15g-%.15g+1", axis->max, axis->max + 1);
        assert_refused(a, text);
        if (axis->kind == AXIS_WHOLE)
            assert_refused(a, "1.5");
        assert_values(a, axis->standard, VALUES(strtod(axis->standard, NULL)));
        snprintf(text, sizeof text, "%.15g", axis->max);
        assert_values(a, text, VALUES(axis->max));
    }
}

/* Whatever is accepted of random text is in range, and an integer where required. */
TEST(test_random_text)
{
    static const char alphabet[] = "0123456789019kKmMgG..,,-+**e ";
    uint64_t key = rng_key(1, "axis text");
    int accepted = 0, tries = getenv("GTMARK_SMALL") ? 20000 : 200000;
    for (int i = 0; i < tries; i++) {
        char text[12] = "";
        uint64_t bits = rng_bits(key, (uint64_t)i);
        int length = 1 + (int)(bits % 9);
        for (int c = 0; c < length; c++)
            text[c] = alphabet[(bits >> (4 + 6 * c)) % 64 % (sizeof alphabet - 1)];
        enum axis a = i % 2 ? AXIS_NODES : AXIS_DEGREE;
        struct axis_values v = {0};
        struct message error;
        if (!axis_parse(a, text, &v, &error))
            continue;
        accepted++;
        assert_between(v.count, 1, AXIS_VALUES_MAX);
        for (int k = 0; k < v.count; k++)
            if (!(v.values[k] >= axis_info(a)->min && v.values[k] <= axis_info(a)->max) ||
                (a == AXIS_NODES && v.values[k] != floor(v.values[k])))
                fail_msg("'%s' has the value %g", text, v.values[k]);
        axis_values_free(&v);
    }
    assert_true(accepted > tries / 100);
}
