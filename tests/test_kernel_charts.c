/* Charts of ops: percentages and the roofline. */
#include "analysis/charts/kernel_dots.h"
#include "tests/chart_directory.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

#include <math.h>

/* A row of an op with these rates. */
static struct row *op_row(const char *op, const char *variant, double percent, double intensity,
                          double gflops)
{
    struct row *row = good_row(500);
    row_set_text(row, "op", op);
    row_set_text(row, "variant", variant);
    row_set_real(row, "kernel.roofline.percent", percent);
    row_set_text(row, "kernel.roofline.bound", intensity < 10 ? "memory" : "compute");
    row_set_real(row, "kernel.intensity", intensity);
    row_set_real(row, "kernel.gflops", gflops);
    set_time(row, "kernel.time", 1e-3, 0);
    return row;
}

/* A record with a calibration for two threads, and one for another number. */
static struct record *record_of(struct row *const *rows, size_t n)
{
    struct record *record = empty_record();
    char message[MESSAGE_SIZE];
    struct value *calibrations = value_parse(
        "[{\"threads\": 1, \"peak\": 50.0, \"bandwidth\": {\"L2\": {\"read\": 90.0}}},"
        " {\"threads\": 2, \"peak\": 100.0, \"bandwidth\": {\"L2\": {\"read\": 80.0, \"triad\": 90.0},"
        " \"LLC\": {\"read\": null}, \"DRAM\": {\"read\": 10.0, \"write\": 20.0}}}]",
        message);
    assert_non_null(calibrations);
    value_set(record_head(record), "calibrations", calibrations);
    for (size_t i = 0; i < n; i++)
        add_row(record, rows[i]);
    return record;
}

/* Percentages above 100 and below the scale are drawn at or beyond its end, with their numbers. */
TEST_BETWEEN(test_percentages, make_directory, remove_directory)
{
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE];
    struct row *const rows[] = {
        op_row("linear", "simd", 60, 40, 60),  op_row("linear", "ref", 0.02, 40, 0.02),
        op_row("ad%am", "simd", 198, 0.5, 20), op_row("copy", "simd", 40, 0, 0),
        op_row("spmm", "simd", 1, 0.5, 0.1),   op_row("fill", "simd", 1, 0, 0)};
    row_set_text(rows[4], "kernel.time.noisy", "made up");
    row_set_real(rows[3], "kernel.cold.percent", 5);
    row_omit(rows[5], "kernel.roofline.percent", "made up");
    struct record *record = record_of(rows, 6);
    draw_added(kernel_chart_add, record, p->prefix, message);
    assert_title(p, "_percent.gp", "Kernels and the percentage of their roofline that they reach");
    char *script = content(p, "_percent.gp");
    assert_in(script, "198 3 \"198 %\"\n");
    assert_in(script, "0.1 2 \"← 0.02 %\"\n");
    assert_in(script, "highest = 198\n");
    assert_in(script, "outside = 2\n");
    assert_in(script, "$cold << END\n5 1 1 0\nEND\ncold = 1\n");
    assert_in(script, "\n1 0 1 1\n"); /* noisy */
    assert_in(script, "not drawn: 1 row without");
    assert_in(script, "; pale: wide range; above 100 %: ");
    assert_in(script, "\"ad%%am\" 3)"); /* labels of ticks are formats */
    free(script);
    record_free(record);
}

/* A roof for each measured level, by the threads of the rows; an op without FLOPs is named. */
TEST_BETWEEN(test_roofline, make_directory, remove_directory)
{
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE];
    struct row *const rows[] = {op_row("linear", "simd", 60, 40, 60), op_row("linear", "ref", 0.02, 40, 0.02),
                                op_row("spmm", "simd", 90, 0.5, 90), op_row("copy", "simd", 40, 0, 0)};
    row_set_text(rows[2], "kernel.time.noisy", "made up");
    struct record *record = record_of(rows, 4);
    draw_added(kernel_chart_add, record, p->prefix, message);
    assert_title(p, "_roofline.gp", "Roofline of the kernels: GFLOP/s over FLOP/B");
    char *script = content(p, "_roofline.gp");
    assert_in(script, "roofs = 2\n");
    assert_in(script, "label[3] = \"L2, 90 GB/s\"\n");
    assert_in(script, "label[4] = \"DRAM, 20 GB/s\"\n");
    assert_in(script, "\n5 100\n"); /* where DRAM's roof meets the peak */
    assert_in(script, "\n40 60 1 0\n");
    assert_in(script, "\n40 0.02 2 0\n");
    assert_in(script, "\n40 60 \"linear, simd: 60 % of its roofline, 60 GFLOP/s at 40 FLOP/B\"\n");
    assert_in(script, "\n0.5 90 1 1\n");
    assert_in(script, "drawn: 1 of 4 kernels, without FLOPs");
    free(script);
    record_free(record);
}

/* The roofs are those of the state that most kernels were in, if the rows name it. */
TEST_BETWEEN(test_roofs_of_states, make_directory, remove_directory)
{
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE];
    struct row *rows[3];
    for (int i = 0; i < 3; i++) {
        rows[i] = op_row(i ? "spmm" : "linear", i == 1 ? "ref" : "simd", 60, 40, 60);
        row_set_text(rows[i], "kernel.roofline.calibrated", i == 1 ? "then" : "now");
    }
    struct record *record = record_of(rows, 3);
    struct value *calibrations = value_parse(
        "[{\"threads\": 2, \"time\": \"then\", \"peak\": 50.0, \"bandwidth\": {\"L2\": {\"read\": 9.0}}},"
        " {\"threads\": 2, \"time\": \"now\", \"peak\": 100.0, \"bandwidth\":"
        " {\"L2\": {\"read\": 8.0, \"update\": 16.0}, \"LLC\": null}}]",
        message);
    assert_non_null(calibrations);
    value_set(record_head(record), "calibrations", calibrations);
    draw_added(kernel_chart_add, record, p->prefix, message);
    char *script = content(p, "_roofline.gp");
    assert_in(script, "roofs = 1\n");
    assert_in(script, "label[3] = \"L2, 16 GB/s\"\n");
    assert_in(script, "roofs: of 2 of the 3 kernels; ");
    free(script);
    record_free(record);
}

/* Without a calibration for the threads of the rows there is no roofline. */
TEST_BETWEEN(test_no_roofs, make_directory, remove_directory)
{
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE];
    struct row *const rows[] = {op_row("linear", "simd", 60, 40, 60)};
    row_set_count(rows[0], "threads", 4);
    struct record *record = record_of(rows, 1);
    draw_added(kernel_chart_add, record, p->prefix, message);
    assert_null(content(p, "_roofline.gp"));
    record_free(record);
}

/* Of many ops those furthest from their roofline are drawn by name; ref, which no op has as its default, is
 * no reason. */
TEST_BETWEEN(test_worst, make_directory, remove_directory)
{
    enum { OPS = 25 };
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE], name[32];
    struct row *rows[OPS + 1];
    for (int i = 0; i < OPS; i++) {
        snprintf(name, sizeof name, "op_%d", i);
        rows[i] = op_row(name, "simd", 75 - i, 4, 10);
    }
    rows[OPS] = op_row("op_0", "ref", 1, 4, 1);
    struct record *record = record_of(rows, OPS + 1);
    draw_added(kernel_chart_add, record, p->prefix, message);
    assert_title(p, "_percent.gp", "The 20 of 25 ops whose default kernels are furthest from their roofline");
    char *script = content(p, "_percent.gp");
    assert_in(script, "set ytics (\"op_24\" 0, \"op_23\" 1, ");
    assert_in(script, "\"op_5\" 19)\n");
    assert_in(script, "\n51 0 1 0\n");
    assert_null(strstr(script, "\n75 24 "));
    free(script);
    record_free(record);
}

/* A name at the right, and its point, as shares of the plot. */
struct named {
    double x, y, beside;
};

static bool lines_cross(const struct named *a, const struct named *b)
{
    const double right = 1.02;
    double x = fmax(a->x, b->x); /* from where both lines are there */
    double left_a = a->y + (a->beside - a->y) * (x - a->x) / (right - a->x);
    double left_b = b->y + (b->beside - b->y) * (x - b->x) / (right - b->x);
    return (left_a - left_b) * (a->beside - b->beside) < -1e-6;
}

/* Names of ops, however close, stand apart, and the lines to their points do not cross. */
TEST_BETWEEN(test_labels_apart, make_directory, remove_directory)
{
    enum { OPS = 20 };
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE], name[32];
    struct row *rows[OPS];
    struct named named[OPS];
    double x0, x1, y0, y1;
    int used;
    for (int i = 0; i < OPS; i++) {
        snprintf(name, sizeof name, "op_%d", i);
        rows[i] = op_row(name, "simd", 50, pow(10, (i * 7 % 11) / 5.0 - 1), pow(10, (i * 5 % 13) / 6.0));
    }
    struct record *record = record_of(rows, OPS);
    draw_added(kernel_chart_add, record, p->prefix, message);
    char *script = content(p, "_roofline.gp"), *labels = script ? strstr(script, "$named << END\n") : NULL;
    assert_non_null(labels);
    assert_int_equal(sscanf(strstr(script, "set xrange"), "set xrange [%lf:%lf]\nset yrange [%lf:%lf]", &x0,
                            &x1, &y0, &y1),
                     4);
    labels += strlen("$named << END\n");
    for (int n = 0; n < OPS; n++, labels += used) {
        struct named *one = &named[n];
        assert_int_equal(sscanf(labels, "%lf %lf %lf\n%n", &one->x, &one->y, &one->beside, &used), 3);
        one->x = log(one->x / x0) / log(x1 / x0);
        one->y = log(one->y / y0) / log(y1 / y0);
        assert_true(one->beside > 0.02 && one->beside < 1);
        for (int i = 0; i < n; i++) {
            assert_true(fabs(named[i].beside - one->beside) * 496 >
                        13); /* pixels of the plot, and of letters */
            assert_false(lines_cross(&named[i], one));
        }
    }
    free(script);
    record_free(record);
}

GROUP("tests", hide_gnuplot, NULL)
