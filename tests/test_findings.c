/* Findings of planted records: every sentence for data of which it is true, false, and undecidable. */
#include "analysis/record/profile.h"
#include "tests/findings.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

/* Rows of 100 2^i nodes whose step takes `factor` times 10 ps per FLOP. */
static struct rows *nodes_rows(const double factor[6], double noise)
{
    struct rows *rows = rows_new();
    for (int i = 0; i < 6; i++) {
        double nodes = 100 << i, flops = 1e8 + 1e6 * nodes + 1e3 * nodes * nodes;
        struct row *row = checked_row((int64_t)nodes);
        set_step(row, factor[i] * 1e-11 * flops, noise, flops);
        rows_append(rows, row);
    }
    return rows;
}

static const double flat[6] = {1, 1, 1, 1, 1, 1};

/* A step of two linear entries and one of attention, which takes `attention` seconds. */
static struct rows *profiled_rows(double attention, bool noisy)
{
    struct row *row = checked_row(500);
    struct rows *rows = rows_new();
    char span[] = "layer1";
    struct profile_entry entries[] = {
        {"linear", "packed", "forward", span, 1e-3, 8e-4, "compute", 10, 10, 10, {0}},
        {"attention", "tiled", "forward", span, attention, 1e-3, "compute", 10, 10, 10, {0}},
        {"linear", "packed", "backward", span, 1e-3, 8e-4, "compute", 10, 10, 10, {0}}};
    set_step(row, 2e-3 + attention, 0.01, 1e9);
    if (noisy)
        set_noisy(row, "step.time", 2e-3 + attention);
    profile_write(&(struct profile){10, 3, entries, ""}, row, "step");
    rows_append(rows, row);
    return rows;
}

static void test_dearest_op(void **state)
{
    (void)state;
    assert_said(profiled_rows(3e-3, false),
                "Of the ops of a training step with 500 nodes the dearest is attention with "
                "60 % of its time, at 33 % of its roofline.");
    assert_said(profiled_rows(1e-3, false),
                "the dearest is linear with 67 % of its time, at 80 % of its roofline.");
    assert_said(profiled_rows(2.1e-3, false),
                "the dearest is attention with 51 % of its time, at 48 % of its roofline, "
                "or linear with 49 % of its time, at 80 % of its roofline: the "
                "profile cannot tell.");
    assert_not_said(profiled_rows(3e-3, true), "the dearest is");
}

static void test_growth(void **state)
{
    (void)state;
    static const double rises[6] = {1, 1, 1, 1, 1, 1.4};
    assert_said(nodes_rows(flat, 0.01), "- From 100 to 3200 nodes the time of a training step follows its "
                                        "FLOPs: between any two of the rows, time per FLOP changes by less");
    assert_said(nodes_rows(flat, 0.01),
                "Between 1600 and 3200 it grows as N^1.67 ± 0.02, its FLOPs as N^1.67.");
    assert_said(nodes_rows(flat, 0.01), "1.00 ms + 10.0 µs N + 10.0 ns N^2 is within ");
    assert_not_said(nodes_rows((const double[6]){1, 2, 1, 3, 1, 2}, 0.01), "is within ");
    assert_said(nodes_rows(rises, 0.01),
                "does not follow its FLOPs: time per FLOP rises by 40 % from 1600 nodes on.");
    assert_said(nodes_rows(flat, 0.08),
                "may or may not follow its FLOPs, the rows cannot tell: time per FLOP");
    struct rows *rows = nodes_rows(rises, 0.01);
    row_set_text(rows_at(rows, 5), "step.roofline.level", "DRAM");
    assert_said(rows,
                "from 1600 nodes on, where the rows go from LLC, compute-bound, to DRAM, compute-bound.");
    rows = nodes_rows(rises, 0.01); /* the one row that contradicts is noisy: the others agree */
    set_noisy(rows_at(rows, 5), "step.time", 1);
    assert_said(rows, "From 100 to 1600 nodes the time of a training step follows its FLOPs");
    rows = nodes_rows(flat, 0.01);
    for (int i = 5; i > 1; i--)
        row_free(rows_take(rows, (size_t)i));
    assert_not_said(rows, "follow"); /* two sizes */
}

/* The largest row that can be used: not the noisy, wrong or unchecked one. */
static void test_largest(void **state)
{
    (void)state;
    assert_said(nodes_rows(flat, 0.01), "- With 3200 nodes, a training step takes 135 ms and 100 MiB, at 100 "
                                        "GFLOP/s: 50 % of what this machine's compute ceiling allows.");
    struct rows *rows = nodes_rows(flat, 0.01);
    set_noisy(rows_at(rows, 5), "step.time", 1);
    row_set_null(rows_at(rows, 4), "checked", "--no-check");
    row_set_text(rows_at(rows, 3), "status", "wrong");
    row_set_text(rows_at(rows, 3), "reason", "made up");
    assert_said(rows, "- With 400 nodes, a training step takes");
    rows = nodes_rows(flat, 0.01);
    row_set_text(rows_at(rows, 5), "step.roofline.fault", "calibrate again");
    assert_said(rows, "at 100 GFLOP/s.\n"); /* no share of a ceiling that is wrong */
}

/* 1, 2, 4, 8 and 16 layers of 10 ms and 5 ms beside them, times a factor. */
static struct rows *layers_rows(const double factor[5], double noise)
{
    struct rows *rows = rows_new();
    for (int i = 0; i < 5; i++) {
        int layers = 1 << i;
        struct row *row = checked_row(500);
        row_set_count(row, "layers", layers);
        set_step(row, factor[i] * (5e-3 + 10e-3 * layers), noise, 1e8 + 1e9 * layers);
        rows_append(rows, row);
    }
    return rows;
}

static void test_layers(void **state)
{
    (void)state;
    assert_said(layers_rows(flat, 0.02), "- From 1 to 16 layers the time of a training step is linear in "
                                         "layers: 5.00 ms + 10.0 ms L, within");
    assert_said(layers_rows((const double[]){1, 1, 1, 1, 1.5}, 0.01),
                "is not linear in layers: with 16 it takes");
    assert_said(layers_rows(flat, 0.08), "may or may not be linear in layers, the rows cannot tell");
    struct rows *rows = layers_rows(flat, 0.01);
    for (int i = 4; i > 1; i--)
        row_free(rows_take(rows, (size_t)i));
    assert_not_said(rows, "linear");
}

/* 1, 2, 4, 8 and 16 graphs at these rates, in graphs per second. */
static struct rows *batch_rows(const double rate[5], double noise)
{
    struct rows *rows = rows_new();
    for (int i = 0; i < 5; i++) {
        int batch = 1 << i;
        struct row *row = checked_row(32);
        row_set_count(row, "batch", batch);
        set_step(row, batch / rate[i], noise, 1e8 + 1e9 * batch);
        rows_append(rows, row);
    }
    return rows;
}

static void test_batch(void **state)
{
    (void)state;
    static const double saturates[] = {50, 80, 97, 98, 100}, rises[] = {20, 35, 55, 80, 100},
                        falls[] = {50, 90, 100, 80, 70}, dips[] = {100, 60, 61, 99, 100};
    assert_said(batch_rows(saturates, 0.01),
                "- From 1 to 16 graphs the throughput of a training step saturates at "
                "4: with more it stays within 10 % of the highest, 100 graphs/s.");
    assert_said(batch_rows(rises, 0.01),
                "does not saturate: from 8 to 16 it rises by 25 %, to 100 graphs/s.");
    assert_said(batch_rows(falls, 0.01), "is highest with 4, 100 graphs/s, and 30 % lower with 16.");
    assert_said(batch_rows(dips, 0.01), "saturates at 8:");
    assert_said(batch_rows(saturates, 0.09),
                "the rows cannot tell whether the throughput of a training step saturates");
    /* 4 graphs reach 91 % +-3 %: perhaps saturated before 8 */
    assert_said(batch_rows((const double[]){50, 80, 91, 98, 100}, 0.02), "saturates at 8 or before:");
}

static struct row *kernel_row(const char *op, double gflops, double noise, double percent)
{
    struct row *row = checked_row(500);
    row_set_text(row, "op", op);
    row_set_text(row, "variant", "simd");
    set_turns(row, "kernel.time", 1 / gflops, noise);
    row_set_real(row, "kernel.gflops", gflops);
    row_set_real(row, "kernel.roofline.percent", percent);
    row_set_text(row, "kernel.roofline.fault", "");
    return row;
}

static void test_kernels(void **state)
{
    (void)state;
    assert_said(
        rows_of(kernel_row("linear", 200, 0.01, 60), kernel_row("relu", 2, 0.01, 90),
                kernel_row("gather", 5, 0.01, 10)),
        "- Of 3 kernels with a settled time, linear (simd) is the fastest, at 200 GFLOP/s, 60 % of its "
        "roofline.\n- Of 3 with a roofline, gather (simd) is the furthest from it, at 10 %.\n");
    assert_said(rows_of(kernel_row("linear", 200, 0.05, 60), kernel_row("spmm", 195, 0.05, 59), NULL),
                "linear (simd) or spmm (simd), the rows cannot tell which, is the fastest, at 200 GFLOP/s");
    struct row *noisy = kernel_row("attention", 900, 0, 1), *unchecked = kernel_row("relu", 800, 0, 2);
    set_noisy(noisy, "kernel.time", 1. / 900);
    row_set_null(unchecked, "checked", "--no-check");
    struct rows *rows = rows_of(kernel_row("linear", 200, 0.01, 60), noisy, unchecked);
    rows_append(rows, kernel_row("gather", 5, 0.01, 10));
    assert_said(rows, "- Of 2 kernels with a settled time, linear (simd) is the fastest");
    assert_not_said(rows_of(kernel_row("linear", 200, 0.01, 60), NULL, NULL), "fastest");
    assert_not_said(rows_of(checked_row(8), NULL, NULL), "kernel");
}

static struct row *encoding_row(const char *pe, int64_t nodes, double seconds, double noise)
{
    struct row *row = checked_row(nodes);
    row_set_text(row, "pe", pe);
    set_turns(row, "encoding.time", seconds, noise);
    return row;
}

/* The dearest is found among all rows, also if it is noisy: then with what is certain. */
static void test_encodings(void **state)
{
    (void)state;
    assert_said(rows_of(encoding_row("rwse:16", 10000, 0.2, 0.01), encoding_row("lap:16", 500, 0.264, 0.01),
                        encoding_row("lap:16", 2000, 4.94e-3, 0.01)),
                "- Of 3 encodings the dearest takes 264 ms (500 nodes, lap:16).\n");
    struct row *noisy = encoding_row("lap:16", 500, 1, 0);
    set_noisy(noisy, "encoding.time", 0.264);
    assert_said(rows_of(encoding_row("rwse:16", 10000, 4.94e-3, 0.01), noisy, NULL),
                "- Of 2 encodings the dearest took 238 ms or more in every run (500 nodes, lap:16; too few "
                "turns for a "
                "median).\n");
    assert_said(
        rows_of(encoding_row("rwse:16", 500, 0.250, 0.05), encoding_row("lap:16", 500, 0.264, 0.05), NULL),
        "the dearest takes 264 ms (lap:16), if it is not the one that takes 250 ms (rwse:16): the rows "
        "cannot tell.\n");
    noisy = encoding_row("lap:16", 500, 1, 0); /* may be wrong by a factor of 2 */
    set_noisy(noisy, "encoding.time", 0.264);
    assert_said(
        rows_of(encoding_row("rwse:16", 500, 0.2, 0.01), noisy, NULL),
        "the dearest took 238 ms or more in every run (lap:16; too few turns for a median), if it is not the "
        "one that takes 200 ms (rwse:16): the rows cannot tell.\n");
    assert_not_said(rows_of(checked_row(500), NULL, NULL), "encoding");
}

/* Of graphs with more components than vectors; an encoding that has no eigenvectors, and rows without one. */
static void test_encodings_without_a_solver(void **state)
{
    (void)state;
    struct row *row = encoding_row("lap:16", 500, 0.01, 0.01);
    assert_false(row_solved_nothing(row));
    row_set_count(row, "encoding.nullity", 15);
    row_set_count(row, "encoding.iterated", 1);
    assert_false(row_solved_nothing(row));
    row_set_count(row, "encoding.nullity", 16);
    row_set_count(row, "encoding.iterated", 0);
    assert_true(row_solved_nothing(row));
    row_set_count(row, "encoding.nullity", 0);
    assert_false(row_solved_nothing(row));
    row_free(row);
}

static void test_when_encodings_pay_off(void **state)
{
    (void)state;
    struct rows *rows = rows_new();
    for (int i = 0; i < 3; i++) {
        struct row *row = encoding_row("lap:16", 500 << i, 0.01 * (i + 1), 0.01);
        row_set_count(row, "encoding.break_even_step", 10 << i);
        set_step(row, 0.1, 0.01, 1e9);
        if (i == 2) /* would be the last to pay off */
            set_noisy(row, "step.time", 0.1);
        rows_append(rows, row);
    }
    assert_said(
        rows,
        "- Of 2 encodings timed beside a training step the last to pay off (1000 nodes) is less than 1 % "
        "of the time after 20 steps.\n");
    assert_not_said(rows_of(encoding_row("lap:16", 500, 1, 0.01), NULL, NULL), "pay off");
    struct row *only = encoding_row("lap:16", 500, 0.01, 0.01);
    row_set_count(only, "encoding.break_even_step", 1);
    set_step(only, 0.1, 0.01, 1e9);
    assert_said(
        rows_of(only, encoding_row("rwse:16", 500, 1, 0.01), NULL),
        "- The only encoding timed beside a training step (lap:16) is less than 1 % of the time after 1 "
        "step.\n");
}

static void test_parts(void **state)
{
    (void)state;
    struct row *row = checked_row(500);
    set_step(row, 0.1, 0.01, 1e9);
    row_set_real(row, "step.backward.time", 0.06);
    row_set_real(row, "step.optimizer.time", 0.01);
    row_set_real(row, "first_answer.record", 0.001);
    row_set_real(row, "first_answer.forward", 0.03);
    row_set_real(row, "first_answer.total", 0.04);
    assert_said(
        rows_of(row_copy(row), NULL, NULL),
        "- A training step takes 100 ms; the largest part, 60 %, is the backward pass.\n- The first answer, "
        "from seed or file to output, takes 40.0 ms; the largest part, 75 %, is the first run.\n");
    row_set_real(row, "step.backward.time", 0.02);
    assert_said(rows_of(row_copy(row), NULL, NULL), "the largest part, 70 %, is forward and loss.");
    row_set_real(row, "step.recompute.time", 0.05);
    assert_said(rows_of(row_copy(row), NULL, NULL), "the largest part, 50 %, is recomputing activations.");
    row_set_null(row, "step.backward.time", "made up");
    assert_not_said(rows_of(row_copy(row), NULL, NULL), "A training step takes 100 ms; the largest");
    row_set_null(row, "checked", "--no-check");
    assert_not_said(rows_of(row, NULL, NULL), "largest part");
}

/* A row of `nodes` with these checkpoints, whose step takes this long and needs so many MiB. */
static struct row *checkpoint_row(int64_t nodes, const char *checkpoint, double seconds, int64_t mebibytes)
{
    struct row *row = checked_row(nodes);
    row_set_text(row, "checkpoint", checkpoint);
    set_step(row, seconds, 0.01, (double)nodes * 1e7);
    row_set_count(row, "step.memory.planned", mebibytes << 20);
    return row;
}

/* Only of the most work, of rows that differ in nothing else, and if the times do differ. */
static void test_checkpoints(void **state)
{
    (void)state;
    assert_said(
        rows_of(checkpoint_row(500, "none", 0.1, 500), checkpoint_row(500, "layer", 0.13, 100), NULL),
        "- With layer checkpoints, a training step needs 100 MiB of memory instead of 500 MiB, and 30 % "
        "more time (2");
    assert_said(
        rows_of(checkpoint_row(500, "none", 0.1, 500), checkpoint_row(500, "4", 0.08, 100), NULL),
        "With 4 checkpoints, a training step needs 100 MiB of memory instead of 500 MiB, and 20 % less "
        "time (");
    assert_not_said(
        rows_of(checkpoint_row(500, "none", 0.1, 500), checkpoint_row(500, "layer", 0.1, 100), NULL),
        "instead of");
    assert_not_said(
        rows_of(checkpoint_row(500, "none", 0.1, 500), checkpoint_row(400, "layer", 0.13, 100), NULL),
        "instead of");
    struct rows *rows = rows_new();
    for (int64_t nodes = 500; nodes <= 1000; nodes += 500) {
        rows_append(rows, checkpoint_row(nodes, "none", 0.1, nodes));
        rows_append(rows, checkpoint_row(nodes, "layer", 0.13, nodes / 2));
    }
    char *text = said(rows);
    assert_non_null(strstr(text, "With 1000 nodes, layer checkpoints, a training step needs 500 MiB"));
    assert_null(strstr(text, "instead of 500 MiB"));
    free(text);
}

/* A row of this batch on so many ranks, whose step takes this long. */
static struct row *rank_row(int64_t ranks, int64_t batch, double load, double seconds, double noise)
{
    struct row *row = checked_row(32);
    row_set_count(row, "ranks.count", ranks);
    row_set_count(row, "batch", batch);
    if (ranks > 1)
        row_set_real(row, "ranks.load", load);
    set_step(row, seconds, noise, 1e9);
    return row;
}

static void test_ranks(void **state)
{
    (void)state;
    assert_said(rows_of(rank_row(1, 64, 0, 0.1, 0.001), rank_row(2, 64, 1, 0.0625, 0.001), NULL),
                "- A training step of the same batch on 2 ranks takes 0.62 [0.62, 0.63] times what one rank "
                "takes: an "
                "efficiency of 80 % (80 to 80 %).\n");
    assert_said(rows_of(rank_row(1, 64, 0, 0.1, 0.001), rank_row(4, 256, 0.5, 0.125, 0.001), NULL),
                "- A training step of a batch for each rank on 4 ranks takes 1.25 [1.2");
    /* Other graphs, cores that ranks share, a noisy time. */
    assert_not_said(rows_of(rank_row(1, 64, 0, 0.1, 0.001), rank_row(2, 96, 1, 0.0625, 0.001), NULL),
                    "efficiency");
    assert_not_said(rows_of(rank_row(1, 64, 0, 0.1, 0.001), rank_row(2, 64, 1.5, 0.0625, 0.001), NULL),
                    "efficiency");
    struct row *noisy = rank_row(2, 64, 1, 0.0625, 0.001);
    set_noisy(noisy, "step.time", 0.0625);
    assert_not_said(rows_of(rank_row(1, 64, 0, 0.1, 0.001), noisy, NULL), "efficiency");
}

/* The same, of one graph of so many nodes, which the ranks divide, or do not. */
static struct row *divided_row(int64_t ranks, int64_t nodes, const char *parallel, double seconds)
{
    struct row *row = rank_row(ranks, 1, 1, seconds, 0.001);
    row_set_count(row, "nodes", nodes);
    row_set_text(row, "ranks.parallel", parallel);
    return row;
}

/* A row whose own nodes ran on one rank is compared with that one, also if it has twice those of another. */
static void test_divided_nodes(void **state)
{
    (void)state;
    assert_said(rows_of(divided_row(1, 32, "halo", 0.1), divided_row(2, 64, "halo", 0.125), NULL),
                "- A training step of as many nodes for each rank on 2 ranks takes 1.25 [1.2");
    assert_not_said(rows_of(divided_row(1, 32, "halo", 0.1), divided_row(2, 96, "halo", 0.125), NULL),
                    "efficiency");
    assert_not_said(rows_of(divided_row(1, 32, "data", 0.1), divided_row(2, 64, "data", 0.125), NULL),
                    "efficiency");
    char *text = said(rows_of(divided_row(1, 32, "halo", 0.1), divided_row(1, 64, "halo", 0.2),
                              divided_row(2, 64, "halo", 0.125)));
    assert_non_null(strstr(text, "of the same batch on 2 ranks takes 0.62"));
    assert_null(strstr(text, "for each rank"));
    free(text);
}

static void test_checks(void **state)
{
    (void)state;
    struct row *unchecked = checked_row(8), *noisy = checked_row(8);
    set_step(unchecked, 1, 0.01, 1e9);
    row_set_null(unchecked, "checked", "--no-check");
    set_noisy(noisy, "forward.time", 1);
    assert_said(rows_of(checked_row(8), checked_row(8), NULL), "- 2 of 2 rows passed the numerical check.\n");
    assert_said(rows_of(checked_row(8), unchecked, failed_row(8, "oom", "needs 17 GiB")),
                "- 1 of 3 rows passed the numerical check; 1 was not checked (--no-check); 1 is not ok.\n");
    assert_said(rows_of(checked_row(8), noisy, NULL),
                "- 1 row has a noisy time; no finding gives the median of one.\n");
    assert_not_said(rows_of(checked_row(8), NULL, NULL), "noisy");
    assert_not_said(rows_new(), "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dearest_op),    cmocka_unit_test(test_growth),
        cmocka_unit_test(test_largest),       cmocka_unit_test(test_layers),
        cmocka_unit_test(test_batch),         cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_encodings),     cmocka_unit_test(test_when_encodings_pay_off),
        cmocka_unit_test(test_parts),         cmocka_unit_test(test_checks),
        cmocka_unit_test(test_checkpoints),   cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_divided_nodes), cmocka_unit_test(test_encodings_without_a_solver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
