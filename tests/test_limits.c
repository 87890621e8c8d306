/* What a sweep prints before it runs (--dry-run) and what it stops (--timeout), without ceilings; with them,
 * see test_kept_ceilings.c. */
#include <sys/resource.h>

#include "analysis/record/record.h"
#include "analysis/tables/units.h"
#include "tests/encodings.h"
#include "tests/files.h"
#include "tests/records.h"
#include "tests/test.h"

#define SMALL "--hidden 16 --heads 2 --layers 1 --threads 1 --no-check --no-charts "

/* One line per row, with the larger memory plan of its programs; nothing is written. */
TEST(test_dry_run)
{
    struct record *record = run_json(*state, "--device meta --nodes 100,1000 --layers 2,3", 0);
    char *before = house_list(*state);
    struct ended e = run_words(*state, "--dry-run --nodes 100,1000 --layers 2,3", 0);
    char *after = house_list(*state), *rest = e.out, *line;
    assert_string_equal(before, after);
    assert_non_null(strstr(strsep(&rest, "\n"), "memory"));
    assert_int_equal(row_count(record), 4);
    for (size_t i = 0; i < 4; i++) {
        const struct row *row = row_at(record, i);
        char memory[UNITS_TEXT];
        int64_t forward = count_at(row, "forward.memory.planned"),
                step = count_at(row, "step.memory.planned");
        units_format(memory, (double)(step > forward ? step : forward), UNITS_BINARY, "B");
        line = strsep(&rest, "\n");
        assert_int_equal(strncmp(line, text_at(row, "work"), 16), 0);
        if (!strstr(line, memory) || !strstr(line, "unknown"))
            fail_msg("row %zu: no '%s' or a time in '%s'", i, memory, line);
    }
    assert_non_null(strstr(rest, "4 rows: "));
    assert_int_equal(lines_of(rest), 5);
    ended_free(&e);
    record_free(record);
    free(before);
    free(after);
}

/* A plan beyond 63 bits is null. */
TEST(test_plan_beyond_63_bits)
{
    static const char words[] = "--attention unfused --nodes 1G --degree 1 --phase step";
    char all[256];
    snprintf(all, sizeof all, "--device meta %s", words);
    struct record *record = run_json(*state, all, 0);
    assert_null_because(row_at(record, 0), "step.memory.planned", "exceeds 63 bits");
    assert_null_because(row_at(record, 0), "step.memory.average", "exceeds 63 bits");
    assert_absent(row_at(record, 0), "step.memory.per_node");
    record_free(record);
    snprintf(all, sizeof all, "--dry-run %s", words);
    struct ended e = run_words(*state, all, 0);
    assert_non_null(strstr(e.out, "> 8 EiB"));
    ended_free(&e);
}

/* Graphs that are only encoded have no program to estimate. */
TEST(test_dry_run_of_encodings)
{
    void *h;
    house_of(&h, "bench_pe_scaling");
    struct ended e = run_words(h, "--dry-run --nodes 100,5000 --graph er --pe rwse:4", 0);
    assert_non_null(strstr(e.out, " MiB  100 nodes"));
    assert_non_null(strstr(e.out, "       -         -  5000 nodes"));
    assert_non_null(strstr(e.out, "\nencodings: "));
    ended_free(&e);
    e = run_words(h, "--dry-run --nodes 100 --graph er --pe none", 0);
    assert_null(strstr(e.out, "encodings: "));
    ended_free(&e);
    house_teardown(&h);
}

/* Without ceilings, a row's time serves to estimate the next. */
TEST(test_timeout_by_rows_before)
{
    struct ended e = run_words(
        *state, SMALL "--device ref --nodes 16,200k --runs 3 --warmup 1 --timeout 30 --output x.json", 1);
    struct record *record = record_in(*state, "work/x.json");
    assert_string_equal(text_at(row_at(record, 0), "status"), "ok");
    assert_skipped(row_at(record, 1), ", judging by the previous rows; --timeout is 30 s");
    record_free(record);
    ended_free(&e);
}

/* Nothing predicts the first row's time, which would be many seconds: it is stopped within a run. */
TEST(test_timeout_within_a_run)
{
    struct ended e = run_words(*state,
                               "--device ref --nodes 2000 --layers 100 --hidden 16 --heads 2 --phase forward "
                               "--threads 1 --no-check --timeout 0.2 --output x.json",
                               1);
    struct record *record = record_in(*state, "work/x.json");
    assert_skipped(row_at(record, 0), "forward: only 0 of 1 samples within its share of --timeout, 0.2 s");
    record_free(record);
    ended_free(&e);
}

/* Encodings that take seconds are stopped between two steps, and so is the row. */
TEST(test_timeout_within_an_encoding)
{
    needs_lapack();
    struct ended e = run_words(*state,
                               "--pe rwse:16,lap:64 --solver iterative --graph er:giant --nodes 60k "
                               "--phase none --timeout 0.3 --output x.json",
                               1);
    struct record *record = record_in(*state, "work/x.json");
    for (size_t i = 0; i < 2; i++) {
        assert_skipped(row_at(record, i), "encoding: only 0 of 1 samples within --timeout");
        assert_null_because(row_at(record, i), "encoding.time.median", "");
    }
    record_free(record);
    ended_free(&e);
}

/* What a graph file announces is compared with the limit before any of it is taken. */
TEST(test_announced_sizes)
{
    static const char *const announced[] = {
        "graph 2147483647\n", "graph 100000000\n",
        "%%MatrixMarket matrix coordinate pattern general\n9 9 2147483647\n1 2\n"};
    const struct house *h = *state;
    struct rusage before, after;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/work/graph.txt", h->root);
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &before), 0);
    for (size_t i = 0; i < sizeof announced / sizeof *announced; i++) {
        write_bytes(path, announced[i], strlen(announced[i]));
        struct ended e = run_words(h, SMALL "--graph file:graph.txt --mem-limit 100MiB --output x.json", 1);
        assert_non_null(strstr(e.out, "oom: building the graph needs "));
        ended_free(&e);
        e = run_words(h, SMALL "--graph file:graph.txt --mem-limit 100MiB --dry-run", 0);
        assert_non_null(strstr(e.out, "; oom"));
        ended_free(&e);
    }
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &after), 0);
    assert_true(after.ru_maxrss == before.ru_maxrss || after.ru_maxrss < 400 << 10);
}

GROUP("tests", house_setup, house_teardown)
