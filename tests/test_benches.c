/*
 * The benchmarks other than bench_node_scaling: their default rows and the contents of their tables. Shared
 * behaviour is tested with bench_node_scaling.
 */
#include <math.h>
#include <unistd.h>

#include "analysis/record/record.h"
#include "kernels/backend.h"
#include "tests/encodings.h"
#include "tests/files.h"
#include "tests/records.h"
#include "tests/test.h"

#define SMALL "--hidden 16 --heads 2 --runs 2 --warmup 1 --output x.json "

/* The words of a line, separated by single blanks: "batch forward graphs/s". */
static void words_of(char *to, const char *line)
{
    char *start = to;
    for (; *line && *line != '\n'; line++)
        if (*line != ' ' || (to > start && to[-1] != ' '))
            *to++ = *line;
    *to = '\0';
}

/* The program's table, below its title, begins with this heading. */
static void assert_heading(const struct house *h, const char *words, const char *heading)
{
    char found[1024];
    struct ended e = run_words(h, words, 0);
    assert_true(strlen(e.out) < sizeof found);
    words_of(found, heading_in(e.out));
    assert_string_equal(found, heading);
    ended_free(&e);
}

static void assert_axis(const struct record *record, const char *axis, const int64_t *values, size_t count)
{
    assert_int_equal(row_count(record), count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(count_at(row_at(record, i), axis), values[i]);
}

TEST(test_layer_scaling)
{
    static const int64_t layers[] = {2, 4, 6, 8, 12, 16};
    void *h;
    house_of(&h, "bench_layer_scaling");
    struct record *record = run_json(h, "--device meta", 0);
    assert_axis(record, "layers", layers, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(count_at(row_at(record, i), "nodes"), 500);
    /* Layers are identical: two more always add the same. */
    int64_t flops[3];
    for (size_t i = 0; i < 3; i++)
        flops[i] = count_at(row_at(record, i), "forward.flops.analytic");
    assert_true(flops[1] - flops[0] == flops[2] - flops[1]);
    record_free(record);
    assert_heading(h, SMALL "--nodes 8 --layers 1,2", "layers inference training step GFLOP/s memory check");
    *state = h;
    house_teardown(state);
}

TEST(test_batch_scaling)
{
    static const int64_t graphs[] = {1, 2, 4, 8, 16, 32, 64, 128};
    void *h;
    house_of(&h, "bench_batch_scaling");
    struct record *record = run_json(h, "--device meta", 0);
    assert_axis(record, "batch", graphs, 8);
    for (size_t i = 0; i < 8; i++) {
        const struct row *row = row_at(record, i);
        double pairs = real_at(row, "graph.pairs");
        double padded = graphs[i] > 1 ? real_at(row, "graph.padded_pairs") : pairs;
        assert_int_equal(count_at(row, "nodes"), 32);
        assert_true(fabs(real_at(row, "graph.padding_waste") - (1 - pairs / padded)) < 1e-15);
        assert_true((real_at(row, "graph.padding_waste") > 0) == (graphs[i] > 1));
    }
    record_free(record);
    assert_heading(h, SMALL "--nodes 8 --layers 1 --batch 1,3",
                   "batch inference training step graphs/s GFLOP/s memory padding check");
    record = record_in(h, "work/x.json");
    const struct row *row = row_at(record, 1);
    assert_true(fabs(real_at(row, "forward.throughput") * real_at(row, "forward.time.median") - 3) < 1e-9);
    record_free(record);
    *state = h;
    house_teardown(state);
}

/* A row of bench_kernels: this op, this variant, and consistent figures. */
static void assert_kernel(const struct row *row, const char *form, const struct kernel *k)
{
    assert_string_equal(text_at(row, "op"), form);
    assert_string_equal(text_at(row, "variant"), k->variant);
    assert_string_equal(text_at(row, "status"), "ok");
    double median = real_at(row, "kernel.time.median"), bytes = real_at(row, "kernel.bytes");
    double flops = real_at(row, "kernel.flops.analytic");
    assert_true(bytes > 0);
    assert_true(fabs(real_at(row, "kernel.bandwidth") * 1e9 * median - bytes) <= 1e-9 * bytes);
    assert_true(fabs(real_at(row, "kernel.gflops") * 1e9 * median - flops) <= 1e-9 * flops);
    assert_true(fabs(real_at(row, "kernel.intensity") * bytes - flops) <= 1e-9 * flops);
    assert_true(real_at(row, "error.norm") < 1e-4);
    assert_absent(row, "forward.time.median");
    assert_absent(row, "model");
}

/* One row per op, without options or with one, and variant of the backend, in the order of ops.def and of the
 * backend's tables. */
TEST(test_kernels)
{
    void *h;
    house_of(&h, "bench_kernels");
    struct record *record = run_json(
        h, "--nodes 20 --hidden 16 --heads 2 --layers 1 --runs 1 --warmup 0 --cold 0 --output x.json", 0);
    size_t row = 0;
    for (int n = 0; form_at(n).op < OPS; n++) {
        struct form f = form_at(n);
        bool usual = !op_info(f.op)->exchange && f.op != OP_function && __builtin_popcount(f.options) <= 1;
        for (const struct backend *from = backend_cpu(); from && usual; from = from->base)
            for (int i = 0; i < from->count; i++)
                if (from->kernels[i].op == f.op && from->kernels[i].dtype == F32 &&
                    from->kernels[i].bits == 24)
                    assert_kernel(row_at(record, row++), form_name(f), &from->kernels[i]);
    }
    assert_int_equal(row_count(record), row);
    record_free(record);
    *state = h;
    house_teardown(state);
}

TEST(test_chosen_kernels)
{
    static const char *const rows[][2] = {{"linear", "ref"}, {"linear", "ref"}, {"fill", "simd"},
                                          {"fill", "simd"},  {"fill", "ref"},   {"fill", "ref"}};
    void *h;
    house_of(&h, "bench_kernels");
    struct record *record = run_json(
        h, "--device meta --op attention+mask+dropout,attention --impl attention+mask+dropout=ref --nodes 8",
        0);
    assert_int_equal(row_count(record), 3);
    assert_string_equal(text_at(row_at(record, 0), "op"), "attention");
    assert_string_equal(text_at(row_at(record, 0), "variant"), "flash");
    assert_string_equal(text_at(row_at(record, 2), "op"), "attention+mask+dropout");
    assert_string_equal(text_at(row_at(record, 2), "variant"), "ref");
    record_free(record);
    record = run_json(h, "--device meta --op fill,linear --impl linear=ref --nodes 8,16", 0);
    assert_int_equal(row_count(record), 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(text_at(row_at(record, i), "op"), rows[i][0]);
        assert_string_equal(text_at(row_at(record, i), "variant"), rows[i][1]);
        assert_int_equal(count_at(row_at(record, i), "nodes"), i % 2 ? 16 : 8);
    }
    assert_string_equal(text_at(row_at(record, 2), "work"), text_at(row_at(record, 4), "work"));
    assert_string_not_equal(text_at(row_at(record, 0), "work"), text_at(row_at(record, 2), "work"));
    record_free(record);
    assert_heading(h, "--op fill --nodes 8 --runs 1 --cold 3 --output x.json",
                   "op variant time rate memory cold check");
    record = record_in(h, "work/x.json");
    assert_int_equal(count_at(row_at(record, 0), "kernel.cold.n"), 3);
    assert_true(real_at(row_at(record, 0), "kernel.cold.median") > 0);
    assert_null_because(row_at(record, 0), "kernel.cold.percent", "--no-roofline");
    record_free(record);
    *state = h;
    house_teardown(state);
}

/* The total is at least as long as each of its parts. */
static void check_cold_start(const struct row *row, bool encoded)
{
    static const char *const parts[] = {"graph", "record", "upload", "forward", "encoding"};
    for (int i = 0; i < 4 + encoded; i++) {
        char path[64];
        snprintf(path, sizeof path, "cold_start.%s", parts[i]);
        assert_true(real_at(row, path) > 0);
        assert_true(real_at(row, path) <= real_at(row, "cold_start.total"));
    }
    if (!encoded)
        assert_absent(row, "cold_start.encoding");
}

/* A complete report of a configuration: each part is measured, and all tables and charts exist. */
TEST(test_model)
{
    needs_lapack();
    static const char *const texts[] = {"profile of forward at 8 nodes",
                                        "profile of step at 8 nodes",
                                        "entry, the slowest 10",
                                        "memory at the peak",
                                        "FLOP/B",
                                        "cold start"};
    void *h;
    house_of(&h, "bench_model");
    ((struct house *)h)->charts = true;
    struct ended e = run_words(h, SMALL "--nodes 8 --layers 1 --pe none,lap:4:4 --all", 0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strstr(e.out, texts[i]))
            fail_msg("no '%s' in\n%s", texts[i], e.out);
    bool draws = system("gnuplot --version >/dev/null 2>&1") == 0;
    assert_non_null(strstr(e.err, draws ? "timeline_step,timeline_forward}.svg, .png\n"
                                        : "charts skipped: gnuplot is not installed"));
    ended_free(&e);
    struct record *record = record_in(h, "work/x.json");
    assert_int_equal(row_count(record), 2);
    check_cold_start(row_at(record, 1), true);
    check_cold_start(row_at(record, 0), false);
    record_free(record);
    e = run_words(
        h, "--nodes 8 --hidden 16 --heads 2 --layers 1 --phase forward --runs 20 --threads 1 --output x.json",
        0);
    assert_true(!draws || strstr(e.err, "x_{profile,"));
    ended_free(&e);
    e = run_words(h, SMALL "--nodes 8 --layers 1 --mem-limit 8KiB", 1); /* enough for the graph only */
    ended_free(&e);
    record = record_in(h, "work/x.json");
    assert_string_equal(text_at(row_at(record, 0), "status"), "oom");
    assert_null_because(row_at(record, 0), "cold_start.total", "no memory");
    record_free(record);
    *state = h;
    house_teardown(state);
}

/* Where time and memory go, of one model and of three: at most 40 lines, with ten ops and each category. */
TEST(test_model_table)
{
    static const char *const words[] = {SMALL "--nodes 8", SMALL "--nodes 8 --model gps,gps_sparse,gin",
                                        SMALL "--nodes 8 --device meta --model gps,gin"};
    static const char *const texts[] = {"\nlinear_backward ", "\nparameters ",    "\nmemory at the peak ",
                                        "\n  parameters ",    "\n  activations ", "\n  workspace "};
    void *h;
    house_of(&h, "bench_model");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct ended e = run_words(h, words[i], 0);
        assert_between(lines_of(e.out), 15, 40);
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            if (!strstr(e.out, texts[t]))
                fail_msg("no '%s' in\n%s", texts[t], e.out);
        assert_null(strstr(e.out, "profile of"));
        ended_free(&e);
    }
    struct ended e = run_words(h, SMALL "--nodes 8 --format csv", 0);
    assert_null(strstr(e.out, "memory at the peak"));
    ended_free(&e);
    *state = h;
    house_teardown(state);
}

/* The preset is in every row, and no column is there twice. */
TEST(test_presets)
{
    void *h;
    house_of(&h, "bench_presets");
    struct ended e = run_words(h, "--preset zinc --layers 1 --batch 1,2 --runs 2 --output x.json", 0);
    assert_non_null(strstr(e.out, "\n  zinc "));
    ended_free(&e);
    assert_heading(h, "--preset zinc --layers 1 --batch 1,2 --runs 1 --output x.json",
                   "preset batch nodes inference training step graphs/s GFLOP/s memory padding check");
    *state = h;
    house_teardown(state);
}

/* Charts for which there is no room are a failure; the result is complete. */
TEST(test_cut_charts)
{
    if (system("gnuplot --version >/dev/null 2>&1") != 0)
        skip();
    void *house;
    house_of(&house, "bench_node_scaling");
    struct house *h = house;
    char line[3 * PATH_MAX];
    snprintf(line, sizeof line,
             "cd %s && ulimit -f 96 && %s " SMALL
             "--nodes 8,16 --repetitions 1 --no-check --no-roofline >/dev/null 2>cut.log; "
             "test $? = 1 && grep -q 'charts: gnuplot failed on x_time.png' cut.log",
             h->work, h->program);
    assert_int_equal(system(line), 0);
    struct record *record = record_in(h, "work/x.json");
    assert_int_equal(row_count(record), 2);
    record_free(record);
    house_teardown(&house);
}
