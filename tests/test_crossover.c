/*
 * --find: the search finds a planted crossing; what is computed without running changes its sign
 * where it is said to; the rows of a search stand in pairs on both sides; a search that is killed leaves
 * nothing.
 */
#include <math.h>
#include <signal.h>
#include <unistd.h>

#include "analysis/compare/crossing.h"
#include "bench/sweep/search.h"
#include "tests/chart_directory.h"
#include "tests/events.h"
#include "tests/records.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

#define SMALL "--hidden 16 --heads 2 --layers 1 --phase forward --no-check --threads 1 "

/* 20 edges for each node, and so more than pairs up to 20 nodes. */
#define PLANTED SMALL "--graph rmat --degree 20 "

/* The logarithm of the ratio of a variant that is slower up to *at. */
static double planted(void *at, double x)
{
    return log(*(const double *)at / x);
}

static double unknown(void *context, double x)
{
    (void)context;
    return x > 50 && x < 200 ? NAN : planted(&(double){100}, x);
}

TEST(test_planted_crossings)
{
    for (double at = 2.5; at < 1000; at *= 1.37) {
        struct bracket b = bisect(planted, &at, 2, 1000, 0.05, true);
        assert_true(b.found && b.low < at && at < b.high);
        assert_true(b.high <= 1.05 * b.low || b.high - b.low == 1);
        assert_true(b.at_low > 0 && b.at_high < 0);
        b = bisect(planted, &at, 2, 1000, 0, true);
        assert_true(b.found && b.low == floor(at) && b.high == floor(at) + 1);
        b = bisect(planted, &at, 2, 1000, 1e-3, false);
        assert_true(b.found && b.low < at && at < b.high && b.high <= 1.001 * b.low);
    }
    assert_false(bisect(planted, &(double){1}, 2, 1000, 0.05, true).found);
    assert_false(bisect(planted, &(double){2000}, 2, 1000, 0.05, true).found);
    struct bracket b = bisect(unknown, NULL, 2, 1000, 0.05, true);
    assert_true(!b.found && isnan(b.at_high));
}

/* What sparse attention needs over what dense attention does. */
static double planned_ratio(const struct house *h, const char *field, long nodes)
{
    char words[256];
    snprintf(words, sizeof words, "--device meta " PLANTED "--attention dense,sparse --nodes %ld", nodes);
    struct record *record = run_json(h, words, 0);
    double ratio = real_at(row_at(record, 1), field) / real_at(row_at(record, 0), field);
    record_free(record);
    return ratio;
}

/* The bracket of a line, as "crossover between 4 and 5 nodes, less for sparse attention above". */
static void assert_exact(const struct house *h, const char *said, const char *by, const char *field)
{
    long low, high;
    static const char above[] = ", less for sparse attention above\n";
    int end = 0;
    const char *line = strstr(said, by);
    assert_non_null(line);
    line += strlen(by);
    assert_int_equal(sscanf(line, "crossover between %ld and %ld nodes%n", &low, &high, &end), 2);
    assert_int_equal(strncmp(line + end, above, strlen(above)), 0);
    assert_int_equal(high, low + 1);
    assert_true(planned_ratio(h, field, low) >= 1);
    assert_true(planned_ratio(h, field, high) < 1);
}

TEST(test_exact_crossings)
{
    const char *words = "--nodes 4,1000 " PLANTED "--find attention=dense,sparse --dry-run";
    struct ended e = run_words(*state, words, 0);
    assert_exact(*state, e.out, "forward, by analytic FLOPs: ", "forward.flops.analytic");
    assert_non_null(strstr(e.out, "forward, by time at the peak rates: "));
    ended_free(&e);
    words = "--nodes 200,1000 " PLANTED "--find attention=dense,sparse --device meta";
    e = run_words(*state, words, 0);
    assert_non_null(strstr(e.err, "forward, by analytic FLOPs: less for sparse attention at 200 and at 1000 "
                                  "nodes: no crossover found"));
    ended_free(&e);
}

/* What the second of two kinds of attention needs over the first, in FLOPs of inference. */
static double flops_ratio(const struct house *h, const char *kinds, long nodes)
{
    char words[256];
    snprintf(words, sizeof words, "--device meta " PLANTED "--attention %s --nodes %ld", kinds, nodes);
    struct record *record = run_json(h, words, 0);
    double ratio = real_at(row_at(record, 1), "forward.flops.analytic") /
                   real_at(row_at(record, 0), "forward.flops.analytic");
    record_free(record);
    return ratio;
}

/* Of three kinds each two are compared, and those that do not cross are said not to. */
TEST(test_three_kinds)
{
    static const char dense[] = "forward, by analytic FLOPs: dense attention and performer attention, "
                                "crossover between ",
                      above[] = " nodes, less for performer attention above\n";
    struct ended e = run_words(*state,
                               "--nodes 4,20000 " PLANTED "--dry-run "
                               "--find attention=dense,sparse,performer",
                               0);
    const char *line = strstr(e.out, dense), *end = line ? strstr(line, above) : NULL;
    long low, high;
    assert_non_null(end);
    assert_int_equal(sscanf(line + strlen(dense), "%ld and %ld", &low, &high), 2);
    assert_int_equal(high, low + 1);
    assert_true(flops_ratio(*state, "dense,performer", low) >= 1);
    assert_true(flops_ratio(*state, "dense,performer", high) < 1);
    assert_non_null(strstr(e.out,
                           "forward, by analytic FLOPs: dense attention and sparse attention, crossover "
                           "between "));
    assert_non_null(strstr(e.out,
                           "forward, by analytic FLOPs: sparse attention and performer attention, less for "
                           "sparse attention at 4 and at 20000 nodes: no crossover found\n"));
    assert_non_null(strstr(e.out, "forward, by planned memory: dense attention and performer attention, "));
    ended_free(&e);
}

/* Whether a crossing is found depends on times: then there are six values, otherwise the two ends. */
TEST(test_rows_on_both_sides)
{
    struct ended e = run_words(*state,
                               "--device ref " PLANTED "--nodes 4,200 --repetitions 7 --runs 7 --warmup 0 "
                               "--budget 1 --output x.json --find attention=dense,sparse",
                               0);
    struct record *record = record_in(*state, "work/x.json");
    size_t rows = row_count(record);
    assert_non_null(strstr(e.err, "forward, by quick runs: "));
    assert_non_null(strstr(e.err, "rows at "));
    assert_non_null(strstr(e.err, "- In inference, "));
    assert_true(rows >= 4 && rows <= 12 && rows % 2 == 0);
    for (size_t i = 0; i < rows; i++) {
        const struct row *row = row_at(record, i);
        assert_string_equal(text_at(row, "attention"), i < rows / 2 ? "dense" : "sparse");
        assert_int_equal(count_at(row, "nodes"), count_at(row_at(record, i % (rows / 2)), "nodes"));
        assert_int_equal(row->forward.time.samples.count, 7);
    }
    record_free(record);
    ended_free(&e);
}

TEST(test_ops)
{
    void *h;
    house_of(&h, "bench_kernels");
    struct ended e = run_words(h,
                               "--nodes 4,1000 --hidden 16 --heads 2 --graph rmat --degree 20 --dry-run "
                               "--find op=attention,"
                               "sparse_attention",
                               0);
    assert_non_null(strstr(e.out, "kernel, by analytic FLOPs: crossover between "));
    assert_non_null(strstr(e.out, " nodes, less for sparse_attention above\n"));
    ended_free(&e);
    house_teardown(&h);
}

TEST(test_killed_search)
{
    const struct house *h = *state;
    int reader, writer;
    char path[PATH_MAX];
    small_pipe(&reader, &writer);
    pid_t pid =
        program_start(h,
                      "--device ref --layers 50 --phase forward --nodes 1000,2000 --output killed.json "
                      "--find attention=dense,sparse",
                      NULL, STDERR_FILENO, writer);
    close(writer);
    assert_true(read_until(reader, "by time at the peak rates", 1));
    assert_int_equal(kill(pid, SIGTERM), 0);
    char *rest = read_rest(reader);
    assert_int_equal(program_wait(pid), 128 + SIGTERM);
    assert_non_null(strstr(rest, "ended before the search was over"));
    snprintf(path, sizeof path, "%s/killed.json", h->work);
    assert_int_not_equal(access(path, F_OK), 0);
    free(rest);
}

TEST_BETWEEN(test_chart, make_directory, remove_directory)
{
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE] = "";
    struct record *record = empty_record();
    for (int i = 0; i < 4; i++)
        for (int sparse = 0; sparse < 2; sparse++) {
            double nodes = 100 << i;
            struct row *row = good_row((int64_t)nodes);
            row_set_text(row, "attention", sparse ? "sparse" : "dense");
            set_time(row, "forward.time", nodes * (sparse ? 300 : nodes), 0.01);
            row_omit(row, "step", "not needed");
            add_row(record, row);
        }
    draw_added(crossing_chart_add, record, p->prefix, message);
    char *script = content(p, "_crossover.gp");
    assert_in(script, "set object 1 rectangle from first 29");
    assert_in(script, "forward: sparse attention / dense attention: 1 at about 300 nodes");
    char *picture = content(p, "_crossover.svg");
    assert_true(picture || !on_path("gnuplot"));
    free(picture);
    free(script);
    record_free(record);
}

GROUP("tests", house_setup, house_teardown)
