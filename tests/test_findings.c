/* Findings of planted records: every sentence for data of which it is true, false, and undecidable. */
#include "analysis/findings/findings.h"
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
    profile_write(&(struct profile){10, 3, entries, ""}, row, TIMED_STEP);
    rows_append(rows, row);
    return rows;
}

static void test_bound(void **state)
{
    (void)state;
    assert_said(profiled_rows(3e-3, false),
                "- With 500 nodes, a training step takes 5.00 ± 0.05 ms, at 50 % of its roofline, bound by "
                "compute; the "
                "op to work on is attention (60 % of the time, at 33 % of its roofline).\n");
    assert_said(profiled_rows(1.3e-3, false), /* it loses 0.3 ms, linear 0.4 ms */
                "the op to work on is linear (61 % of the time, at 80 % of its roofline).");
    assert_said(profiled_rows(1.41e-3, false),
                "is attention (41 % of the time, at 71 % of its roofline) or linear "
                "(59 % of the time, at 80 % of its roofline).");
    assert_not_said(profiled_rows(3e-3, true), "to work on");
    assert_said(nodes_rows(flat, 0.01),
                "- With 3200 nodes, a training step takes 135 ± 2 ms, at 50 % of its roofline, "
                "bound by compute; --profile names the op to work on.\n");
    struct rows *rows = nodes_rows(flat, 0.01); /* the largest row that can be used, and bound otherwise */
    set_noisy(rows_at(rows, 5), "step.time", 1);
    uncheck(rows_at(rows, 4), "--no-check");
    row_set_text(rows_at(rows, 3), "step.roofline.fault", "calibrate again");
    row_set_text(rows_at(rows, 2), "step.roofline.bound", "memory");
    assert_said(rows, "- With 400 nodes, a training step takes 6.60 ± 0.07 ms, at 50 % of its roofline, "
                      "bound by memory (LLC);");
}

static void test_growth(void **state)
{
    (void)state;
    static const double rises[6] = {1, 1, 1, 1, 1, 1.4}, falls[6] = {1.4, 1, 1, 1, 1, 1},
                        wild[6] = {1, 2, 1, 3, 1, 2};
    assert_said(nodes_rows(flat, 0.01),
                "- From 100 to 3200 nodes, a training step takes 1.00 ms + 10.0 µs N + 10.0 ns N^2, within ");
    assert_not_said(nodes_rows(flat, 0.01), "time per FLOP");
    assert_not_said(nodes_rows(falls, 0.01), "time per FLOP");
    assert_said(nodes_rows(wild, 0.01), "a training step has no law (no law with the terms of the work is "
                                        "within 20 % of every row); between 1600 and 3200 it grows as "
                                        "N^2.67 [2.65, 2.69], its FLOPs as N^1.67; time per FLOP rises by ");
    assert_said(nodes_rows(rises, 0.01), "; time per FLOP rises by 40 % from 1600 nodes on.\n");
    assert_said(nodes_rows(flat, 0.18), "1.00 ms + 10.0 µs N");
    assert_not_said(nodes_rows(flat, 0.25), "From 100");
    struct rows *rows = nodes_rows(rises, 0.01);
    row_set_text(rows_at(rows, 5), "step.roofline.level", "DRAM");
    assert_said(rows,
                "from 1600 nodes on, where the rows go from LLC, compute-bound, to DRAM, compute-bound.\n");
    rows = nodes_rows(rises, 0.01); /* the row that contradicts is noisy */
    set_noisy(rows_at(rows, 5), "step.time", 1);
    assert_said(rows, "- From 100 to 1600 nodes, a training step takes");
    rows = nodes_rows(flat, 0.01);
    set_noisy(rows_at(rows, 5), "step.time", 1);
    assert_said(rows, "; 1 row left out: inconclusive, unchecked or in another state of the machine.\n");
    rows = nodes_rows(flat, 0.01);
    for (int i = 5; i > 1; i--)
        row_free(rows_take(rows, (size_t)i));
    assert_not_said(rows, "From"); /* two sizes */
}

/* Only of dense attention is the term of N^2, and where it is most of the time. */
static void test_growth_of_attention(void **state)
{
    (void)state;
    for (int last = 4; last < 6; last++)
        for (int dense = 0; dense < 2; dense++) {
            struct rows *rows = nodes_rows(flat, 0.01);
            for (int i = 5; i > last; i--)
                row_free(rows_take(rows, (size_t)i));
            for (size_t i = 0; i < rows_count(rows); i++)
                row_set_text(rows_at(rows, i), "attention", dense ? "dense" : "sparse");
            (dense && last == 5 ? assert_said : assert_not_said)(
                rows, "; by it the N^2 term, which --attention sparse avoids, is 7");
        }
}

/* Nodes that grow with the ranks are no growth over nodes; the largest of several fits is told. */
static void test_growth_over_ranks(void **state)
{
    (void)state;
    struct rows *rows = nodes_rows(flat, 0.01);
    for (size_t i = 0; i < rows_count(rows); i++)
        row_set_count(rows_at(rows, i), "ranks.count", 1 << i);
    assert_not_said(rows, "From 100");
    rows = rows_new();
    for (int layers = 1; layers <= 16; layers *= 2) {
        struct row *row = checked_row(500);
        row_set_count(row, "layers", layers);
        set_step(row, 5e-3 + 10e-3 * layers, 0.01, 1e8 + 1e9 * layers);
        rows_append(rows, row);
    }
    assert_said(rows, "- From 1 to 16 layers, a training step takes 5.00 ms + 10.0 ms L, within ");
}

/* A kernel whose op takes so many milliseconds. */
static struct row *kernel_row(const char *op, const char *variant, double milliseconds, double noise,
                              double percent)
{
    struct row *row = checked_row(500);
    row_set_text(row, "op", op);
    row_set_text(row, "variant", variant);
    set_turns(row, "kernel.time", milliseconds / 1e3, noise);
    row_set_real(row, "kernel.roofline.percent", percent);
    row_set_text(row, "kernel.roofline.fault", "");
    return row;
}

/* Of each op the fastest kernel; two that may be the one, and more of them. */
static void test_kernels(void **state)
{
    (void)state;
    struct rows *rows =
        rows_of(kernel_row("linear", "simd", 10, 0.01, 60), kernel_row("linear", "ref", 90, 0.01, 1),
                kernel_row("gather", "simd", 3, 0.01, 10));
    assert_said(rows, "- Of the fastest kernel of each op, linear simd with 500 nodes (10.0 ms, at 60 % of "
                      "its roofline) loses the most "
                      "time to its roofline.\n");
    assert_said(
        rows_of(kernel_row("linear", "simd", 10, 0.05, 60), kernel_row("spmm", "simd", 9.5, 0.05, 59), NULL),
        "linear simd with 500 nodes (10.0 ms, at 60 % of its roofline) or spmm simd with 500 nodes (9.50 ms, "
        "at 59 % of its roofline) "
        "loses");
    assert_not_said(rows_of(kernel_row("linear", "simd", 10, 0.05, 60),
                            kernel_row("spmm", "simd", 9.5, 0.05, 59),
                            kernel_row("relu", "simd", 9.7, 0.05, 60)),
                    "loses");
    struct row *noisy = kernel_row("attention", "flash", 90, 0, 1),
               *unchecked = kernel_row("relu", "simd", 80, 0, 2);
    set_noisy(noisy, "kernel.time", 0.09);
    uncheck(unchecked, "--no-check");
    rows = rows_of(kernel_row("linear", "simd", 10, 0.01, 60), noisy, unchecked);
    rows_append(rows, kernel_row("gather", "simd", 3, 0.01, 10));
    assert_said(rows, "- Of the fastest kernel of each op, linear simd");
}

static struct row *encoding_row(const char *pe, int64_t nodes, double seconds, double noise)
{
    struct row *row = checked_row(nodes);
    row_set_text(row, "pe", pe);
    set_turns(row, "encoding.time", seconds, noise);
    return row;
}

/* Of graphs with more components than vectors; an encoding that has no eigenvectors, and rows without one. */
static void test_encodings_without_a_solver(void **state)
{
    (void)state;
    static const struct {
        int64_t nullity, iterated;
        bool nothing;
    } cases[] = {{15, 1, false}, {16, 0, true}, {0, 0, false}};
    struct row *row = encoding_row("lap:16", 500, 0.01, 0.01);
    assert_false(row_solved_nothing(row));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        row_set_count(row, "encoding.nullity", cases[i].nullity);
        row_set_count(row, "encoding.iterated", cases[i].iterated);
        assert_int_equal(row_solved_nothing(row), cases[i].nothing);
    }
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
        "- Of 2 encodings the last to pay off (1000 nodes) takes less than 1 % of the time after about 20 "
        "training steps on its graph.\n");
    assert_not_said(rows_of(encoding_row("lap:16", 500, 1, 0.01), NULL, NULL), "pay off");
    struct row *only = encoding_row("lap:16", 500, 0.01, 0.01);
    row_set_count(only, "encoding.break_even_step", 1);
    set_step(only, 0.1, 0.01, 1e9);
    assert_said(rows_of(only, encoding_row("rwse:16", 500, 1, 0.01), NULL),
                "- The encoding (lap:16) takes less than 1 % of the time after about 1 training step on its "
                "graph.\n");
}

/* A row of `nodes` with these checkpoints, whose step takes this long and needs so many MiB, most of it
 * activations. */
static struct row *memory_row(int64_t nodes, const char *checkpoint, double seconds, int64_t mebibytes)
{
    struct row *row = checked_row(nodes);
    row_set_text(row, "checkpoint", checkpoint);
    set_step(row, seconds, 0.01, (double)nodes * 1e7);
    row_set_count(row, "step.memory.planned", mebibytes << 20);
    row_set_count(row, "step.memory.peak_live", mebibytes << 20);
    row_set_count(row, "step.memory.activations", mebibytes << 19);
    return row;
}

/* Of the most work; of checkpoints, and of precision, what rows show that differ in nothing else, with their
 * time if it differs. */
static void test_memory(void **state)
{
    (void)state;
    assert_said(rows_of(memory_row(500, "none", 0.1, 500), memory_row(400, "none", 0.1, 800), NULL),
                "- With 500 nodes, a training step needs 500 MiB of memory, 50 % of it activations (fewer: "
                "--checkpoint layer).\n");
    struct row *parameters = memory_row(500, "none", 0.1, 500);
    row_set_count(parameters, "step.memory.activations", 100 << 20);
    assert_said(rows_of(parameters, NULL, NULL), "a training step needs 500 MiB of memory.\n");
    assert_said(rows_of(memory_row(500, "none", 0.1, 500), memory_row(500, "layer", 0.13, 100), NULL),
                " needs 500 MiB of memory, with layer checkpoints 100 MiB, in 30 % more time [2");
    assert_said(rows_of(memory_row(500, "none", 0.1, 500), memory_row(500, "4", 0.08, 100),
                        memory_row(500, "layer", 0.13, 110)),
                "with 4 checkpoints 100 MiB, in 20 % less time [");
    assert_said(rows_of(memory_row(500, "none", 0.1, 500), memory_row(500, "layer", 0.1, 100), NULL),
                "500 MiB of memory, with layer checkpoints 100 MiB.\n");
    assert_said(rows_of(memory_row(500, "none", 0.1, 500), memory_row(400, "layer", 0.13, 100), NULL),
                "500 MiB of memory.\n");
    assert_said(rows_of(memory_row(500, "none", 0.1, 500), failed_row(900, "oom", "needs 17 GiB"), NULL),
                "; out of memory with 900 nodes (needs 17 GiB).\n");
    struct row *f32 = memory_row(500, "none", 0.1, 500), *bf16 = memory_row(500, "none", 0.13, 300);
    row_set_text(f32, "dtype", "f32");
    row_set_text(bf16, "dtype", "bf16");
    row_set_real(f32, "error.norm", 2e-7);
    struct row *alike = row_copy(bf16), *unchecked = row_copy(f32);
    assert_said(
        rows_of(row_copy(f32), row_copy(bf16), NULL),
        "- With f32 precision, a training step needs 500 MiB of memory, 50 % of it activations (fewer: "
        "--checkpoint layer), with bf16 precision 300 MiB, in 30 % more time [2");
    assert_not_said(rows_of(unchecked, alike, NULL), "an error of");
    row_set_real(bf16, "error.norm", 4e-3);
    struct row *more = row_copy(bf16);
    row_set_count(more, "step.memory.planned", INT64_C(600) << 20);
    assert_not_said(rows_of(row_copy(f32), more, NULL), "bf16");
    assert_said(rows_of(f32, bf16, NULL), "], and an error of 4e-03, not 2e-07.\n");
    struct row *batch = memory_row(30, "none", 0.1, 500), *preset = memory_row(30, "none", 0.1, 500),
               *other = memory_row(20, "none", 0.1, 400);
    row_set_count(batch, "batch", 4);
    assert_said(rows_of(batch, NULL, NULL), "With 4 graphs, 30 nodes, a training step needs");
    row_set_text(preset, "preset", "zinc");
    assert_said(rows_of(row_copy(preset), NULL, NULL), "With preset zinc, a training step needs");
    row_set_text(other, "preset", "mnist");
    assert_said(rows_of(preset, other, NULL), "With zinc, a training step needs");
    assert_not_said(rows_of(checked_row(500), NULL, NULL), "memory");
}

/* 10 MiB and 1 MiB per node in a machine of 64 GiB; another device's memory is not known. */
static void test_what_fits(void **state)
{
    (void)state;
    for (int gpu = 0; gpu < 2; gpu++) {
        struct rows *rows = rows_of(memory_row(100, "none", 0.1, 110), memory_row(200, "none", 0.2, 210),
                                    memory_row(400, "none", 0.4, 410));
        for (size_t i = 0; i < 3 && gpu; i++)
            row_set_text(rows_at(rows, i), "device", "cuda:0");
        (gpu ? assert_not_said : assert_said)(rows,
                                              "; about 66000 nodes would fill this machine's 64.0 GiB.\n");
    }
    assert_not_said(rows_of(memory_row(100, "none", 0.1, 110), memory_row(200, "none", 0.2, 210),
                            memory_row(400, "none", 0.4, 900)),
                    "would fill");
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
    assert_said(
        rows_of(rank_row(1, 64, 0, 0.1, 0.001), rank_row(2, 64, 1, 0.0625, 0.001), NULL),
        "- On 2 ranks (--parallel data), a training step takes 0.62 [0.62, 0.63] times what one rank takes: "
        "an efficiency of 80 % [80, 80].\n");
    assert_said(rows_of(rank_row(1, 64, 0, 0.1, 0.001), rank_row(4, 256, 0.5, 0.125, 0.001), NULL),
                "- On 4 ranks (--parallel data), each with as many graphs, a training step takes 1.25 [1.2");
    assert_said(rows_of(rank_row(1, 64, 0, 0.1, 0.001), rank_row(2, 64, 0.5, 0.06, 0.001),
                        rank_row(4, 64, 0.5, 0.05, 0.001)),
                "- On 4 ranks (--parallel data), a training step takes 0.50 [");
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
                "- On 2 ranks (--parallel halo), each with as many nodes, a training step takes 1.25 [1.2");
    assert_not_said(rows_of(divided_row(1, 32, "halo", 0.1), divided_row(2, 96, "halo", 0.125), NULL),
                    "efficiency");
    assert_not_said(rows_of(divided_row(1, 32, "data", 0.1), divided_row(2, 64, "data", 0.125), NULL),
                    "efficiency");
    char *text = said(rows_of(divided_row(1, 32, "halo", 0.1), divided_row(1, 64, "halo", 0.2),
                              divided_row(2, 64, "halo", 0.125)));
    assert_non_null(strstr(text, "On 2 ranks (--parallel halo), a training step takes 0.62"));
    free(text);
}

static void test_doubts(void **state)
{
    (void)state;
    struct row *unchecked = checked_row(8), *noisy = checked_row(8),
               *encoded = encoding_row("rwse:16", 8, 1, 0.01);
    set_step(unchecked, 1, 0.01, 1e9);
    uncheck(unchecked, "--no-check");
    set_noisy(noisy, "forward.time", 1);
    assert_not_said(rows_of(checked_row(8), checked_row(8), NULL), "Of 2");
    assert_said(rows_of(checked_row(8), unchecked, failed_row(8, "oom", "needs 17 GiB")),
                "- Of 3 rows, 1 is not ok (needs 17 GiB); 1 was not checked (--no-check).\n");
    assert_said(
        rows_of(noisy, row_copy(noisy), NULL),
        "- All 2 rows have inconclusive times (3 turns, fewer than 7, ...), left out of findings: stop other "
        "programs, or take more turns (--budget).\n");
    row_omit(encoded, "encoding.checked", "made up");
    assert_said(rows_of(row_copy(encoded), NULL, NULL), "- The row was not checked (made up).\n");
    row_set_text(encoded, "encoding.checked", "64 nodes by full powers in double");
    assert_not_said(rows_of(row_copy(encoded), NULL, NULL), "Of 1");
    row_set_count(encoded, "encoding.nullity", 16);
    row_set_count(encoded, "encoding.iterated", 0);
    row_set_text(encoded, "forward.roofline.fault", "calibrate again");
    assert_said(rows_of(encoded, NULL, NULL), "- The row is faster than its ceiling: measure them again "
                                              "(--ceilings measure); it is an encoding of eigenvalue 0 "
                                              "alone, which needs no solver");
    assert_not_said(rows_new(), "-");
}

/* Of several records one of each kind, from where it weighs most, with its name; five in all, doubts last. */
static void test_several_records(void **state)
{
    (void)state;
    struct record *records[] = {empty_record(), empty_record()};
    struct rows *rows[] = {nodes_rows(flat, 0.01), profiled_rows(3e-3, false)};
    const char *const names[] = {"sweep", "profile"};
    char *text, *rest;
    size_t size, lines = 0;
    rows_append(rows[1], failed_row(8, "failed", "made up"));
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < rows_count(rows[i]); k++)
            add_row(records[i], row_copy(rows_at(rows[i], k)));
        rows_free(rows[i]);
    }
    FILE *out = open_memstream(&text, &size);
    findings_write(out, (const struct record *const *)records, names, 2);
    fclose(out);
    for (rest = text; (rest = strchr(rest, '\n')); rest++)
        lines++;
    assert_true(lines == 4 && lines <= FINDINGS_MAX);
    assert_int_equal(strncmp(text, "sweep: From 100 to 3200 nodes, a training step takes ", 50), 0);
    assert_non_null(strstr(text, "\nprofile: With "));
    assert_non_null(strstr(text, "\nsweep: With 3200 nodes, a training step needs 100 MiB"));
    assert_non_null(strstr(text, "\nOf 8 rows, 1 is not ok (made up); 1 of these is in profile.\n"));
    free(text);
    record_free(records[0]);
    record_free(records[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_growth_of_attention),
        cmocka_unit_test(test_growth_over_ranks),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_when_encodings_pay_off),
        cmocka_unit_test(test_encodings_without_a_solver),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_what_fits),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_divided_nodes),
        cmocka_unit_test(test_doubts),
        cmocka_unit_test(test_several_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
