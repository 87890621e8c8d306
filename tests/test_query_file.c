/* `query FILE`: a result file is printed as the benchmark printed it, in every format; documents for programs
 * that track benchmarks; and rows within limits. */
#include <math.h>

#include "analysis/record/file.h"
#include "analysis/record/result_file.h"
#include "analysis/tables/tracked.h"
#include "tests/files.h"
#include "tests/records.h"
#include "tests/refusals.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

static int setup(void **state)
{
    return house_of(state, "query");
}

/* A plan has the same numbers each time. */
TEST(test_same)
{
    static const char *const formats[] = {"table", "md", "csv", "csv-full", "csv-profile", "json", "jsonl"};
    void *h;
    house_of(&h, "bench_node_scaling");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char words[256], path[PATH_MAX];
        snprintf(path, sizeof path, "%s/x.jsonl", ((struct house *)h)->work);
        snprintf(words, sizeof words, "--device meta --nodes 8,12 --profile --output x.jsonl --format %s",
                 formats[i]);
        struct ended ran = run_words(h, words, 0);
        snprintf(words, sizeof words, "--format %s", formats[i]);
        struct ended shown = program_run(*state, words, MORE(path));
        if (i == 0) {
            *strstr(ran.out, "\nplan of ") = '\0'; /* profiles of each row, instead of side by side */
            char *below = strstr(shown.out, "\nwhere step goes\n");
            assert_non_null(below);
            assert_non_null(strstr(below, "linear_backward"));
            *below = '\0';
        }
        if (strcmp(formats[i], "json") == 0) {
            struct record *a = record_of(ran.out), *b = record_of(shown.out);
            assert_true(records_equal(a, b)); /* whose members are in another order */
            record_free(a);
            record_free(b);
        } else {
            assert_string_equal(shown.out, ran.out);
        }
        ended_free(&ran);
        ended_free(&shown);
    }
    house_teardown(&h);
}

/* Rows of 100 and 200 nodes, of which the second is not ok, and of 300 nodes, whose step has no interval. */
static void save_rows(const struct house *h)
{
    char path[PATH_MAX], error[MESSAGE_SIZE];
    struct record *record = empty_record();
    value_set_text(record_head(record), "benchmark", "bench_planted");
    for (int i = 1; i <= 3; i++) {
        struct row *row = good_row(100 * i);
        row->step.roofline.percent = 20 * i;
        if (i == 2) {
            row_set_text(row, "status", "wrong");
            row_set_text(row, "reason", "planted");
        }
        if (i == 3)
            row_set_samples(row, "step.time", (const double[]){1}, 1);
        add_row(record, row);
    }
    snprintf(path, sizeof path, "%s/rows.jsonl", h->work);
    assert_true(record_save(record, path, error));
    record_free(record);
}

static struct value *document(const struct house *h, const char *words)
{
    char error[MESSAGE_SIZE];
    struct ended e = run_words(h, words, 0);
    struct value *v = value_parse(e.out, error);
    if (!v)
        fail_msg("%s: %s", error, e.out);
    ended_free(&e);
    return v;
}

/* By its whole name, which may have dots. */
static const struct value *member(const struct value *object, const char *key)
{
    for (struct walk w = value_walk(object); walk_next(&w);)
        if (strcmp(w.key, key) == 0)
            return w.value;
    fail_msg("no %s", key);
    return NULL;
}

static double real_of(const struct value *object, const char *key)
{
    double value = NAN;
    assert_true(value_read_real(member(object, key), &value));
    return value;
}

static void assert_close(double value, double wanted)
{
    assert_true(fabs(value / wanted - 1) < 1e-12);
}

TEST(test_tracked)
{
    save_rows(*state);
    struct record *record = record_in(*state, "work/rows.jsonl");
    const struct row_times *time = &row_at(record, 0)->step.time;
    struct value *bmf = document(*state, "rows.jsonl --format bmf"),
                 *list = document(*state, "rows.jsonl --format github");
    const struct value *latency =
        member(member(bmf, "bench_planted: step, graph_transformer, 100 nodes, 2 threads"), "latency");
    assert_close(real_of(latency, "value"), 1e9 * time->median);
    assert_close(real_of(latency, "lower_value"), 1e9 * time->ci95_low);
    assert_close(real_of(latency, "upper_value"), 1e9 * time->ci95_high);
    assert_int_equal(
        value_size(
            member(member(bmf, "bench_planted: step, graph_transformer, 300 nodes, 2 threads"), "latency")),
        1);
    size_t timed = 0;
    for (size_t i = 0; i < 3; i += 2) /* those that are ok */
        for (size_t kind = 0; kind < TIMED; kind++)
            timed += !isnan(row_timed(row_at(record, i), kind)->median);
    assert_true(timed >= 4);
    assert_int_equal(value_size(bmf), timed);
    assert_int_equal(value_size(list), timed);
    for (size_t i = 0; i < timed; i++) {
        const struct value *entry = value_at(list, i);
        const char *name = NULL, *unit = NULL;
        assert_true(value_get_text(entry, "name", &name) && value_get_text(entry, "unit", &unit));
        assert_string_equal(unit, "ms");
        assert_close(1e6 * real_of(entry, "value"), real_of(member(member(bmf, name), "latency"), "value"));
    }
    value_free(bmf);
    value_free(list);
    record_free(record);
}

/* The names of a plan's rows, as if their steps had been timed on a CPU. */
static struct value *names_of(const char *words)
{
    void *h;
    struct value *names;
    char *text = NULL, error[MESSAGE_SIZE];
    size_t size, n;
    struct table_line lines[8];
    house_of(&h, "bench_node_scaling");
    struct record *record = run_json(h, words, 0);
    n = row_count(record);
    assert_true(n <= 8);
    for (size_t i = 0; i < n; i++) {
        struct row *row = row_at(record, i);
        row_set_text(row, "device", "cpu");
        set_equal_turns(row, "step.time", 1);
        lines[i] = (struct table_line){.row = row};
    }
    FILE *out = open_memstream(&text, &size);
    tracked_print(out, false, record_head(record), lines, n);
    fclose(out);
    names = value_parse(text, error);
    assert_int_equal(value_size(names), n); /* no two rows have one name */
    free(text);
    record_free(record);
    house_teardown(&h);
    return names;
}

/* A row has one name, whatever else its sweep has; of defaults the name says nothing but the nodes. */
TEST(test_names)
{
    static const char *const names[] = {
        "bench_node_scaling: step, 500 nodes", "bench_node_scaling: step, bf16 precision, 500 nodes",
        "bench_node_scaling: step, 100 nodes, 2 layers, sum pooling, 7 threads, seed 43"};
    (void)state;
    struct value *one = names_of("--device meta --nodes 500"),
                 *two = names_of("--device meta --nodes 500 --precision f32,bf16"),
                 *other = names_of("--device meta --nodes 500,100 --layers 6,2 --pool mean,sum --threads 7 "
                                   "--seed 43");
    member(one, names[0]);
    member(two, names[0]);
    member(two, names[1]);
    member(other, names[2]);
    value_free(one);
    value_free(two);
    value_free(other);
}

TEST(test_limits)
{
    static const struct {
        const char *words;
        int rows;
    } cases[] = {{"", 3},
                 {"--min-throughput %.17g/s", 2},
                 {"--min-throughput %.17g/s --nodes 100,300", 1},
                 {"--program step --min-efficiency 21%%", 2},
                 {"--model g*", 3},
                 {"--max-memory 1B", 0},
                 {"--nodes 7", 0}};
    save_rows(*state);
    struct record *record = record_in(*state, "work/rows.jsonl");
    double rate = row_at(record, 1)->forward.throughput; /* larger graphs are slower */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char limit[128], words[256];
        snprintf(limit, sizeof limit, cases[i].words, rate);
        snprintf(words, sizeof words, "rows.jsonl --format csv %s", limit);
        struct ended e = run_words(*state, words, cases[i].rows == 0);
        assert_int_equal(lines_of(e.out), cases[i].rows ? cases[i].rows + 1 : 0);
        ended_free(&e);
    }
    record_free(record);
    refuses(*state, "rows.jsonl --by latency", NULL, "rows.jsonl", "limits, axes");
    refuses(*state, "rows.jsonl --tag a=b", NULL, "rows.jsonl", "limits, axes");
    refuses(*state, "none.jsonl", NULL, "none.jsonl", "No such file");
    refuses(*state, "rows.jsonl rows.jsonl", NULL, "rows.jsonl", "one FILE.jsonl");
}

GROUP("tests", setup, house_teardown)
