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
        {"linear", "packed", "forward", span, 1e-3, 8e-4, "compute", 10, 10, 10, {0}, NULL},
        {"attention", "tiled", "forward", span, attention, 1e-3, "compute", 10, 10, 10, {0}, NULL},
        {"linear", "packed", "backward", span, 1e-3, 8e-4, "compute", 10, 10, 10, {0}, NULL}};
    set_step(row, 2e-3 + attention, 0.01, 1e9);
    if (noisy)
        set_noisy(row, "step.time", 2e-3 + attention);
    profile_write(&(struct profile){.runs = 10, .count = 3, .entries = entries, .ceilings = ""}, row,
                  TIMED_STEP);
    rows_append(rows, row);
    return rows;
}

TEST(test_bound)
{
    assert_said(profiled_rows(3e-3, false),
                "- With 500 nodes, a training step takes 5.00 ± 0.05 ms, at 50 % of its roofline, bound by "
                "compute; the "
                "op to work on is attention (60 % of the time, at 33 % of its roofline). (1 of 1 row)\n");
    assert_said(profiled_rows(1.3e-3, false), /* it loses 0.3 ms, linear 0.4 ms */
                "the op to work on is linear (61 % of the time, at 80 % of its roofline).");
    assert_said(profiled_rows(1.41e-3, false),
                "is attention (41 % of the time, at 71 % of its roofline) or linear "
                "(59 % of the time, at 80 % of its roofline).");
    assert_said(profiled_rows(3e-3, true), "takes 5.00 [4.50, 5.50] ms, at 50 % of its roofline, bound by");
    struct rows *loaded = profiled_rows(1.7e-3, true); /* the lowest turn, and half a profile may be load */
    row_set_real(rows_at(loaded, 0), "step.time.lost", 0.6);
    assert_said(loaded, "takes at most 3.33 ms, at 56 % of its roofline or more, bound by compute; the op to "
                        "work on is attention (46 % of the time, at 59 % of its roofline) or linear (");
    assert_said(profiled_rows(1.7e-3, true), "is attention (46 % of the time, at 59 % of its roofline).");
    assert_said(nodes_rows(flat, 0.01),
                "- With 3200 nodes, a training step takes 135 ± 2 ms, at 50 % of its roofline, "
                "bound by compute; --profile names the op to work on. (1 of 6 rows)\n");
    struct rows *rows = nodes_rows(flat, 0.01); /* the largest row that can be used, and bound otherwise */
    row_set_text(rows_at(rows, 5), "status", "wrong");
    row_set_text(rows_at(rows, 5), "reason", "made up");
    uncheck(rows_at(rows, 4), "--no-check");
    row_set_text(rows_at(rows, 3), "step.roofline.fault", "calibrate again");
    row_set_text(rows_at(rows, 2), "step.roofline.bound", "memory");
    assert_said(rows, "- With 400 nodes, a training step takes 6.60 ± 0.07 ms, at 50 % of its roofline, "
                      "bound by memory (LLC);");
}

TEST(test_growth)
{
    static const double rises[6] = {1, 1, 1, 1, 1, 1.4}, falls[6] = {1.4, 1, 1, 1, 1, 1},
                        wild[6] = {1, 2, 1, 3, 1, 2};
    assert_said(nodes_rows(flat, 0.01),
                "- From 100 to 3200 nodes, a training step takes 1.00 ms + 10.0 µs N + 10.0 ns N^2, within ");
    assert_not_said(nodes_rows(flat, 0.01), "time per FLOP");
    assert_not_said(nodes_rows(falls, 0.01), "time per FLOP");
    assert_said(nodes_rows(wild, 0.01),
                "a training step has no scaling fit (no fit with the terms of the work is "
                "within 20 % of every row); between 1600 and 3200 it grows as "
                "N^2.67 [2.64, 2.70], its FLOPs as N^1.67; time per FLOP rises by ");
    assert_said(nodes_rows(rises, 0.01), "; time per FLOP rises by 40 % from 1600 nodes on. (6 of 6 rows)\n");
    assert_said(nodes_rows(flat, 0.25), "1.00 ms + 10.0 µs N"); /* however wide */
    assert_not_said(nodes_rows(wild, 0.25), "From 100");
    struct rows *rows = nodes_rows(rises, 0.01);
    row_set_text(rows_at(rows, 5), "step.roofline.level", "DRAM");
    assert_said(rows,
                "from 1600 nodes on, where the rows go from LLC, compute-bound, to DRAM, compute-bound.");
    rows = nodes_rows(rises, 0.01); /* three turns show no rise */
    set_noisy(rows_at(rows, 5), "step.time", 0.19);
    assert_not_said(rows, "rises");
    rows = nodes_rows(flat, 0.01);
    uncheck(rows_at(rows, 5), "--no-check");
    assert_said(rows, "% of every row's median. (5 of 6 rows)\n");
    for (int loaded = 0; loaded < 2; loaded++) { /* a rise under load may be the load's */
        rows = nodes_rows(rises, 0.01);
        row_set_real(rows_at(rows, 2), "step.time.lost", loaded ? 0.06 : 0.04);
        assert_said(rows, loaded ? "; under load, exponent likely low. (6" : "; time per FLOP rises by ");
    }
    rows = nodes_rows(flat, 0.01);
    for (int i = 5; i > 1; i--)
        row_free(rows_take(rows, (size_t)i));
    assert_not_said(rows, "From"); /* two sizes */
}

/* What a larger batch gains, if it gains for certain: the last takes this long. */
static struct rows *batch_rows(double last, double noise)
{
    struct rows *rows = rows_new();
    for (int batch = 1; batch <= 4; batch *= 2) {
        struct row *row = checked_row(30);
        row_set_count(row, "batch", batch);
        set_step(row, batch == 4 ? last : 1e-3 * batch, noise, 1e6 * batch);
        rows_append(rows, row);
    }
    return rows;
}

TEST(test_growth_of_batches)
{
    assert_said(batch_rows(2e-3, 0.01),
                "; --batch 4 takes 0.5 [0.49, 0.51] times as long for each graph as 1");
    assert_not_said(batch_rows(4.5e-3, 0.01), "--batch");
    assert_said(batch_rows(3.5e-3, 0.2), "From batch size 1 to 4");
    assert_not_said(batch_rows(3.5e-3, 0.2), "--batch"); /* open */
}

/* Only of dense attention is the term of N^2, and where it is most of the time. */
TEST(test_growth_of_attention)
{
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
TEST(test_growth_over_ranks)
{
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

/* Of each op the fastest kernel, whichever that is; two that may be the one, and more of them; a kernel of
 * which nothing is known may be it. */
TEST(test_kernels)
{
    struct rows *rows =
        rows_of(kernel_row("linear", "simd", 10, 0.01, 60), kernel_row("linear", "ref", 90, 0.01, 1),
                kernel_row("gather", "simd", 3, 0.01, 10));
    assert_said(rows, "- Of the fastest kernel of each op, linear with 500 nodes (10.0 ms, at 60 % of "
                      "its roofline) loses the most "
                      "time to its roofline. (3 of 3 rows)\n");
    assert_said(
        rows_of(kernel_row("linear", "simd", 10, 0.05, 60), kernel_row("spmm", "simd", 9.5, 0.05, 59), NULL),
        "linear with 500 nodes (10.0 ms, at 60 % of its roofline) or spmm with 500 nodes (9.50 ms, "
        "at 59 % of its roofline) "
        "loses");
    assert_not_said(rows_of(kernel_row("linear", "simd", 10, 0.05, 60),
                            kernel_row("spmm", "simd", 9.5, 0.05, 59),
                            kernel_row("relu", "simd", 9.7, 0.05, 60)),
                    "loses");
    for (int kind = 0; kind < 3; kind++) { /* checked, unchecked, and of three turns */
        struct row *other = kernel_row("relu", "simd", 1, 0.01, 60);
        if (kind == 1)
            uncheck(other, "--no-check");
        if (kind == 2)
            set_noisy(other, "kernel.time", 0.001);
        rows = rows_of(kernel_row("linear", "simd", 10, 0.01, 60), kernel_row("gather", "simd", 3, 0.01, 10),
                       other);
        rows_append(rows, kernel_row("spmm", "simd", 4, 0.01, 60));
        (kind == 1 ? assert_not_said : assert_said)(
            rows, kind ? "linear with 500 nodes (10.0 ms, at 60 % of its roofline) or relu"
                       : "linear with 500 nodes");
    }
    rows =
        rows_of(kernel_row("linear", "simd", 10, 0.01, 60), kernel_row("gather", "simd", 3, 0.01, 10), NULL);
    row_set_real(rows_at(rows, 0), "kernel.time.lost", 0.2); /* it may lose 7.9 - 6 ms, gather 2.7 ms */
    assert_said(rows, "linear with 500 nodes (at most 9.90 ms, at 61 % of its roofline) or gather with");
}

static struct row *encoding_row(const char *pe, int64_t nodes, double seconds, double noise)
{
    struct row *row = checked_row(nodes);
    row_set_text(row, "pe", pe);
    set_turns(row, "encoding.time", seconds, noise);
    return row;
}

/* Of graphs with more components than vectors; an encoding that has no eigenvectors, and rows without one. */
TEST(test_encodings_without_a_solver)
{
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

TEST(test_when_encodings_pay_off)
{
    struct rows *rows = rows_new();
    for (int i = 0; i < 3; i++) {
        struct row *row = encoding_row("lap:16", 500 << i, 0.01 * (i + 1), 0.01);
        set_step(row, 0.1, 0.01, 1e9);
        if (i == 2) /* would be the last to pay off */
            uncheck(row, "--no-check");
        rows_append(rows, row);
    }
    assert_said(rows,
                "- Computing an encoding takes less than 1 % of the time after at most 21 training steps on "
                "its graph. (2 of 3 rows)\n");
    assert_not_said(rows_of(encoding_row("lap:16", 500, 1, 0.01), NULL, NULL), "Computing");
    for (int few = 0; few < 2; few++) {
        struct row *only = encoding_row("lap:16", 500, 1e-4, 0.01);
        set_step(only, 0.1, 0.01, 1e9);
        if (few)
            set_noisy(only, "encoding.time", 1e-4);
        (few ? assert_not_said : assert_said)(rows_of(only, encoding_row("rwse:16", 500, 1, 0.01), NULL),
                                              "- Computing an encoding takes less than 1 % of the time after "
                                              "at most 1 training step on its graph. (1 "
                                              "of 2 rows)\n");
    }
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
TEST(test_memory)
{
    assert_said(rows_of(memory_row(500, "none", 0.1, 500), memory_row(400, "none", 0.1, 800), NULL),
                "- With 500 nodes, a training step needs 500 MiB of memory, 50 % of it activations (fewer: "
                "--checkpoint layer). (1 of 2 rows)\n");
    struct row *parameters = memory_row(500, "none", 0.1, 500);
    row_set_count(parameters, "step.memory.activations", 100 << 20);
    assert_said(rows_of(parameters, NULL, NULL), "a training step needs 500 MiB of memory. (");
    assert_said(rows_of(memory_row(500, "none", 0.1, 500), memory_row(500, "layer", 0.13, 100), NULL),
                " needs 500 MiB of memory, with --checkpoint layer 100 MiB in 1.300 [1.274, 1.326] times the "
                "time. (2 "
                "of 2 rows)\n");
    assert_said(rows_of(memory_row(500, "none", 0.1, 500), memory_row(500, "4", 0.08, 100),
                        memory_row(500, "layer", 0.13, 110)),
                "with --checkpoint 4 100 MiB in 0.800 [0.784, 0.816] times the time.");
    assert_said(rows_of(memory_row(500, "none", 0.1, 500), memory_row(500, "layer", 0.1, 100), NULL),
                "500 MiB of memory, with --checkpoint layer 100 MiB in 1.000 [0.980, 1.020] times the time.");
    struct row *wide = memory_row(500, "layer", 0.13, 100); /* in more time or less */
    set_turns(wide, "step.time", 0.1, 0.4);
    assert_said(rows_of(memory_row(500, "none", 0.1, 500), wide, NULL),
                "500 MiB of memory, with --checkpoint layer 100 MiB. (");
    assert_said(rows_of(memory_row(500, "none", 0.1, 500), memory_row(400, "layer", 0.13, 100), NULL),
                "500 MiB of memory. (");
    assert_said(rows_of(memory_row(500, "none", 0.1, 500), failed_row(900, "oom", "needs 17 GiB"), NULL),
                "; out of memory with 900 nodes (needs 17 GiB). (2 of 2 rows)\n");
    struct row *f32 = memory_row(500, "none", 0.1, 500), *bf16 = memory_row(500, "none", 0.13, 300);
    row_set_text(f32, "dtype", "f32");
    row_set_text(bf16, "dtype", "bf16");
    row_set_real(f32, "error.norm", 2e-7);
    struct row *alike = row_copy(bf16), *unchecked = row_copy(f32);
    assert_said(
        rows_of(row_copy(f32), row_copy(bf16), NULL),
        "- With f32 precision, a training step needs 500 MiB of memory, 50 % of it activations (fewer: "
        "--checkpoint layer), with --precision bf16 300 MiB in 1.300 [1.274, 1.326] times the time");
    assert_not_said(rows_of(unchecked, alike, NULL), "an error of");
    row_set_real(bf16, "error.norm", 4e-3);
    struct row *more = row_copy(bf16);
    row_set_count(more, "step.memory.planned", INT64_C(600) << 20);
    assert_not_said(rows_of(row_copy(f32), more, NULL), "--precision bf16");
    assert_said(rows_of(f32, bf16, NULL), "] times the time, and an error of 4e-03, not 2e-07.");
    struct row *batch = memory_row(30, "none", 0.1, 500), *preset = memory_row(30, "none", 0.1, 500),
               *other = memory_row(20, "none", 0.1, 400);
    row_set_count(batch, "batch", 4);
    assert_said(rows_of(batch, NULL, NULL), "With batch size 4, 30 nodes, a training step needs");
    row_set_text(preset, "preset", "zinc");
    assert_said(rows_of(row_copy(preset), NULL, NULL), "With preset zinc, a training step needs");
    row_set_text(other, "preset", "mnist");
    assert_said(rows_of(preset, other, NULL), "With zinc, a training step needs");
    assert_not_said(rows_of(checked_row(500), NULL, NULL), "memory");
}

/* 10 MiB and 1 MiB per node in a machine of 64 GiB; another device's memory is not known. */
TEST(test_what_fits)
{
    for (int gpu = 0; gpu < 2; gpu++) {
        struct rows *rows = rows_of(memory_row(100, "none", 0.1, 110), memory_row(200, "none", 0.2, 210),
                                    memory_row(400, "none", 0.4, 410));
        for (size_t i = 0; i < 3 && gpu; i++)
            row_set_text(rows_at(rows, i), "device", "cuda:0");
        (gpu ? assert_not_said
             : assert_said)(rows, "; about 66000 nodes would fill this machine's 64.0 GiB. (3 of 3 rows)\n");
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

TEST(test_ranks)
{
    assert_said(
        rows_of(rank_row(1, 64, 0, 0.1, 0.001), rank_row(2, 64, 1, 0.0625, 0.001), NULL),
        "- On 2 ranks (--parallel data), a training step takes 0.62 [0.62, 0.63] times what one rank takes: "
        "an efficiency of 80 % [80, 80]. (2 of 2 rows)\n");
    assert_said(rows_of(rank_row(1, 64, 0, 0.1, 0.001), rank_row(4, 256, 0.5, 0.125, 0.001), NULL),
                "- On 4 ranks (--parallel data), each with as many graphs, a training step takes 1.25 [1.2");
    assert_said(rows_of(rank_row(1, 64, 0, 0.1, 0.001), rank_row(2, 64, 0.5, 0.06, 0.001),
                        rank_row(4, 64, 0.5, 0.05, 0.001)),
                "- On 4 ranks (--parallel data), a training step takes 0.50 [");
    /* Other graphs, cores that ranks share, too few turns. */
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
TEST(test_divided_nodes)
{
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

TEST(test_doubts)
{
    struct row *unchecked = checked_row(8), *noisy = checked_row(8),
               *encoded = encoding_row("rwse:16", 8, 1, 0.01);
    set_step(unchecked, 1, 0.01, 1e9);
    uncheck(unchecked, "--no-check");
    set_noisy(noisy, "forward.time", 1);
    assert_not_said(rows_of(checked_row(8), checked_row(8), NULL), "Of 2");
    assert_said(rows_of(checked_row(8), unchecked, failed_row(8, "oom", "needs 17 GiB")),
                "- Of 3 rows, 1 is not ok (needs 17 GiB); 1 was not checked (--no-check).\n");
    row_set_real(noisy, "forward.time.lost", 0.05);
    assert_not_said(rows_of(row_copy(noisy), NULL, NULL), "lost");
    row_set_real(noisy, "forward.time.lost", 0.06);
    assert_said(
        rows_of(checked_row(8), noisy, row_copy(noisy)),
        "- Of 3 rows, 2 lost over 5 % of their time to other programs: alone they take at most the lower end "
        "of their ranges.\n");
    row_omit(encoded, "encoding.checked", "made up");
    assert_said(rows_of(row_copy(encoded), NULL, NULL), "- The row was not checked (made up).\n");
    row_set_text(encoded, "encoding.checked", "64 nodes by full powers in double");
    assert_not_said(rows_of(row_copy(encoded), NULL, NULL), "Of 1");
    row_set_count(encoded, "encoding.nullity", 16);
    row_set_count(encoded, "encoding.iterated", 0);
    row_set_text(encoded, "forward.roofline.fault", "calibrate again");
    assert_said(rows_of(encoded, NULL, NULL), "- The row is faster than its peak rate: measure them again "
                                              "(--peaks measure); it is an encoding of eigenvalue 0 "
                                              "alone, which needs no solver");
    assert_not_said(rows_new(), "-");
}

/* Of several records one of each kind, from where it weighs most, with its name; five in all, doubts last. */
TEST(test_several_records)
{
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
