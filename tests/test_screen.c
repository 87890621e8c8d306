/*
 * What a newcomer sees, in 100 columns: no line of any output is wider, and each benchmark prints the table
 * that it should. For the tables a sweep is measured once, its times are replaced by planted ones, and
 * --resume prints them without measuring anything.
 */
#include "analysis/record/result_file.h"
#include "analysis/tables/units.h"
#include "analysis/tables/wrap.h"
#include "tests/files.h"
#include "tests/records.h"
#include "tests/test.h"

#define TINY "--threads 1 --runs 10 --warmup 1 --output x.json --no-charts "

static const struct {
    const char *name, *words;
} benchmarks[] = {
    {"bench_node_scaling", TINY "--hidden 16 --heads 2 --layers 1 --nodes 8,12,16,20"},
    {"bench_layer_scaling", TINY "--hidden 16 --heads 2 --nodes 8 --layers 1,2 --act gelu,relu"},
    {"bench_batch_scaling", TINY "--hidden 16 --heads 2 --layers 1 --nodes 8 --batch 1,2,4"},
    {"bench_pe_scaling", TINY "--layers 1 --nodes 30 --graph er,grid --pe none,rwse:8 --hidden 32 --heads 2"},
    {"bench_kernels", TINY "--nodes 8 --hidden 16 --heads 2 --op spmm,sparse_attention_backward"},
    {"bench_model", TINY "--nodes 8 --hidden 16 --heads 2"},
    {"bench_presets", TINY "--preset zinc,molhiv --layers 1 --batch 2"},
};
enum { BENCHMARKS = sizeof benchmarks / sizeof *benchmarks };

/* Fails if a line is too wide, except for one with a path, which is not broken. */
static void assert_fits(const char *program, const char *text)
{
    char *copy = strdup(text), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        if (units_width(line) > SCREEN && strncmp(line, "results: ", 9) != 0)
            fail_msg("%s prints %zu columns: %s", program, units_width(line), line);
    free(copy);
}

/* Runs a benchmark with its words and more. */
static void check_widths(size_t i, const char *more)
{
    void *h;
    char words[512];
    house_of(&h, benchmarks[i].name);
    snprintf(words, sizeof words, "%s %s", benchmarks[i].words, more);
    struct ended e = program_run(h, words, NULL);
    assert_between(e.status, 0, 1);
    assert_fits(benchmarks[i].name, e.out);
    assert_fits(benchmarks[i].name, e.err);
    ended_free(&e);
    house_teardown(&h);
}

TEST(test_tables)
{
    for (size_t i = 0; i < BENCHMARKS; i++) {
        check_widths(i, "");
        check_widths(i, "--repetitions 1");
    }
}

TEST(test_other_outputs)
{
    check_widths(0, "--profile --count valgrind");
    check_widths(0, "--dry-run");
    check_widths(1, "--device meta");
    check_widths(2, "--threshold latency:1ns,throughput:1G/s,memory:1B,error:1e-9");
    check_widths(5, "--no-check");
    check_widths(0, "--list ops");
    check_widths(0, "--list graphs");
    check_widths(0, "--list models");
}

/* Replaces a number that was measured. */
static void plant(struct row *row, const char *group, const char *name, double value)
{
    char path[SCHEMA_PATH];
    double old;
    snprintf(path, sizeof path, "%s.%s", group, name);
    if (!row_get_real(row, path, &old))
        return;
    if (schema_find(path)->type == FIELD_COUNT)
        row_set_count(row, path, (int64_t)value);
    else
        row_set_real(row, path, value);
}

/* Ten samples around a median: narrow, wide or skewed. */
static void plant_times(struct row *row, const char *group, double median, size_t kind)
{
    static const double spread[][10] = {
        {.996, .997, .998, .999, 1, 1, 1.001, 1.002, 1.003, 1.004},
        {.90, .92, .94, .96, .98, 1.02, 1.04, 1.06, 1.08, 1.1},
        {.999, .999, .999, 1, 1, 1, 1, 1.3, 1.4, 9},
    };
    char path[SCHEMA_PATH];
    double samples[10], old;
    snprintf(path, sizeof path, "%s.time.median", group);
    if (!row_get_real(row, path, &old))
        return;
    for (size_t i = 0; i < 10; i++)
        samples[i] = median * spread[kind % 3][i];
    snprintf(path, sizeof path, "%s.time", group);
    row_set_samples(row, path, samples, 10);
    plant(row, group, "time.lost", 0.001);
    plant(row, group, "flops.analytic", 1.234e9);
    plant(row, group, "bytes", 1.234e8);
    plant(row, group, "cold.median", 1.7 * median);
    plant(row, group, "memory.planned", 1e9 * median);
    plant(row, group, "memory.peak_live", 1e8 * median);
    plant(row, group, "peak", 1e7 * median);
}

/* What a benchmark prints for planted times, below the title. To be freed. */
static char *planted_table(size_t i, const char *more)
{
    static const char *const groups[] = {"forward", "step", "kernel", "encoding"};
    void *state;
    char words[512], error[MESSAGE_SIZE];
    house_of(&state, benchmarks[i].name);
    const struct house *h = state;
    snprintf(words, sizeof words, "%s %s ", benchmarks[i].words, more);
    struct ended e = run_words(h, words, 0);
    ended_free(&e);
    struct record *record = record_in(h, "work/x.json");
    for (size_t r = 0; r < row_count(record); r++) {
        row_at(record, r)->forward.profile.covered = row_at(record, r)->step.profile.covered = NAN;
        for (size_t g = 0; g < 4; g++)
            plant_times(row_at(record, r), groups[g],
                        5.123e-3 * (double)(r + 1) * (double)(g + 1) * (r == 2 ? 9 : 1), r);
        plant(row_at(record, r), "error", "norm", 1.2e-7);
        plant(row_at(record, r), "noise", "lost", 0.001);
        row_derive(row_at(record, r));
    }
    snprintf(words, sizeof words, "%s/x.json", h->work);
    assert_true(record_save(record, words, error));
    record_free(record);
    snprintf(words, sizeof words, "%s %s --resume", benchmarks[i].words, more);
    e = run_words(h, words, 0);
    char *table = strdup(heading_in(e.out)), *more_tables = strstr(table, "\nwhere step goes");
    if (more_tables)
        *more_tables = '\0';
    ended_free(&e);
    house_teardown(&state);
    return table;
}

TEST(test_planted_tables)
{
    static const struct {
        size_t benchmark;
        const char *more, *expected;
    } tables[] = {
        {0, "",
         "nodes             inference          training step  GFLOP/s    memory  check\n"
         "    8        5.12 ± 0.03 ms          10.2 ± 0.1 ms      120  9.77 MiB  ok 1e-07\n"
         "   12  ~10.2 [9.2, 11.3] ms  ~20.5 [18.4, 22.5] ms     60.2  19.5 MiB  ok 1e-07\n"
         "   16   ~138 [138, 1245] ms    ~277 [276, 2490] ms     4.46   264 MiB  ok 1e-07\n"
         "   20         20.5 ± 0.1 ms          41.0 ± 0.2 ms     30.1  39.1 MiB  ok 1e-07\n"
         "~ a range of 20 % of the median, over 10 %; ...\n"
         "4 rows kept from an earlier run\n"},
        {0, "--columns step,step.memory.peak_live,step.time.p95,graph.edges",
         "nodes          training step  step.memory.peak_live  step.time.p95  edges  check\n"
         "    8          10.2 ± 0.1 ms               1001 KiB              -     40  ok 1e-07\n"
         "   12  ~20.5 [18.4, 22.5] ms               1.95 MiB              -     60  ok 1e-07\n"
         "   16    ~277 [276, 2490] ms               26.4 MiB              -     80  ok 1e-07\n"
         "   20          41.0 ± 0.2 ms               3.91 MiB              -    100  ok 1e-07\n"
         "~ a range of 20 % of the median, over 10 %; ...\n"
         "4 rows kept from an earlier run\n"},
        {1, "",
         "layers   act             inference          training step  GFLOP/s    memory  check\n"
         "     1  gelu        5.12 ± 0.03 ms          10.2 ± 0.1 ms      120  9.77 MiB  ok 1e-07\n"
         "     1  relu  ~10.2 [9.2, 11.3] ms  ~20.5 [18.4, 22.5] ms     60.2  19.5 MiB  ok 1e-07\n"
         "     2  gelu   ~138 [138, 1245] ms    ~277 [276, 2490] ms     4.46   264 MiB  ok 1e-07\n"
         "     2  relu         20.5 ± 0.1 ms          41.0 ± 0.2 ms     30.1  39.1 MiB  ok 1e-07\n"
         "~ a range of 20 % of the median, over 10 %; ...\n"
         "4 rows kept from an earlier run\n"},
        {2, "",
         "batch             inference          training step  graphs/s  GFLOP/s    memory  padding  check\n"
         "    1        5.12 ± 0.03 ms          10.2 ± 0.1 ms      97.6      120  9.77 MiB    0.0 %  ok "
         "1e-07\n"
         "    2  ~10.2 [9.2, 11.3] ms  ~20.5 [18.4, 22.5] ms      97.6     60.2  19.5 MiB     20 %  ok "
         "1e-07\n"
         "    4   ~138 [138, 1245] ms    ~277 [276, 2490] ms      14.5     4.46   264 MiB     43 %  ok "
         "1e-07\n"
         "~ a range of 20 % of the median, over 10 %; ...\n"
         "3 rows kept from an earlier run\n"},
        {3, "",
         "graph      pe               encoding       method  pays after          training step  check\n"
         "   er    none                      -            -           -          10.2 ± 0.1 ms  ok 1e-07\n"
         "   er  rwse:8  ~41.0 [36.9, 45.1] ms  half powers         199  ~20.5 [18.4, 22.5] ms  ok 1e-07\n"
         " grid    none                      -            -           -    ~277 [276, 2490] ms  ok 1e-07\n"
         " grid  rwse:8          82.0 ± 0.4 ms  half powers         199          41.0 ± 0.2 ms  ok 1e-07\n"
         "not shown: step.memory.planned, step.gflops, encoding.peak (--columns)\n"
         "~ a range of 20 % of the median, over 10 %; ...\n"
         "4 rows kept from an earlier run\n"},
        {4, "",
         "                       op  variant                   time          rate    memory     cold  check\n"
         "sparse_attention_backward     simd          15.4 ± 0.1 ms  80.3 GFLOP/s  14.7 MiB  26.1 ms  ok "
         "1e-07\n"
         "sparse_attention_backward      ref  ~30.7 [27.7, 33.8] ms  40.1 GFLOP/s  29.3 MiB  52.3 ms  ok "
         "1e-07\n"
         "                     spmm     simd    ~415 [415, 3735] ms  2.97 GFLOP/s   396 MiB   705 ms  ok "
         "1e-07\n"
         "                     spmm      ref          61.5 ± 0.3 ms  20.1 GFLOP/s  58.6 MiB   105 ms  ok "
         "1e-07\n"
         "~ a range of 20 % of the median, over 10 %; ...\n"
         "4 rows kept from an earlier run\n"},
        {5, "",
         "nodes       inference  training step  GFLOP/s    memory  check\n"
         "    8  5.12 ± 0.03 ms  10.2 ± 0.1 ms      120  9.77 MiB  ok 1e-07\n"
         "1 row kept from an earlier run\n"},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char *text = planted_table(tables[i].benchmark, tables[i].more);
        assert_string_equal(text, tables[i].expected);
        free(text);
    }
}
