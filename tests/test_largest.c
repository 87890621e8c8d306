/*
 * --find: by memory and by predicted times the value is exact, as plans for it and for one step more show; by
 * latency a planted clock's crossing is found although it is noisy, and no answer contradicts its row.
 */
#include <math.h>
#include <unistd.h>

#include "analysis/record/row_range.h"
#include "bench/cli/plan.h"
#include "bench/sweep/gates.h"
#include "bench/sweep/search.h"
#include "kernels/rng.h"
#include "tests/events.h"
#include "tests/records.h"
#include "tests/sweeps.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

#define SMALL "--hidden 16 --heads 2 --phase forward --no-check --no-charts "

static double field_of_plan(const struct house *h, const char *words, const char *flag, int64_t value,
                            const char *field)
{
    char all[256];
    snprintf(all, sizeof all, "--device meta %s --%s %lld", words, flag, (long long)value);
    struct record *record = run_json(h, all, 0);
    double planned = real_at(row_at(record, 0), field);
    record_free(record);
    return planned;
}

static int64_t planned(const struct house *h, const char *words, const char *flag, int64_t value)
{
    return (int64_t)field_of_plan(h, words, flag, value, "forward.memory.planned");
}

/* Checks that the size of each row is the last that fits. */
static void assert_exact(const struct house *h, const char *const *others, int count, const char *axis,
                         int64_t limit)
{
    char words[256], said[64];
    snprintf(words, sizeof words, "--device meta " SMALL "%s --find nodes=memory:%lldB --format json", axis,
             (long long)limit);
    struct ended e = run_words(h, words, 0);
    struct record *record = record_of(e.out);
    assert_int_equal(row_count(record), count);
    for (int i = 0; i < count; i++) {
        int64_t nodes = count_at(row_at(record, (size_t)i), "nodes");
        snprintf(words, sizeof words, SMALL "%s", others[i]);
        assert_true(planned(h, words, "nodes", nodes) <= limit);
        assert_true(planned(h, words, "nodes", nodes + 1) > limit);
        snprintf(said, sizeof said, ": %lld nodes (%lld need ", (long long)nodes, (long long)nodes + 1);
        assert_non_null(strstr(e.err, said));
    }
    record_free(record);
    ended_free(&e);
}

TEST(test_memory_exactly)
{
    static const char *const layers[] = {"--layers 1", "--layers 3"};
    static const char *const one[] = {"--layers 2 --batch 4"};
    assert_exact(*state, layers, 2, "--layers 1,3", 5 << 20);
    assert_exact(*state, layers, 1, "--layers 1", INT64_C(1) << 32);
    assert_exact(*state, one, 1, one[0], 3 << 20);
}

/* The other axes: the width in steps of the heads, and with an FFN that follows it. */
TEST(test_other_axes)
{
    static const struct {
        const char *axis, *others, *found;
        int64_t step;
    } cases[] = {
        {"batch", "--hidden 16 --heads 2 --layers 1 --nodes 20 --phase forward", "batch size %lld", 1},
        {"layers", "--hidden 16 --heads 2 --nodes 64 --phase forward", "%lld layers", 1},
        {"hidden", "--layers 2 --heads 8 --nodes 64 --phase forward", "hidden size %lld", 8},
    };
    const int64_t limit = 3 << 20;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[256], found[32], said[64];
        snprintf(words, sizeof words, "--device meta %s --find %s=memory:%lldB --format json",
                 cases[i].others, cases[i].axis, (long long)limit);
        struct ended e = run_words(*state, words, 0);
        struct record *record = record_of(e.out);
        int64_t most = count_at(row_at(record, 0), cases[i].axis);
        assert_int_equal(most % cases[i].step, 0);
        assert_true(most > cases[i].step);
        assert_true(planned(*state, cases[i].others, cases[i].axis, most) <= limit);
        assert_true(planned(*state, cases[i].others, cases[i].axis, most + cases[i].step) > limit);
        snprintf(found, sizeof found, cases[i].found, (long long)most);
        snprintf(said, sizeof said, ": %s (%lld need ", found, (long long)(most + cases[i].step));
        assert_non_null(strstr(e.err, said));
        record_free(record);
        ended_free(&e);
    }
}

TEST(test_predicted_exactly)
{
    const char *words = "--hidden 16 --heads 2 --layers 1 --peaks peak=1TFLOP/s,dram=100GB/s";
    char find[256], said[64];
    snprintf(find, sizeof find, "--device meta %s --find nodes=latency:1ms --format json", words);
    struct ended e = run_words(*state, find, 0);
    struct record *record = record_of(e.out);
    int64_t nodes = count_at(row_at(record, 0), "nodes");
    assert_true(field_of_plan(*state, words, "nodes", nodes, "step.predicted.time") <= 1e-3);
    assert_true(field_of_plan(*state, words, "nodes", nodes + 1, "step.predicted.time") > 1e-3);
    assert_true(field_of_plan(*state, words, "nodes", nodes + 1, "forward.predicted.time") < 1e-3);
    snprintf(said, sizeof said, ": %lld nodes (%lld need ", (long long)nodes, (long long)nodes + 1);
    assert_non_null(strstr(e.err, said));
    assert_non_null(strstr(e.err, " in step)\n"));
    record_free(record);
    ended_free(&e);
}

/* A clock: x takes `slope` x seconds, at multiples of `bump` twice that; a share of all measurements takes
 * three times as long, and all vary by a share. */
struct planted {
    double slope, disturbed, varies;
    int64_t bump;
    uint64_t key, calls;
};

/* From 0 to below 1. */
static double drawn(const struct planted *p, int which)
{
    return (double)(rng_bits(p->key, 2 * p->calls + (uint64_t)which) >> 11) * 0x1p-53;
}

static double read_planted(void *context, int64_t x)
{
    struct planted *p = context;
    double seconds = p->slope * (double)x * (p->bump && x % p->bump == 0 ? 2 : 1);
    bool slow = drawn(p, 0) < p->disturbed;
    double varies = 1 + p->varies * (2 * drawn(p, 1) - 1);
    p->calls++;
    return seconds * varies * (slow ? 3 : 1);
}

static struct limit_answer find_planted(struct planted *p, double limit, int64_t first, bool noisy)
{
    struct limit_search w = {read_planted, p, limit, first, 100000, noisy};
    return limit_find(&w);
}

TEST(test_planted_clocks)
{
    for (int64_t most = 0; most < 1000; most = most * 5 / 4 + 1)
        for (int first = 1; first <= 64; first *= 64) {
            struct planted exact = {.slope = 1};
            struct limit_answer a = find_planted(&exact, (double)most + 0.5, first, false);
            assert_true(a.fits == most && a.fails == most + 1 && !a.unsure && a.at_fails == (double)a.fails);
            assert_true(1.25 * (double)a.clear <= (double)most + 0.5);
        }
    struct planted all = {.slope = 1};
    assert_int_equal(find_planted(&all, 1e9, 1, true).fits, 100000);
    assert_int_equal(find_planted(&all, 0.5, 64, true).fits, 0);
}

/* One measurement in ten is three times too long: 97 of 100 searches find the place all the same. */
TEST(test_noisy_clocks)
{
    int right = 0, unsure = 0;
    for (uint64_t key = 0; key < 1000; key++) {
        struct planted p = {.slope = 1, .disturbed = 0.1, .varies = 0.02, .key = key};
        int64_t most = 2 + (int64_t)(key % 40);
        struct limit_answer a = find_planted(&p, (double)most + 0.5, key % 2 ? 64 : 1, true);
        right += a.fits == most && a.fails == most + 1;
        unsure += a.unsure;
    }
    assert_true(right >= 970);
    assert_true(unsure <= 20);
}

/* Where the need does not grow the answer is a place at which it passes the limit. */
TEST(test_bumpy_clocks)
{
    for (uint64_t key = 0; key < 100; key++) {
        struct planted p = {.slope = 1, .varies = 0.01, .bump = 8, .key = key};
        double limit = 5.3 + (double)key;
        struct limit_answer a = find_planted(&p, limit, 1, true);
        p.varies = 0;
        assert_false(a.unsure);
        assert_int_equal(a.fails, a.fits + 1);
        assert_true(read_planted(&p, a.fits) <= limit && read_planted(&p, a.fails) > limit);
    }
}

struct fickle {
    int64_t last;
};

/* Which takes back what it said when it is asked again. */
static double read_fickle(void *context, int64_t x)
{
    struct fickle *f = context;
    bool again = f->last == x;
    f->last = x;
    return (x < 100) == again ? 9 : 1;
}

TEST(test_fickle_clock)
{
    struct limit_search w = {read_fickle, &(struct fickle){0}, 5, 1, 100000, true};
    assert_true(limit_find(&w).unsure);
}

struct repenting {
    int64_t last;
    bool again;
    int times[100];
};

/* Which takes back that x fits when it is asked again the first time, and after that whatever it says. */
static double read_repenting(void *context, int64_t x)
{
    struct repenting *r = context;
    bool again = r->last == x;
    if (again && !r->again && x < 100)
        r->times[x]++;
    r->last = x;
    r->again = again;
    return x < 100 ? (again && r->times[x] == 1 ? 9 : 1) : again ? 1 : 9;
}

TEST(test_what_fails_needs_more)
{
    struct limit_search w = {read_repenting, &(struct repenting){0}, 5, 1, 100000, true};
    struct limit_answer a = limit_find(&w);
    assert_true(a.unsure && a.at_fits <= w.limit && a.at_fails > w.limit);
}

/* Of 12 nodes, where 9 were far within 5 ms: the answer and its row are judged by the same range. */
TEST(test_answers)
{
    static const struct bench bench = {.name = "bench_x", .axis = AXIS_NODES, .values = "100"};
    static const struct {
        double low, high, lost, searched;
        int64_t clear;
        enum find_verdict verdict;
        const char *said;
    } cases[] = {
        {4.7e-3, 5e-3, 0, 4.9e-3, 9, FIND_HOLDS, "12 nodes"},
        {4.7e-3, 5.2e-3, 0, 4.9e-3, 9, FIND_OPEN,
         "inconclusive, between 9 and 12 nodes: the row of 12 takes 4.70 ms to 5.20 ms in forward"},
        {5.2e-3, 5.4e-3, 0.2, 4.9e-3, 9, FIND_OPEN,
         "inconclusive, between 9 and 12 nodes: the row of 12 takes 4.16 ms to 5.40 ms in forward"},
        {5.2e-3, 5.4e-3, 0, 4.9e-3, 9, FIND_BEYOND,
         "inconclusive, between 9 and 12 nodes: the row of 12 takes 5.20 ms to 5.40 ms in forward"},
        {5.2e-3, 5.4e-3, 0, 4.9e-3, 0, FIND_BEYOND,
         "inconclusive, less than 12 nodes: the row of 12 takes 5.20 ms to 5.40 ms in forward"},
        {4.7e-3, 5.2e-3, 0, 3e-3, 12, FIND_OPEN,
         "inconclusive, at most 12 nodes: the row of 12 takes 4.70 ms to 5.20 ms in forward"},
        {1.6e-3, 1.7e-3, 0, 4.9e-3, 9, FIND_DISTURBED,
         "inconclusive, at least 12 nodes: the row of 12 takes 1.60 ms to 1.70 ms in forward, in the search "
         "4.90 ms"},
        {1.6e-3, 1.7e-3, 0, 1.8e-3, 9, FIND_HOLDS, "12 nodes"},
    };
    struct options o = options_of(&bench, SMALL "--layers 1 --find nodes=latency:5ms");
    o.plan.list[0] = plan_with(&o, 0, AXIS_NODES, 12);
    o.gates.list[o.gates.count++] = (struct gate){.kind = GATE_LATENCY, .program = GATE_ALL, .limit = 5e-3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double ends[] = {cases[i].low, cases[i].high};
        char said[256] = "", expected[256];
        struct row *row = good_row(12);
        row_omit(row, "step.time", "not measured");
        row_set_samples(row, "forward.time", ends, 2);
        row_set_real(row, "forward.time.lost", cases[i].lost);
        struct rows *rows = rows_of(row, NULL, NULL);
        struct range range = row_range(rows_at(rows, 0), TIMED_FORWARD);
        assert_int_equal(largest_verdict(5e-3, cases[i].searched, &range), cases[i].verdict);
        o.plan.list[0].searched = cases[i].searched;
        o.plan.list[0].clear = cases[i].clear;
        FILE *out = fmemopen(said, sizeof said, "w");
        largest_answer(&o, rows, out);
        fclose(out);
        snprintf(expected, sizeof expected, "largest that fits 5.00 ms: %s\n", cases[i].said);
        assert_string_equal(said, expected);
        out = tmpfile();
        assert_int_equal(gates_judge(&o.gates, o.programs, rows, false, out),
                         cases[i].verdict == FIND_BEYOND);
        fclose(out);
        rows_free(rows);
    }
    options_free(&o);
}

/* If no size fits, the smallest row reports what it needs. */
TEST(test_nothing_fits)
{
    struct ended e =
        run_words(*state, SMALL "--layers 1 --mem-limit 2KiB --find nodes=memory --output x.json", 1);
    struct record *record = record_in(*state, "work/x.json");
    assert_non_null(strstr(e.err, "nothing fits 2.00 KiB (1 needs "));
    assert_int_equal(count_at(row_at(record, 0), "nodes"), 1);
    assert_string_equal(text_at(row_at(record, 0), "status"), "oom");
    record_free(record);
    ended_free(&e);
    static const char *const limits[] = {"memory:1KiB", "memory:1kB", "latency:1ns",
                                         "memory:1GiB --mem-limit 1KiB"};
    static const char *const fits[] = {"nothing fits 1.00 KiB ", "nothing fits 1.00 kB ",
                                       "nothing fits 1.00 ns ", "nothing fits 1.00 KiB "};
    static const char *const needs[] = {"KiB in ", "kB in ", "(1 needs over 8.00 ns in forward)",
                                        "(1 needs "};
    for (int i = 0; i < 4; i++) {
        char words[256];
        snprintf(words, sizeof words, SMALL "--layers 1 --find nodes=%s --output x.json", limits[i]);
        e = run_words(*state, words, 1);
        record = record_in(*state, "work/x.json");
        assert_non_null(strstr(e.err, needs[i]));
        assert_non_null(strstr(e.err, fits[i]));
        assert_skipped(row_at(record, 0), "--find: not even the smallest fits: it needs ");
        record_free(record);
        ended_free(&e);
    }
}

/* On a terminal a line says which value is tried. */
TEST(test_progress)
{
    static const char *const finds[][2] = {
        {"--find batch=latency:1s --mem-limit 4MiB", "[1/1] --find: trying batch size 1; probe 1, "},
        {"--nodes 8,64 --find attention=dense,unfused", "[1/4] --find: trying 8 nodes; probe 1, "}};
    assert_int_equal(setenv("TERM", "xterm", 1), 0);
    for (size_t i = 0; i < 2; i++) {
        char words[256];
        int master, slave;
        open_terminal(100, &master, &slave);
        snprintf(words, sizeof words, SMALL "--layers 1 --runs 1 --output x.json %s", finds[i][0]);
        pid_t pid = program_start(*state, words, NULL, slave, slave);
        close(slave);
        char *text = read_rest(master);
        program_wait(pid);
        if (!strstr(text, finds[i][1]))
            fail_msg("no '%s' in\n%s", finds[i][1], text);
        free(text);
    }
}

/* A row that is only planned says nothing of the limit by itself. */
TEST(test_nothing_fits_a_plan)
{
    static const char *const words[] = {
        "nodes=memory", "batch=memory", "layers=memory", "hidden=memory", "layers=memory --pe lap:4",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char line[256];
        snprintf(line, sizeof line, "--device meta --threads 1 --mem-limit 1KiB --output x.json --find %s",
                 words[i]);
        struct ended e = run_words(*state, line, 1);
        struct record *record = record_in(*state, "work/x.json");
        assert_non_null(strstr(e.err, "nothing fits 1.00 KiB ("));
        assert_string_equal(text_at(row_at(record, 0), "status"), "skipped");
        record_free(record);
        ended_free(&e);
    }
}

TEST(test_real_rows)
{
    static const char *const kinds[] = {"memory:512KiB", "latency:5ms --gate allow-unchecked"};
    for (int i = 0; i < 2; i++) {
        char words[256];
        snprintf(words, sizeof words,
                 "--device ref " SMALL "--layers 1 --runs 3 --warmup 1 --output x.json --find nodes=%s",
                 kinds[i]);
        struct ended e = program_run(*state, words, NULL);
        struct record *record = record_in(*state, "work/x.json");
        char said[64];
        int64_t nodes = count_at(row_at(record, 0), "nodes");
        snprintf(said, sizeof said, ": %lld nodes (", (long long)nodes);
        assert_non_null(strstr(e.err, said));
        assert_int_equal(row_at(record, 0)->forward.time.samples.count, 3);
        assert_true(i || count_at(row_at(record, 0), "forward.memory.planned") <= 512 << 10);
        struct range range = row_range(row_at(record, 0), TIMED_FORWARD);
        bool slow = i && range_floor(&range) > 5e-3, open = i && range.high > 5e-3;
        assert_int_equal(e.status, slow);
        assert_int_equal(strstr(e.err, "inconclusive, ") != NULL, open || strstr(e.err, ", in the search"));
        assert_int_equal(strstr(e.err, "forward.latency") != NULL, open);
        record_free(record);
        ended_free(&e);
    }
}

/* The limit becomes a gate of the row of the size found. */
TEST(test_latency_is_a_gate)
{
    static const struct bench bench = {.name = "bench_x", .axis = AXIS_NODES, .values = "100"};
    struct options o = options_of(&bench, SMALL "--layers 1 --find nodes=latency:1ns");
    assert_true(largest_find(&o));
    assert_int_equal(o.gates.count, 1);
    for (int slow = 0; slow < 3; slow++) { /* within the limit, beyond it, not measured */
        const double seconds = slow ? 2e-9 : 0.5e-9;
        struct row *row = good_row(64);
        if (slow < 2)
            row_set_samples(row, "forward.time", &seconds, 1);
        else
            row_omit(row, "forward.time", "not measured");
        struct rows *rows = rows_of(row, NULL, NULL);
        FILE *out = tmpfile();
        assert_int_equal(gates_judge(&o.gates, o.programs, rows, false, out), slow > 0);
        fclose(out);
        rows_free(rows);
    }
    options_free(&o);
    o = options_of(&bench, "--device meta " SMALL "--layers 1 --find nodes=memory:1MiB");
    assert_true(largest_find(&o));
    assert_int_equal(o.gates.count, 0);
    options_free(&o);
}

GROUP("tests", house_setup, house_teardown)
