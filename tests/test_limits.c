/*
 * What a sweep prints before it runs (--dry-run) and what it stops (--timeout). Times are not asserted: a
 * calibration file is planted, for a machine a million times too fast or too slow.
 */
#include <math.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/record/record.h"
#include "analysis/tables/units.h"
#include "bench/machine/calibration.h"
#include "bench/machine/probe.h"
#include "kernels/backend.h"
#include "kernels/peak.h"
#include "tests/encodings.h"
#include "tests/files.h"
#include "tests/records.h"
#include "tests/test.h"

#define SMALL "--hidden 16 --heads 2 --layers 1 --threads 1 --no-check --no-charts "

/* The best of some probes. Teams of many threads, for dry runs, which are in no state, are not started. */
static struct probe quiet_probe(int threads)
{
    struct probe best = {{1e-7, 1e-5}};
    for (int i = 0; i < 10 && threads <= 2; i++) {
        struct probe now = probe_take(peak_of(backend_cpu()), threads);
        for (int part = 0; part < PROBE_PARTS; part++)
            best.seconds[part] = i ? fmin(best.seconds[part], now.seconds[part]) : now.seconds[part];
    }
    return best;
}

/*
 * Ceilings of a machine with this rate in GFLOP/s, and in GB/s of memory; exceeded by a program at so many
 * percent. Their probes are so evenly spread, up to the 200 times of a machine with many other programs, that
 * whatever a program finds is the same state.
 */
static struct calibration ceilings(double rate, int threads, double exceeded)
{
    struct calibration c = calibration_conditions(peak_of(backend_cpu()), threads);
    struct probe probe = quiet_probe(threads);
    snprintf(c.time, sizeof c.time, "2001-02-03T04:05:06Z");
    c.peak = rate;
    c.exceeded = exceeded;
    c.points = 1;
    c.turns = CALIBRATION_TURNS;
    for (enum memory_level l = 0; l < MEMORY_LEVELS; l++)
        c.level[l] = c.sweep[0] = (struct bandwidth){1 << 20, 1 << 20, rate, rate, rate, rate};
    for (int i = 0; i < 2 * CALIBRATION_TURNS; i++) {
        struct turn *turn = &c.turn[i / 2];
        *(i % 2 ? &turn->after : &turn->before) =
            (struct probe){{probe.seconds[PROBE_PING], 0.3 * pow(1.24, i) * probe.seconds[PROBE_FMA]}};
    }
    return c;
}

/* The calibration file of the house. */
static void calibration_path(const struct house *h, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/results/local", h->root);
    mkdir(path, 0777);
    snprintf(path, PATH_MAX, "%s/results/local/calibration.json", h->root);
}

/* Stores ceilings in the house for 1 to `threads` threads. */
static void plant_all(const struct house *h, double rate, int threads, double exceeded)
{
    char path[PATH_MAX];
    struct message error;
    calibration_path(h, path);
    unlink(path);
    for (int i = 1; i <= threads; i++) {
        struct calibration c = ceilings(rate, i, exceeded);
        assert_true(calibration_save(path, &c, 1, &error));
    }
}

static void plant(const struct house *h, double rate)
{
    plant_all(h, rate, 1, 0);
}

/* Runs with the stored ceilings: benchmarks given by another path do not get --no-roofline. */
static struct ended run_calibrated(const struct house *h, const char *words)
{
    struct house other = *h;
    snprintf(other.program, sizeof other.program, "%.64s/build/./bench_node_scaling", h->root);
    return program_run(&other, words, NULL);
}

static int lines_of(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* One line per row, with the larger memory plan of its programs; nothing is written. */
static void test_dry_run(void **state)
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
    assert_int_equal(lines_of(rest), 3);
    ended_free(&e);
    record_free(record);
    free(before);
    free(after);
}

/* With stored ceilings, every row has numeric times. */
static void test_dry_run_calibrated(void **state)
{
    plant(*state, 100);
    char *before = house_list(*state);
    struct ended e = run_calibrated(*state, "--dry-run --threads 1 --nodes 100,1000 --runs 7 --warmup 2");
    char *after = house_list(*state);
    assert_string_equal(before, after);
    assert_int_equal(e.status, 0);
    assert_null(strstr(e.out, "unknown"));
    assert_non_null(strstr(e.out, "2 rows: at least 9 runs of each program, "));
    assert_non_null(strstr(e.out, "forward >="));
    assert_non_null(strstr(e.out, "lower bounds, "));
    assert_non_null(strstr(e.out, "measured 2001-02-03T04:05:06Z"));
    ended_free(&e);
    free(before);
    free(after);
}

/* Any number of thread counts can be swept; each has its ceilings. */
static void test_dry_run_many_threads(void **state)
{
    enum { THREADS = 40 };
    plant_all(*state, 100, THREADS, 0);
    struct ended e = run_calibrated(*state, "--dry-run --threads 1-40+1 --nodes 10 --layers 1 --hidden 8");
    assert_int_equal(e.status, 0);
    assert_null(strstr(e.out, "unknown"));
    assert_int_equal(lines_of(e.out), 1 + THREADS + 3);
    ended_free(&e);
}

/* A plan beyond 63 bits is null. */
static void test_plan_beyond_63_bits(void **state)
{
    static const char words[] = "--attention unfused --nodes 1G --degree 1 --phase step";
    char all[256];
    snprintf(all, sizeof all, "--device meta %s", words);
    struct record *record = run_json(*state, all, 0);
    assert_null_because(row_at(record, 0), "step.memory.planned", "exceeds 63 bits");
    assert_null_because(row_at(record, 0), "step.memory.efficiency", "exceeds 63 bits");
    assert_null_because(row_at(record, 0), "step.memory.average", "exceeds 63 bits");
    assert_null_because(row_at(record, 0), "step.memory.per_node", "exceeds 63 bits");
    record_free(record);
    snprintf(all, sizeof all, "--dry-run %s", words);
    struct ended e = run_words(*state, all, 0);
    assert_non_null(strstr(e.out, "> 8 EiB"));
    ended_free(&e);
}

/* Rows that would not run are announced. */
static void test_dry_run_foresees(void **state)
{
    plant(*state, 1e-9);
    struct ended e = run_calibrated(*state, "--dry-run --threads 1 --nodes 100,5000 --mem-limit 100MiB");
    char *all = unwrapped(e.out), *rest = strchr(all, '\n') + 1, *first = strsep(&rest, "\n"),
         *second = strsep(&rest, "\n");
    assert_null(strstr(first, "oom"));
    assert_non_null(strstr(first, "100 nodes; more than --budget"));
    assert_non_null(strstr(second, "5000 nodes; oom"));
    assert_null(strstr(e.out, "skipped"));
    free(all);
    ended_free(&e);
    e = run_calibrated(*state, "--dry-run --threads 1 --nodes 100 --timeout 10");
    all = unwrapped(e.out);
    assert_non_null(strstr(all, "100 nodes; skipped by --timeout"));
    free(all);
    assert_non_null(strstr(e.out, " days  "));
    assert_non_null(strstr(e.out, "\n1 row: "));
    ended_free(&e);
}

/* Graphs that are only encoded have no program to estimate. */
static void test_dry_run_of_encodings(void **state)
{
    (void)state;
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

static void assert_skipped(const struct row *row, const char *reason)
{
    assert_string_equal(text_at(row, "status"), "skipped");
    if (!strstr(text_at(row, "reason"), reason))
        fail_msg("'%s', not '%s'", text_at(row, "reason"), reason);
    assert_null_because(row, "step.time.median", "");
}

/* With ceilings that are far too low no row is started; with ceilings that are far too high rows are. */
static void test_timeout_by_the_roofline(void **state)
{
    const char *words = SMALL "--nodes 8 --runs 3 --warmup 1 --timeout 100 --output x.json";
    plant(*state, 1e-9);
    struct ended e = run_calibrated(*state, words);
    assert_int_equal(e.status, 1);
    ended_free(&e);
    struct record *record = record_in(*state, "work/x.json");
    assert_skipped(row_at(record, 0), "4 runs would take at least ");
    assert_skipped(row_at(record, 0), ", judging by the roofline; --timeout is 100 s");
    record_free(record);
    plant(*state, 1e9);
    e = run_calibrated(*state, words);
    assert_int_equal(e.status, 0);
    ended_free(&e);
}

/* Ceilings that a program exceeded are no bounds. */
static void test_exceeded_ceilings_predict(void **state)
{
    plant_all(*state, 1e-9, 1, 130);
    struct ended e = run_calibrated(*state, "--dry-run --threads 1 --nodes 100");
    assert_null(strstr(e.out, ">="));
    assert_null(strstr(e.out, "lower bounds"));
    assert_non_null(strstr(e.out, "forward ~"));
    assert_non_null(strstr(e.out, "time: predictions, no bounds: "));
    ended_free(&e);
    e = run_calibrated(*state, SMALL "--nodes 8 --runs 3 --warmup 1 --timeout 100 --output x.json");
    ended_free(&e);
    struct record *record = record_in(*state, "work/x.json");
    assert_skipped(row_at(record, 0), "4 runs would take about ");
    record_free(record);
}

/* Whether a row has the ceilings of the run itself, not the planted ones. */
static bool has_own_ceilings(const struct row *row)
{
    const char *time;
    return row_get_text(row, "forward.roofline.calibrated", &time) && strncmp(time, "2001", 4) != 0;
}

/* On a machine with many other programs a calibration can fail, which is no fault: tries it some times. */
static void assert_soon(bool (*is_calibrated)(const struct house *h), const struct house *h)
{
    bool good = false;
    for (int i = 0; i < 10 && !good; i++)
        good = is_calibrated(h);
    assert_true(good);
}

/* Ceilings of another state of the machine, too slow for any load, are kept, but not used. */
static bool calibrates_in_another_state(const struct house *h)
{
    char path[PATH_MAX];
    struct message error;
    struct calibration c = ceilings(1e-6, 1, 0), list[CALIBRATION_STATES];
    double fma = quiet_probe(1).seconds[PROBE_FMA];
    for (int i = 0; i < CALIBRATION_TURNS; i++)
        c.turn[i] = (struct turn){0, {{NAN, (1e9 + 1e7 * i) * fma}}, {{NAN, 1e9 * fma}}};
    plant(h, 1);
    calibration_path(h, path);
    assert_true(calibration_save(path, &c, 1, &error));
    struct ended e =
        run_calibrated(h, SMALL "--nodes 8 --phase forward --turns 1 --budget 0.1 --output x.json");
    assert_int_equal(e.status, 0);
    ended_free(&e);
    bool kept = calibration_load(path, &c, list) >= 2 && strcmp(list[0].time, c.time) == 0;
    struct record *record = record_in(h, "work/x.json");
    bool own = has_own_ceilings(row_at(record, 0));
    record_free(record);
    return kept && own;
}

static void test_ceilings_of_another_state(void **state)
{
    if (getenv("GTMARK_SMALL"))
        skip(); /* a calibration takes seconds, and the next test has one */
    assert_soon(calibrates_in_another_state, *state);
}

/*
 * Rows that need more than the whole budget, by ceilings that are too low, are told before they start.
 * Ceilings that a program exceeds are measured again at once, once in a run.
 */
static const char two_sizes[] = SMALL "--nodes 8,16 --phase forward --turns 2 --budget 0.1 --output x.json";

static bool calibrates_again(const struct house *h)
{
    plant(h, 1e-6);
    struct ended e = run_calibrated(h, two_sizes);
    assert_int_equal(e.status, 0);
    char *told = unwrapped(e.err);
    assert_non_null(strstr(told, "note: [8 nodes; 16 nodes] needs at least "));
    assert_non_null(strstr(told, "more than the whole --budget"));
    free(told);
    ended_free(&e);
    struct record *record = record_in(h, "work/x.json");
    bool again = value_size(value_get(record_head(record), "calibrations")) >= 2;
    for (size_t i = 0; i < 2; i++) {
        double percent = NAN;
        again = again && has_own_ceilings(row_at(record, i));
        if (again) /* of the planted ceilings, a million times as much */
            assert_true(row_get_real(row_at(record, i), "forward.roofline.percent", &percent) &&
                        percent < 1000);
    }
    record_free(record);
    return again;
}

static void test_exceeded_ceilings_are_measured_again(void **state)
{
    plant(*state, 1e9);
    struct ended e = run_calibrated(*state, two_sizes);
    assert_null(strstr(e.err, "--budget: "));
    ended_free(&e);
    assert_soon(calibrates_again, *state);
}

/* Without ceilings, a row's time serves to estimate the next. */
static void test_timeout_by_rows_before(void **state)
{
    struct ended e = run_words(
        *state, SMALL "--device ref --nodes 16,200k --runs 3 --warmup 1 --timeout 30 --output x.json", 1);
    struct record *record = record_in(*state, "work/x.json");
    assert_string_equal(text_at(row_at(record, 0), "status"), "ok");
    assert_skipped(row_at(record, 1), ", judging by the previous rows; --timeout is 30 s");
    record_free(record);
    ended_free(&e);
}

/* Nothing predicts the first row's time, which would be many minutes: it is stopped within a run. */
static void test_timeout_within_a_run(void **state)
{
    struct ended e =
        run_words(*state,
                  "--device ref --nodes 2000 --layers 1000 --hidden 16 --heads 2 --phase forward "
                  "--threads 1 --no-check --timeout 1 --output x.json",
                  1);
    struct record *record = record_in(*state, "work/x.json");
    assert_skipped(row_at(record, 0), "forward: only 0 of 1 samples within its share of --timeout, 1 s");
    record_free(record);
    ended_free(&e);
}

/* Encodings that take seconds are stopped between two steps, and so is the row. */
static void test_timeout_within_an_encoding(void **state)
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
static void test_announced_sizes(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dry_run),
        cmocka_unit_test(test_dry_run_calibrated),
        cmocka_unit_test(test_dry_run_many_threads),
        cmocka_unit_test(test_plan_beyond_63_bits),
        cmocka_unit_test(test_dry_run_foresees),
        cmocka_unit_test(test_dry_run_of_encodings),
        cmocka_unit_test(test_timeout_by_the_roofline),
        cmocka_unit_test(test_exceeded_ceilings_predict),
        cmocka_unit_test(test_ceilings_of_another_state),
        cmocka_unit_test(test_exceeded_ceilings_are_measured_again),
        cmocka_unit_test(test_timeout_by_rows_before),
        cmocka_unit_test(test_timeout_within_a_run),
        cmocka_unit_test(test_timeout_within_an_encoding),
        cmocka_unit_test(test_announced_sizes),
    };
    return cmocka_run_group_tests(tests, house_setup, house_teardown);
}
