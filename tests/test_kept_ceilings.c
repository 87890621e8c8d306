/*
 * What a sweep does with the ceilings in its calibration file, which are planted, for a machine a million
 * times too fast or too slow: --dry-run and --timeout predict with them, and those that are no longer true
 * are measured again. Times are not asserted.
 *
 * The benchmark that runs is this program itself, which calibrates for a short time (ld's --wrap).
 */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/record/record.h"
#include "bench/machine/calibration.h"
#include "bench/machine/probe.h"
#include "bench/sweep/harness.h"
#include "kernels/backend.h"
#include "kernels/peak.h"
#include "tests/files.h"
#include "tests/records.h"
#include "tests/test.h"

#define SMALL "--hidden 16 --heads 2 --layers 1 --threads 1 --no-check --no-charts "

bool __real_calibrate(const struct peak *peak, int threads, double seconds, struct calibration *c,
                      struct message *error);
bool __wrap_calibrate(const struct peak *peak, int threads, double seconds, struct calibration *c,
                      struct message *error);

bool __wrap_calibrate(const struct peak *peak, int threads, double seconds, struct calibration *c,
                      struct message *error)
{
    return __real_calibrate(peak, threads, seconds / 20, c, error);
}

/* The best of some probes. Teams of many threads, for dry runs, which are in no state, are not started. */
static struct probe quiet_probe(int threads)
{
    struct probe best = {{1e-7, 1e-5, 1e-9}};
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
        double spread = 0.3 * pow(1.24, i);
        *(i % 2 ? &turn->after : &turn->before) =
            (struct probe){{probe.seconds[PROBE_PING], spread * probe.seconds[PROBE_FMA],
                            spread * probe.seconds[PROBE_SHARING]}};
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

/* With stored ceilings, every row has numeric times. */
static void test_dry_run(void **state)
{
    plant(*state, 100);
    char *before = house_list(*state);
    struct ended e = program_run(*state, "--dry-run --threads 1 --nodes 100,1000 --runs 7 --warmup 2", NULL);
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
    struct ended e = program_run(*state, "--dry-run --threads 1-40+1 --nodes 10 --layers 1 --hidden 8", NULL);
    assert_int_equal(e.status, 0);
    assert_null(strstr(e.out, "unknown"));
    assert_int_equal(lines_of(e.out), 1 + THREADS + 5);
    ended_free(&e);
}

/* The reference's loops are far from any ceiling, and what they need at least is more than the budget. */
static void test_dry_run_of_loops(void **state)
{
    plant(*state, 1e-9);
    for (int loops = 0; loops < 2; loops++) {
        char words[128];
        snprintf(words, sizeof words,
                 "--dry-run --no-roofline --threads 1 --nodes 1000 --budget 60 --device %s",
                 loops ? "ref" : "cpu");
        struct ended e = program_run(*state, words, NULL);
        char *all = unwrapped(e.out);
        assert_non_null(
            strstr(all, loops ? ", more than --budget 60 s; of this at least " : "\n--budget: up to 60.0 s"));
        assert_non_null(strstr(all, " of checks, 0.00 s of calibration"));
        free(all);
        ended_free(&e);
    }
}

/* What comes after all turns is left out and named if the budget is over, unless it is asked for. */
static void test_late(void **state)
{
    static const char small[] =
        "--no-roofline --no-check --nodes 8 --layers 1 --hidden 8 --heads 2 --phase forward "
        "--threads 1 --budget 0.001 --output x.jsonl ";
    for (int asked = 0; asked < 2; asked++) {
        char words[256];
        snprintf(words, sizeof words, "%s--count auto --cold %d", small, asked);
        struct ended e = run_words(*state, words, 0);
        struct record *record = record_in(*state, "work/x.jsonl");
        const struct row *row = row_at(record, 0);
        char *all = unwrapped(e.err);
        assert_non_null(strstr(all, "flops.executed is not measured: no time was left of --budget"));
        assert_null_because(row, "forward.flops.executed", "no time was left of --budget");
        assert_null(strstr(all, "cold is not measured"));
        assert_int_equal(row_has(row, "forward.cold.median"), asked);
        free(all);
        ended_free(&e);
        record_free(record);
    }
}

/* Rows that would not run are announced. */
static void test_dry_run_foresees(void **state)
{
    plant(*state, 1e-9);
    struct ended e = program_run(*state, "--dry-run --threads 1 --nodes 100,5000 --mem-limit 100MiB", NULL);
    char *all = unwrapped(e.out), *rest = strchr(all, '\n') + 1, *first = strsep(&rest, "\n"),
         *second = strsep(&rest, "\n");
    assert_null(strstr(first, "oom"));
    assert_non_null(strstr(first, "100 nodes; more than --budget"));
    assert_non_null(strstr(second, "5000 nodes; oom"));
    assert_null(strstr(e.out, "skipped"));
    free(all);
    ended_free(&e);
    e = program_run(*state, "--dry-run --threads 1 --nodes 100 --timeout 10", NULL);
    all = unwrapped(e.out);
    assert_non_null(strstr(all, "100 nodes; skipped by --timeout"));
    free(all);
    assert_non_null(strstr(e.out, " days  "));
    assert_non_null(strstr(e.out, "\n1 row: "));
    ended_free(&e);
}

/* With ceilings that are far too low no row is started; with ceilings that are far too high rows are. */
static void test_timeout_by_the_roofline(void **state)
{
    const char *words = SMALL "--nodes 8 --runs 3 --warmup 1 --timeout 100 --output x.json";
    plant(*state, 1e-9);
    struct ended e = program_run(*state, words, NULL);
    assert_int_equal(e.status, 1);
    ended_free(&e);
    struct record *record = record_in(*state, "work/x.json");
    assert_skipped(row_at(record, 0), "4 runs would take at least ");
    assert_skipped(row_at(record, 0), ", judging by the roofline; --timeout is 100 s");
    record_free(record);
    plant(*state, 1e9);
    e = program_run(*state, words, NULL);
    assert_int_equal(e.status, 0);
    ended_free(&e);
}

/* Ceilings that a program exceeded are no bounds. */
static void test_exceeded_ceilings_predict(void **state)
{
    plant_all(*state, 1e-9, 1, 130);
    struct ended e = program_run(*state, "--dry-run --threads 1 --nodes 100", NULL);
    assert_null(strstr(e.out, ">="));
    assert_null(strstr(e.out, "lower bounds"));
    assert_non_null(strstr(e.out, "forward ~"));
    assert_non_null(strstr(e.out, "time: predictions, no bounds: "));
    ended_free(&e);
    e = program_run(*state, SMALL "--nodes 8 --runs 3 --warmup 1 --timeout 100 --output x.json", NULL);
    ended_free(&e);
    struct record *record = record_in(*state, "work/x.json");
    assert_skipped(row_at(record, 0), "4 runs would take about ");
    record_free(record);
}

/* Whether a row has the ceilings of the run itself, not the planted ones. */
static bool has_own_ceilings(const struct row *row)
{
    const char *time = row->forward.roofline.calibrated;
    return time && strncmp(time, "2001", 4) != 0;
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
        program_run(h, SMALL "--nodes 8 --phase forward --repetitions 1 --budget 0.1 --output x.json", NULL);
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
    assert_soon(calibrates_in_another_state, *state);
}

/*
 * Rows that need more than the whole budget, by ceilings that are too low, are told before they start.
 * Ceilings that a program exceeds are marked, in the record too, and serve all rows.
 */
static void test_exceeded_ceilings_are_kept(void **state)
{
    static const char two_sizes[] =
        SMALL "--nodes 8,16 --phase forward --repetitions 2 --budget 0.1 --output x.json";
    plant(*state, 1e9);
    struct ended e = program_run(*state, two_sizes, NULL);
    assert_null(strstr(e.err, "--budget: "));
    ended_free(&e);
    plant(*state, 1e-6);
    e = program_run(*state, two_sizes, NULL);
    assert_int_equal(e.status, 0);
    char *told = unwrapped(e.err);
    assert_non_null(strstr(told, "note: [8 nodes; 16 nodes] needs at least "));
    assert_non_null(strstr(told, "more than the whole --budget"));
    free(told);
    ended_free(&e);
    struct record *record = record_in(*state, "work/x.json");
    double exceeded = 0, percent;
    for (size_t i = 0; i < 2; i++)
        if (row_get_real(row_at(record, i), "forward.roofline.percent", &percent)) {
            assert_false(has_own_ceilings(row_at(record, i)));
            const struct value *kept = value_at(value_get(record_head(record), "calibrations"), 0);
            assert_true(value_get_real(kept, "exceeded", &exceeded) && exceeded >= percent);
        }
    record_free(record);
}

static int setup(void **state)
{
    return house_of(state, "tests/test_kept_ceilings");
}

int main(int argc, char **argv)
{
    static const struct bench bench = {.name = "bench_test", .axis = AXIS_NODES, .values = "100"};
    if (argc > 1)
        return bench_main(&bench, argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dry_run),
        cmocka_unit_test(test_dry_run_many_threads),
        cmocka_unit_test(test_dry_run_of_loops),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_dry_run_foresees),
        cmocka_unit_test(test_timeout_by_the_roofline),
        cmocka_unit_test(test_exceeded_ceilings_predict),
        cmocka_unit_test(test_ceilings_of_another_state),
        cmocka_unit_test(test_exceeded_ceilings_are_kept),
    };
    return cmocka_run_group_tests(tests, setup, house_teardown);
}
