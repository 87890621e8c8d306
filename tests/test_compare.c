/*
 * The program compare from a user's perspective, on result files written here: the verdicts, the rows named
 * as not comparable, and what it refuses.
 */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/record/file.h"
#include "analysis/record/result_file.h"
#include "tests/compared.h"
#include "tests/files.h"
#include "tests/refusals.h"
#include "tests/synthetic.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

static int setup(void **state)
{
    return house_of(state, "compare");
}

/* A record of a single op with two kernels, with the second one's times multiplied. */
static struct record *kernels(double slower)
{
    struct record *record = empty_record();
    for (int variant = 0; variant < 2; variant++) {
        double x[SAMPLES];
        struct row *row = good_row(500);
        make_series(x, SAMPLES, 0.005, 0.5, (uint64_t)variant);
        for (int i = 0; i < SAMPLES; i++)
            x[i] *= variant ? slower : 1;
        row_omit(row, "forward.time", "ops alone");
        row_omit(row, "step.time", "ops alone");
        row_set_text(row, "op", "linear");
        row_set_text(row, "variant", variant ? "blas" : "simd");
        row_set_samples(row, "kernel.time", x, SAMPLES);
        add_row(record, row);
    }
    return record;
}

TEST(test_kernels)
{
    save(*state, "a.json", kernels(1));
    save(*state, "b.json", kernels(1.1));
    char *out = compare(*state, "a.json b.json", 0);
    assert_says(out, "variant");
    assert_int_equal(occurrences(out, "  kernel  "), 2);
    assert_says(out, "B, kernel: 1 slower, 1 same;");
    assert_null(strstr(out, "step"));
    free(out);
}

TEST(test_planted_difference)
{
    save(*state, "a.json", machine("Old", three, 1));
    save(*state, "b.json", machine("New", three, 1.1));
    char *out = compare(*state, "a.json b.json", 0);
    assert_says(out, "A  Old, cpu, 2 threads: a.json (baseline)\nB  New, cpu, 2 threads: b.json\n");
    assert_int_equal(occurrences(out, "  1.100 [1.0"), 3);
    assert_int_equal(occurrences(out, "]  slower\n"), 3);
    assert_int_equal(occurrences(out, "]  same\n"), 3);
    assert_says(out, "B, inference: 3 same; geometric mean of B / A 1.000 over 3 rows\n");
    assert_says(out, "B, training step: 3 slower; geometric mean of B / A 1.100 over 3 rows\n");
    assert_null(strstr(out, "threads  "));        /* a column that is equal everywhere is omitted */
    assert_int_equal(occurrences(out, "  *"), 3); /* a step of A, where B is slower */
    free(out);
    out = compare(*state, "b.json a.json --phase step", 0);
    assert_int_equal(occurrences(out, "]  faster\n"), 3);
    assert_null(strstr(out, "inference"));
    free(out);
    out = compare(*state, "a.json b.json --margin 20% --phase=step", 0);
    assert_says(out, "B, training step: 3 same;");
    free(out);
}

/* Tags are named where they differ, once each. */
TEST(test_tags)
{
    struct record *a = machine("Same", three, 1), *b = machine("Same", three, 1);
    const char *const tags[2][2] = {{"kernel", "old"}, {"kernel", "new"}};
    struct record *records[] = {a, b};
    for (int i = 0; i < 2; i++) {
        struct value *object = value_new_object();
        value_set_text(object, tags[i][0], tags[i][1]);
        value_set_text(object, "same", "x");
        if (i == 1)
            value_set_text(object, "only", "here");
        value_set(record_head(records[i]), "tags", object);
    }
    save(*state, "a.json", a);
    save(*state, "b.json", b);
    char *out = compare(*state, "a.json b.json", 0);
    assert_says(out, "   tags.kernel: A old; B new\n");
    assert_says(out, "   tags.only: A -; B here\n");
    assert_null(strstr(out, "tags.same"));
    free(out);
}

TEST(test_rows_left_over)
{
    static const int64_t some[] = {100, 500, 700, 0};
    struct record *a = machine("A", three, 1), *b = machine("B", some, 1);
    add_row(a, failed_row(900, "oom", "needs 17 GiB"));
    add_row(b, timed_row(900, 1, 1));
    add_row(b, timed_row(100, 1e-3, 4e-3));
    save(*state, "a.json", a);
    save(*state, "b.json", b);
    char *out = compare(*state, "a.json b.json", 0);
    assert_says(out, "A: 1 of 4 rows is not ok\n   oom (needs 17 GiB): 900 nodes\n");
    assert_says(out, "A: 1 of 4 rows is without a partner\n   not in B (nodes 200, not 100): 200 nodes\n");
    assert_says(out, "B: 1 of 5 rows is without a partner\n   not in A (nodes 700, not 100): 700 nodes\n");
    assert_says(
        out,
        "\ninconclusive: the baseline is oom: needs 17 GiB (900 nodes, inference; 900 nodes, training step)");
    assert_says(out, "B, training step: 2 same, 1 inconclusive; geometric mean of B / A 1.000 over 2 rows\n");
    free(out);
}

TEST(test_few_samples)
{
    const double one = 0.01, six[] = {0.0096, 0.0097, 0.0094, 0.0096, 0.0096, 0.0095};
    struct record *b = machine("B", three, 2);
    row_set_samples(row_at(b, 0), "step.time", &one, 1);
    row_set_samples(row_at(b, 1), "step.time", six, 6);
    save(*state, "a.json", machine("A", three, 1));
    save(*state, "b.json", b);
    char *out = compare(*state, "a.json b.json --phase step", 0);
    assert_int_equal(occurrences(out, "  at least 1.1"), 1);
    assert_says(out, "B, training step: 2 slower, 1 inconclusive;");
    assert_says(out, "inconclusive: 12 and 1 repetitions are too few to tell a difference from chance");
    free(out);
}

/* Writes a file of runs of these machines, whose steps take 1 % longer from run to run. */
static void save_runs(const struct house *h, const char *name, const char *const cpus[4])
{
    char *all = NULL, path[PATH_MAX], command[32];
    size_t size = 0;
    FILE *out = open_memstream(&all, &size);
    for (int run = 0; run < 4; run++) {
        snprintf(command, sizeof command, "run %d", run);
        struct record *record = machine(cpus[run], three, 1 + 0.01 * run);
        value_set_text(record_head(record), "command", command);
        assert_true(record_write_lines(record, out));
        record_free(record);
    }
    fclose(out);
    snprintf(path, sizeof path, "%s/%s", h->work, name);
    write_bytes(path, all, size);
    free(all);
}

/* A file of several runs: its rows are judged together. */
TEST(test_runs)
{
    static const char *const same[] = {"A", "A", "A", "A"}, *const others[] = {"A", "A", "B", "A"};
    char error[MESSAGE_SIZE];
    double low = 0, high = 0;
    save_runs(*state, "runs.json", same);
    char *text = compare(*state, "runs.json runs.json --phase step --format json", 0);
    struct value *d = value_parse(text, error);
    assert_non_null(d);
    assert_true(value_get_real(value_at(value_get(d, "pairs"), 0), "low", &low) &&
                value_get_real(value_at(value_get(d, "pairs"), 0), "high", &high));
    assert_true(low > 0.95 && low < 0.97 && fabs(low * high - 1) < 1e-9); /* of all runs */
    value_free(d);
    free(text);
    text = compare(*state, "runs.json runs.json --phase step", 0);
    assert_says(text, "runs.json, 4 runs (baseline)\n");
    free(text);
    save_runs(*state, "runs.json", others);
    refuses(*state, "runs.json runs.json", NULL, "runs.json: has runs of several machines", NULL);
}

/* The times are those of which the ratio is made: medians over the runs of a file, here 1.5 and 0 % more than
 * in its first run. */
TEST(test_times_of_runs)
{
    static const char *const same[] = {"A", "A", "A", "A"};
    const struct house *h = *state;
    char error[MESSAGE_SIZE], path[PATH_MAX];
    size_t size;
    save_runs(h, "runs.json", same);
    save(h, "one.json", machine("A", three, 1));
    char *text = compare(h, "one.json runs.json --format json --phase step --chart runs", 0);
    struct value *d = value_parse(text, error);
    free(text);
    for (size_t i = 0; i < 3; i++) {
        const struct value *pair = value_at(value_get(d, "pairs"), i);
        double base = 0, time = 0, ratio = 0;
        int64_t runs = 0;
        assert_true(value_get_real(pair, "baseline.median", &base) &&
                    value_get_real(pair, "time.median", &time) && value_get_real(pair, "ratio", &ratio));
        assert_true(fabs(time / base - 1.015) < 1e-9 && fabs(ratio - 1.015) < 1e-9);
        assert_true(value_get_count(pair, "time.runs", &runs) && runs == 4);
        assert_true(value_get_count(pair, "baseline.runs", &runs) && runs == 1);
        double low = 0, high = 0; /* of all runs */
        assert_true(value_get_real(pair, "time.low", &low) && value_get_real(pair, "time.high", &high));
        assert_true(low <= time / 1.015 && high >= time * 1.03 / 1.015);
    }
    value_free(d);
    text = compare(h, "one.json runs.json --phase step", 0);
    assert_int_equal(occurrences(text, "  20.0 ms  20.3 ms"), 1); /* of 500 nodes */
    free(text);
    snprintf(path, sizeof path, "%s/runs_step.gp", h->work);
    char *script = file_read(path, &size, error);
    assert_non_null(script);
    assert_says(script, "\n500 0.020265"); /* and no interval */
    free(script);
}

TEST(test_nothing_in_common)
{
    static const int64_t other[] = {300, 400, 0};
    struct record *b = machine("B", other, 1);
    row_set_text(row_at(b, 0), "model", "gps");
    row_set_text(row_at(b, 1), "model", "gps");
    save(*state, "a.json", machine("A", three, 1));
    save(*state, "b.json", b);
    char *out = compare_missed(*state, "a.json b.json", 1,
                               "b.json: nothing to compare with A: model gps, not graph_transformer; see");
    assert_says(out, "not in B (model graph_transformer, not gps): 100 nodes; 200 nodes; 500 nodes\n");
    assert_null(strstr(out, "verdict"));
    free(out);
    /* one of three files, and a program that was not timed */
    free(compare_missed(*state, "a.json a.json b.json", 1, "b.json: nothing to compare"));
    free(compare_missed(*state, "a.json a.json --phase kernel", 1, "a.json: nothing to compare"));
}

/* --fail-on with verdicts that are there, that are not, and that cannot be given. */
TEST(test_fail_on)
{
    const double one = 1;
    struct record *few = machine("A", three, 1.1);
    row_set_samples(row_at(few, 0), "step.time", &one, 1);
    save(*state, "a.json", machine("A", three, 1));
    save(*state, "slower.json", machine("A", three, 1.1));
    save(*state, "few.json", few);
    free(compare(*state, "a.json slower.json", 0));
    free(compare_missed(*state, "a.json slower.json --fail-on slower", 1,
                        "compare: --fail-on slower: 3 of 6 verdicts\n"));
    free(compare(*state, "slower.json a.json --fail-on slower", 0));
    free(compare(*state, "a.json slower.json --fail-on slower --phase forward", 0));
    free(compare(*state, "a.json slower.json --fail-on slower --margin 20%", 0));
    free(compare_missed(*state, "slower.json a.json --fail-on slower,faster", 1, "--fail-on faster: 3 of 6"));
    free(compare(*state, "few.json few.json --fail-on slower", 0));
    free(compare_missed(*state, "few.json few.json --fail-on slower,inconclusive", 1,
                        "--fail-on inconclusive: 1 of 6"));
}

/* Files from before or after a field was added. */
TEST(test_other_versions)
{
    struct record *a = machine("A", three, 1), *b = machine("B", three, 1);
    for (size_t i = 0; i < 3; i++)
        row_set_text(row_at(a, i), "pool", "mean");
    save(*state, "a.json", a);
    save(*state, "b.json", b);
    char path[PATH_MAX], error[MESSAGE_SIZE];
    size_t size;
    snprintf(path, sizeof path, "%s/b.json", ((const struct house *)*state)->work);
    char *text = file_read(path, &size, error), *at;
    while ((at = strstr(text, "\"model\"")))
        memcpy(at, "\"colou\"", 7);
    write_bytes(path, text, strlen(text));
    free(text);
    char *out = compare(*state, "a.json b.json", 0);
    assert_null(strstr(out, "pool")); /* not a significant difference */
    assert_says(out, "B, training step: 3 same;");
    free(out);
}

/* Axes that are ignored on request, by the name of their field or of their flag. */
TEST(test_ignored_axes)
{
    struct record *b = machine("B", three, 1.1);
    for (size_t i = 0; i < 3; i++)
        row_set_text(row_at(b, i), "act", "relu");
    save(*state, "a.json", machine("A", three, 1));
    save(*state, "b.json", b);
    char *out = compare_missed(*state, "a.json b.json --phase step", 1, "nothing to compare");
    assert_says(out, "not in A (act relu, not gelu)");
    free(out);
    out = compare(*state, "a.json b.json --phase step --ignore act", 0);
    assert_says(out, "B, training step: 3 slower;");
    assert_says(out, "   act: A gelu; B relu\n");
    free(out);
    free(compare(*state, "a.json b.json --phase step --ignore act,precision,dtype,graph", 0));
}

TEST(test_refused)
{
    static const char *const lines[][2] = {
        {"", "needs two result files"},
        {"a.json", "needs two result files"},
        {"a.json a.json --bogus", "--bogus: no such flag"},
        {"a.json a.json -x", "-x: no such flag"},
        {"a.json a.json --format xml", "--format xml: table, md or json"},
        {"a.json a.json --fail-on worse", "--fail-on worse: a list of slower, faster"},
        {"a.json a.json --fail-on slow", "did you mean slower?"},
        {"a.json a.json --phase setp", "did you mean step?"},
        {"a.json a.json --ignore atention", "did you mean attention?"},
        {"a.json a.json --fial-on slower", "did you mean --fail-on?"},
        {"a.json a.json --format", "--format: needs a value"},
        {"a.json a.json --help=x", "--help: takes no value"},
        {"a.json a.json --phase forward,back", "--phase back: a list of forward, step"},
        {"a.json a.json --phase=", "--phase : a list of forward, step"},
        {"a.json a.json --margin 5", "--margin 5: a share"},
        {"a.json a.json --margin -1%", "--margin -1%: a share"},
        {"a.json a.json --margin 101%", "--margin 101%: a share"},
        {"a.json a.json --margin nan", "--margin nan: a share"},
        {"a.json a.json --margin 1%%", "--margin 1%%: a share"},
        {"a.json a.json --summary --format md", "--summary: not with --format"},
        {"a.json a.json --summary --margin 1%", "--summary: not with"},
        {"a.json a.json --ignore loss", "--ignore loss: an axis"},
        {"a.json a.json --chart=", "--chart: needs"},
        {"a.json none.json", "none.json: cannot be read"},
        {"a.json text.json", "text.json: not JSON: line 1"},
        {"a.json old.json", "old.json: written by another version: its schema is not 2"},
        {"a.json rows.json", "rows.json: row 1: status"},
    };
    const struct house *h = *state;
    char path[PATH_MAX];
    struct record *old = machine("A", three, 1), *rows = machine("A", three, 1);
    value_set_count(record_head(old), "schema", 0);
    row_set_text(row_at(rows, 0), "status", "fine");
    save(h, "a.json", machine("A", three, 1));
    save(h, "old.json", old);
    save(h, "rows.json", rows);
    snprintf(path, sizeof path, "%s/text.json", h->work);
    FILE *text = fopen(path, "w");
    assert_non_null(text);
    assert_true(fputs("nodes,time\n", text) >= 0 && fclose(text) == 0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        refuses(h, lines[i][0], NULL, lines[i][1], NULL);
    char many[256] = "";
    for (int i = 0; i < 17; i++)
        strcat(many, "a.json ");
    refuses(h, many, NULL, "a.json: at most 16 files without --summary", NULL);
}

TEST(test_help_and_full_disk)
{
    char *help = compare(*state, "--help", 0);
    assert_says(help, "--margin");
    free(help);
    int full = open("/dev/full", O_WRONLY), null = open("/dev/null", O_WRONLY);
    if (full < 0)
        skip();
    save(*state, "a.json", machine("A", three, 1));
    assert_int_equal(program_wait(program_start(*state, "a.json a.json", NULL, full, null)), 1);
    assert_int_equal(program_wait(program_start(*state, "--help", NULL, full, null)), 1);
    close(full);
    close(null);
}

GROUP("tests", setup, house_teardown)
