/* A program that is only planned: its report, and times predicted at given ceilings (--peaks). */
#include <math.h>

#include "analysis/findings/findings.h"
#include "analysis/record/profile.h"
#include "analysis/record/result_file.h"
#include "analysis/record/schema.h"
#include "analysis/tables/units.h"
#include "analysis/tables/wrap.h"
#include "bench/machine/calibration.h"
#include "kernels/cuda/beside.h"
#include "tests/files.h"
#include "tests/records.h"
#include "tests/refusals.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

#define PLAN  "--device meta --nodes 64 --hidden 32 --heads 2 --layers 2 "
#define RATES "--peaks peak=50GFLOP/s,dram=10GB/s "

static const double peak = 50e9, dram = 10e9;

static int setup(void **state)
{
    return house_of(state, "bench_model");
}

/* Each entry's time is that of its FLOPs at the peak or of its bytes at the bandwidth; live bytes are those
 * of the categories. */
static void check_entries(const struct profile *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct profile_entry *e = &p->entries[i];
        double compute = (double)e->flops / peak, memory = (double)e->bytes / dram;
        int64_t live = 0;
        assert_true(fabs(e->least - fmax(compute, memory)) <= 1e-12 * e->least);
        assert_string_equal(e->bound, memory > compute ? "memory" : "compute");
        assert_true(isnan(e->seconds));
        for (int c = 0; c < PROFILE_CATEGORIES; c++)
            live += e->live_of[c];
        assert_int_equal(live, e->live);
    }
}

/* At the entry with the most live bytes, the categories are those of the row's peak. */
static void check_peak(const struct profile *p, const struct row *row, const char *program)
{
    char path[SCHEMA_PATH];
    size_t fullest = 0;
    for (size_t i = 0; i < p->count; i++)
        fullest = p->entries[i].live > p->entries[fullest].live ? i : fullest;
    snprintf(path, sizeof path, "%s.memory.peak_live", program);
    assert_int_equal(p->entries[fullest].live, count_at(row, path));
    for (int c = 0; c < PROFILE_CATEGORIES; c++) {
        snprintf(path, sizeof path, "%s.profile.live_%s", program, profile_categories[c]);
        const struct items *live = field_items(row, schema_find(path));
        assert_int_equal(live->count, p->count);
        snprintf(path, sizeof path, "%s.memory.%s", program, profile_categories[c]);
        assert_int_equal(live->counts[fullest], count_at(row, path));
    }
}

/* Its sums are the totals of the program. */
static void check_plan(const struct row *row, size_t kind)
{
    const char *program = program_name(kind);
    struct profile p;
    char path[SCHEMA_PATH];
    assert_true(profile_read(&p, row, kind));
    check_entries(&p);
    check_peak(&p, row, program);
    struct profile_group total = profile_total(&p);
    snprintf(path, sizeof path, "%s.flops.analytic", program);
    assert_int_equal(total.flops, count_at(row, path));
    snprintf(path, sizeof path, "%s.bytes", program);
    assert_int_equal(total.bytes, count_at(row, path));
    snprintf(path, sizeof path, "%s.predicted.time", program);
    assert_true(fabs(real_at(row, path) - total.least) <= 1e-12 * total.least && total.least > 0);
    snprintf(path, sizeof path, "%s.predicted.memory_bound", program);
    assert_true(fabs(real_at(row, path) - total.memory / total.least) <= 1e-12);
    snprintf(path, sizeof path, "%s.predicted.peaks", program);
    assert_string_equal(text_at(row, path), "50.0 GFLOP/s, DRAM 10.0 GB/s");
    snprintf(path, sizeof path, "%s.profile.runs", program);
    assert_null_because(row, path, "--device meta");
    snprintf(path, sizeof path, "%s.profile.seconds", program);
    assert_null_because(row, path, "--device meta");
    profile_free(&p);
}

TEST(test_row)
{
    struct record *record = run_json(*state, PLAN RATES "--pe lap:4,rwse:4", 0);
    for (size_t i = 0; i < 2; i++) {
        const struct row *row = row_at(record, i);
        check_plan(row, TIMED_FORWARD);
        check_plan(row, TIMED_STEP);
        assert_null_because(row, "step.time.median", "--device meta");
        assert_null_because(row, "encoding.flops", "--device meta");
        assert_true(count_at(row, "encoding.bound.flops") > 0 && count_at(row, "encoding.bound.bytes") > 0);
        assert_true(count_at(row, "encoding.bound.peak") >= count_at(row, "encoding.storage"));
    }
    record_free(record);
}

/* Products of bf16 and tf32 have rates of their own, if these are given; what is no product has the peak. */
TEST(test_precision)
{
    enum { PLAIN, GIVEN, WAYS };
    static const char *const rates[WAYS] = {"", ",tf32=200GFLOP/s,bf16=400GFLOP/s"};
    struct record *record[WAYS];
    for (int way = 0; way < WAYS; way++) {
        char words[256];
        snprintf(words, sizeof words,
                 PLAN "--precision f32,tf32,bf16 --phase forward --peaks peak=50GFLOP/s,dram=9TB/s%s",
                 rates[way]);
        record[way] = run_json(*state, words, 0);
    }
    double time[WAYS][3];
    for (int i = 0; i < WAYS * 3; i++)
        time[i / 3][i % 3] = real_at(row_at(record[i / 3], (size_t)i % 3), "forward.predicted.time");
    double all = time[PLAIN][0], products = (all - time[GIVEN][1]) / (1 - 1 / 4.0);
    assert_true(time[PLAIN][1] == all && time[PLAIN][2] == all && time[GIVEN][0] == all);
    assert_true(products > 0.9 * all && products < 0.99 * all);
    assert_true(fabs(time[GIVEN][2] - (all - products * (1 - 1 / 8.0))) <= 1e-9 * all);
    assert_string_equal(text_at(row_at(record[GIVEN], 0), "forward.predicted.peaks"),
                        "50.0 GFLOP/s, tf32 200 GFLOP/s, bf16 400 GFLOP/s, DRAM 9.00 TB/s");
    record_free(record[PLAIN]);
    record_free(record[GIVEN]);
}

/* Where a solver iterates, FLOPs have no bound, and the table says why. */
TEST(test_iterating_solver)
{
    static const char *const words = "--device meta --nodes 300 --hidden 32 --heads 2 --layers 1 --pe lap:4";
    void *h;
    (void)state;
    house_of(&h, "bench_node_scaling");
    struct record *record = run_json(h, words, 0);
    const struct row *row = row_at(record, 0);
    assert_null_because(row, "encoding.bound.flops", "the solver iterates");
    assert_null_because(row, "encoding.bound.bytes", "the solver iterates");
    assert_true(count_at(row, "encoding.bound.peak") >= count_at(row, "encoding.storage"));
    struct ended e = run_words(h, words, 0);
    char *joined = unwrapped(e.out);
    assert_non_null(strstr(joined, "  unknown  "));
    assert_non_null(strstr(joined, "the solver iterates; how often is known only when it has run"));
    free(joined);
    ended_free(&e);
    record_free(record);
    house_teardown(&h);
}

/* Without ceilings everything but predictions is there; other benchmarks have it on request. */
TEST(test_without_ceilings)
{
    void *h;
    struct record *record = run_json(*state, PLAN, 0);
    const struct row *row = row_at(record, 0);
    assert_null_because(row, "step.profile.least", "--peaks");
    assert_null_because(row, "step.predicted.time", "--peaks");
    assert_true(row_has(row, "step.profile.flops") && row_has(row, "step.profile.live_activations"));
    record_free(record);
    house_of(&h, "bench_node_scaling");
    record = run_json(h, PLAN, 0);
    assert_absent(row_at(record, 0), "step.profile.flops");
    record_free(record);
    record = run_json(h, PLAN RATES, 0);
    check_plan(row_at(record, 0), TIMED_STEP);
    record_free(record);
    house_teardown(&h);
}

/* The sum of the first percentages in the lines of the table whose title begins with `title`. */
static double shares_of(const char *text, const char *title)
{
    double sum = 0;
    const char *line = strstr(text, title);
    assert_non_null(line);
    for (line = strchr(line + 1, '\n') + 1; *line && *line != '\n'; line = strchr(line, '\n') + 1) {
        const char *share = strstr(line, " %");
        assert_non_null(share);
        while (share > line && share[-1] != ' ')
            share--;
        sum += strtod(share, NULL);
    }
    return sum;
}

TEST(test_tables)
{
    static const char *const titles[] = {"\nop ", "\nlayer  ", "\nphase ", "\nintensity ", "\nbound "};
    static const char *const texts[] = {"plan of step at 64 nodes, not run: predicted ",
                                        "at 50.0 GFLOP/s, DRAM",
                                        "entry, the 10 with most FLOPs",
                                        "memory at the peak",
                                        "memory over the program",
                                        "upper bounds of the encoding: "};
    struct ended e = run_words(*state, PLAN RATES "--pe rwse:4 --all", 0);
    char *rest = e.out, *joined = unwrapped(e.out);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strstr(joined, texts[i]))
            fail_msg("no '%s' in\n%s", texts[i], e.out);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        assert_true(fabs(shares_of(e.out, titles[i]) - 100) < 1);
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        if (units_width(line) > SCREEN)
            fail_msg("%zu columns: %s", units_width(line), line);
    free(joined);
    ended_free(&e);
}

/* The table of a sweep shows what is planned, and no table of each row. */
TEST(test_sweep)
{
    static const char *const paths[] = {"step.flops.analytic", "step.bytes",           "step.memory.planned",
                                        "step.predicted.time", "encoding.bound.flops", "encoding.storage"};
    void *h;
    (void)state;
    house_of(&h, "bench_node_scaling");
    struct record *record = run_json(h, PLAN RATES "--pe rwse:4", 0);
    struct ended e = run_words(h, PLAN RATES "--pe rwse:4", 0);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const char *unit = schema_find(paths[i])->unit;
        char text[UNITS_TEXT];
        units_format(text, real_at(row_at(record, 0), paths[i]), *unit == 'B' ? UNITS_BINARY : UNITS_SI,
                     unit);
        if (!strstr(e.out, text))
            fail_msg("no %s, %s, in\n%s", paths[i], text, e.out);
    }
    assert_non_null(strstr(e.out, "FLOP/B"));
    assert_null(strstr(e.out, "plan of step"));
    ended_free(&e);
    record_free(record);
    house_teardown(&h);
}

static struct calibration measured(int threads, double rate)
{
    struct calibration c = {.threads = threads, .memory = 1 << 30, .peak = rate, .points = 1, .turns = 1};
    snprintf(c.cpu, sizeof c.cpu, "Another CPU");
    snprintf(c.isa, sizeof c.isa, "avx2");
    snprintf(c.time, sizeof c.time, "2001-02-03T04:05:06Z");
    c.level[MEMORY_DRAM] = c.sweep[0] = (struct bandwidth){1 << 30, 1 << 30, 10, 10, 10, 10};
    c.turn[0].before = c.turn[0].after = (struct probe){{1e-7, 1e-5}};
    return c;
}

/* Saves a file with ceilings for 4 and 8 threads as `name`, with another member in the place of "peak" if it
 * is to be malformed. */
static void save_file(const struct house *h, const char *name, bool malformed)
{
    char path[PATH_MAX], error[MESSAGE_SIZE];
    struct value *file = value_new_object(), *list = value_new_array();
    struct calibration some = measured(4, 100), all = measured(8, 200);
    value_append(list, calibration_json(&all));
    value_append(list, calibration_json(&some));
    if (malformed)
        value_remove(value_at(list, 1), "peak");
    value_set(file, "calibrations", list);
    snprintf(path, sizeof path, "%s/%s", h->work, name);
    assert_true(value_save(file, path, 1, error));
    value_free(file);
}

/* The ceilings for the row's threads, or without --threads those for the most. */
TEST(test_file)
{
    static const char *const words[][2] = {
        {"", "200 GFLOP/s, DRAM 10.0 GB/s; Another CPU, 8 threads, "},
        {"--threads 4", "100 GFLOP/s, DRAM 10.0 GB/s; Another CPU, 4 threads, "}};
    save_file(*state, "other.json", false);
    for (size_t i = 0; i < 2; i++) {
        char all[256];
        snprintf(all, sizeof all, PLAN "--peaks other.json --phase forward %s", words[i][0]);
        struct record *record = run_json(*state, all, 0);
        const char *ceilings = text_at(row_at(record, 0), "forward.predicted.peaks");
        assert_int_equal(strncmp(ceilings, words[i][1], strlen(words[i][1])), 0);
        record_free(record);
    }
    refuses(*state, PLAN "--peaks other.json --threads 3", NULL, "--peaks", "--threads 3");
}

/* A plan for a GPU is that for the CPU, and launches; beside its memory is that of libraries. Without the
 * CUDA library the scratch of its kernels is not known. */
TEST(test_for_a_gpu)
{
    struct record *host = run_json(*state, PLAN RATES, 0),
                  *gpu = run_json(*state, PLAN RATES "--plan-for cuda", 0);
    const struct row *a = row_at(host, 0), *b = row_at(gpu, 0);
    struct ended e = run_words(*state, PLAN RATES "--plan-for cuda --all", 0);
    char *joined = unwrapped(e.out);
    double launches = real_at(b, "step.predicted.launches");
    assert_string_equal(text_at(b, "device"), "meta:cuda");
    assert_non_null(strstr(joined, "planned for a GPU, not run"));
    assert_non_null(strstr(joined, "and for launches "));
    assert_non_null(strstr(e.err, "note: planned for a GPU, which takes 352 MiB beside a program"));
    assert_true(fabs(launches - CUDA_LAUNCH * (double)field_items(b, schema_find("step.profile.op"))->count) <
                1e-12);
    assert_true(fabs(real_at(b, "step.predicted.time") - launches - real_at(a, "step.predicted.time")) <
                1e-12);
    assert_absent(a, "step.predicted.launches");
    assert_int_equal(count_at(b, "step.memory.libraries"), CUDA_WORKSPACE + CUDA_RESERVE);
    assert_null_because(a, "step.memory.libraries", "--device meta");
    assert_int_equal(count_at(b, "step.flops.analytic"), count_at(a, "step.flops.analytic"));
    if (strstr(e.err, "note: this plan has no scratch"))
        assert_null_because(b, "step.memory.workspace", "library");
    else
        assert_true(row_has(b, "step.memory.workspace"));
    free(joined);
    ended_free(&e);
    record_free(host);
    record_free(gpu);
    refuses(*state, PLAN, MORE("--plan-for", "gpu"), "--plan-for gpu", "cpu or cuda");
    refuses(*state, "--nodes 8 --plan-for cuda", NULL, "--plan-for", "only with --device meta");
}

/* What libraries take is not left for programs. */
TEST(test_what_fits_a_gpu)
{
    enum { LIMIT = 372 << 20 };
    static const char words[] =
        "--device meta --plan-for cuda --hidden 32 --heads 2 --layers 2 --phase step ";
    char all[256];
    snprintf(all, sizeof all, "%s--find nodes=memory:%dB", words, LIMIT);
    struct record *record = run_json(*state, all, 0);
    const struct row *row = row_at(record, 0);
    int64_t beside = count_at(row, "step.memory.libraries");
    assert_true(beside + count_at(row, "step.memory.planned") <= LIMIT);
    snprintf(all, sizeof all, "%s--nodes %lld", words, (long long)count_at(row, "nodes") + 1);
    record_free(record);
    record = run_json(*state, all, 0);
    assert_true(beside + count_at(row_at(record, 0), "step.memory.planned") > LIMIT);
    record_free(record);
}

/* What is added is what an H100 shows: no entry of the committed results took less, and the shortest not
 * twice as much; and no program had less memory beside it. */
TEST(test_as_measured)
{
    char error[MESSAGE_SIZE];
    struct record *record = record_load("results/h100-80gb/bench_node_scaling.jsonl", error);
    double least = INFINITY;
    (void)state;
    for (size_t i = 0; i < row_count(record); i++)
        for (size_t kind = TIMED_FORWARD; kind <= TIMED_STEP; kind++) {
            const struct row_program *p = row_program(row_at(record, i), kind);
            least = fmin(least, p->time.median / (double)p->launch.entries);
            assert_true(p->memory.libraries >= CUDA_WORKSPACE + CUDA_RESERVE);
        }
    assert_true(least >= CUDA_LAUNCH && least < 2 * CUDA_LAUNCH);
    record_free(record);
}

/* A row of the device, measured and predicted; 0: not. */
static struct row *both(const char *device, double seconds, double predicted, double bound)
{
    struct row *row = row_new();
    row_set_text(row, "status", "ok");
    row_set_text(row, "device", device);
    row_set_real(row, "step.time.median", seconds);
    if (predicted > 0)
        row_set_real(row, "step.predicted.time", predicted);
    if (bound > 0)
        row_set_real(row, "step.bound.time", bound);
    return row;
}

static void assert_bounds(struct rows *rows, const char *says)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    findings_print_bounds(out, rows, "x.jsonl");
    fclose(out);
    assert_string_equal(text, says);
    free(text);
}

/* How many times what is predicted measured times are: least and most, of rows that have both. */
TEST(test_beside_measured)
{
    struct rows *rows = rows_new();
    (void)state;
    assert_bounds(rows, "");
    rows_append(rows, both("cpu", 6, 0, 0));
    rows_append(rows, both("cuda:0", 6, 0, 2)); /* what good kernels take is without launches */
    rows_append(rows, both("cpu", NAN, 3, 0));
    assert_bounds(rows, "");
    rows_append(rows, both("cuda:0", 6, 2, 1));
    assert_bounds(rows, "a measured time is 3.0 times this bound (of 1 program in x.jsonl)\n");
    rows_append(rows, both("cpu", 6, 0, 5));
    rows_append(rows, both("cpu", 42, 2, 0));
    assert_bounds(rows,
                  "measured times are usually 1.2 to 21 times these bounds (of 3 programs in x.jsonl)\n");
    row_set_text(rows_at(rows, 5), "status", "failed");
    assert_bounds(rows,
                  "measured times are usually 1.2 to 3.0 times these bounds (of 2 programs in x.jsonl)\n");
    rows_free(rows);
}

/* It is said of a plan from the rows of the file that has its ceilings. */
TEST(test_file_with_rows)
{
    char path[PATH_MAX], error[MESSAGE_SIZE];
    struct value *list = value_new_array();
    struct calibration all = measured(8, 200);
    snprintf(path, sizeof path, "%s/rows.jsonl", ((const struct house *)*state)->work);
    struct record *record = empty_record();
    struct row *row = good_row(100);
    row->step.time.median = 6;
    row->step.predicted.time = 2;
    add_row(record, row);
    value_append(list, calibration_json(&all));
    value_set(record_head(record), "calibrations", list);
    assert_true(record_save(record, path, error));
    record_free(record);
    struct ended e = run_words(*state, PLAN "--peaks rows.jsonl", 0);
    assert_non_null(strstr(e.err, "a measured time is 3.0 times this bound (of 1 program in rows.jsonl)\n"));
    ended_free(&e);
    e = run_words(*state, PLAN RATES, 0);
    assert_null(strstr(e.err, "measured time"));
    ended_free(&e);
}

TEST(test_refused)
{
    static const char *const bad[] = {"peak=50GFLOP/s",
                                      "peak=50,dram=10GB/s",
                                      "peak=50GFLOP/s,dram=10GFLOP/s",
                                      "peak=50GFLOP/s,peak=50GFLOP/s,dram=10GB/s",
                                      "peak=0FLOP/s,dram=10GB/s",
                                      "peak=-1GFLOP/s,dram=10GB/s",
                                      "peak=50GFLOP/s,dram=10GB/s,",
                                      "peak=50GFLOP/s,bf16=90GFLOP/s",
                                      "peak=50GFLOP/s,dram=10GB/s,bf16=0FLOP/s",
                                      "dram=10GB/s,llc=100GB/s",
                                      "missing.json",
                                      "broken.json",
                                      "malformed.json",
                                      "none.json"};
    const struct house *h = *state;
    char path[PATH_MAX], error[MESSAGE_SIZE];
    struct value *none = value_new_object();
    save_file(h, "malformed.json", true);
    snprintf(path, sizeof path, "%s/none.json", h->work);
    assert_true(value_save(none, path, 1, error));
    value_free(none);
    snprintf(path, sizeof path, "%s/broken.json", h->work);
    FILE *out = fopen(path, "w");
    fputs("{\"calibrations\": [", out);
    fclose(out);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char says[256];
        snprintf(says, sizeof says, "--peaks %s", bad[i]);
        refuses(h, PLAN, MORE("--peaks", bad[i]), says, "peak=60GFLOP/s,dram=20GB/s");
    }
    refuses(h, "--nodes 8 " RATES, NULL, "--peaks", "only with --device meta");
}

GROUP("tests", setup, house_teardown)
