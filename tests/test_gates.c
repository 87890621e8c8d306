/* Gates: their syntax, which rows miss them, and the exit status. */
#include "analysis/statistics/statistics.h"
#include "bench/sweep/gates.h"
#include "tests/records.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

TEST(test_reading)
{
    struct gates g = {0};
    struct message error;
    assert_true(gates_parse("latency:100ms,step.memory:2GiB,forward.throughput:1k/s,error:1e-4", &g, &error));
    assert_int_equal(g.count, 4);
    assert_true(gates_parse("step.latency:1s", &g, &error));
    assert_int_equal(g.count, 5);
    assert_int_equal(g.list[0].program, GATE_ALL);
    assert_int_equal(g.list[1].program, PROGRAM_STEP);
    assert_int_equal(g.list[2].program, PROGRAM_FORWARD);
    assert_true(g.list[1].limit == 0x1p31);
    struct gates rates = {0};
    assert_true(gates_parse(
        "throughput:3graphs/s,throughput:2samples/s,throughput:5knodes/s,step.throughput:1Medges/s", &rates,
        &error));
    assert_string_equal(gate_kinds[rates.list[1].kind].field, "throughput");
    assert_string_equal(gate_kinds[rates.list[2].kind].field, "nodes_per_second");
    assert_string_equal(gate_kinds[rates.list[3].kind].field, "edges_per_second");
    assert_true(rates.list[2].limit == 5e3 && rates.list[3].limit == 1e6);
    struct gates more = {0};
    assert_true(
        gates_parse("kernel.p99:2ms,encoding.latency:1s,encoding.memory:1MiB,flops:10GFLOP", &more, &error));
    assert_int_equal(more.list[0].program, PROGRAM_KERNEL);
    assert_int_equal(more.list[1].program, GATE_ENCODING);
    assert_string_equal(gate_kinds[more.list[2].kind].of_encoding, "peak");
    assert_true(more.list[3].limit == 1e10);
    static const char *const bad[] = {"",
                                      "latency",
                                      "latency:",
                                      "latency:100",
                                      "latency:-1s",
                                      "speed:1s",
                                      "step.error:1",
                                      "memory:1s",
                                      "throughput:1furlongs/s",
                                      "throughput:nodes/s",
                                      "latency:1s,",
                                      ",latency:1s",
                                      "p99:1",
                                      "p95:1s",
                                      "flops:1",
                                      "flops:1GFLOP/s",
                                      "encoding.throughput:1/s",
                                      "encoding.error:1",
                                      "steps.latency:1s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gates none = {0};
        if (gates_parse(bad[i], &none, &error))
            fail_msg("\"%s\" was taken", bad[i]);
        assert_int_equal(strncmp(error.text, "--threshold", 11), 0);
    }
}

static char *judged(const char *text, const bool programs[PROGRAMS], const struct rows *rows, int *misses)
{
    struct gates g = {0};
    struct message error;
    char *out = NULL;
    size_t size;
    FILE *stream = open_memstream(&out, &size);
    assert_true(gates_parse(text, &g, &error));
    *misses = gates_judge(&g, programs, rows, false, stream);
    fclose(stream);
    return out;
}

/* The rows' forward times are their FLOPs at 55 GFLOP/s, the planned bytes 2000000 + 4096 nodes. */
TEST(test_judging)
{
    static const bool both[PROGRAMS] = {true, true}, forward[PROGRAMS] = {true, false};
    struct rows *rows = rows_of(good_row(100), good_row(1000), NULL);
    row_derive(rows_at(rows, 0));
    row_derive(rows_at(rows, 1));
    double fast = real_at(rows_at(rows, 0), "forward.time.median"), slow;
    slow = real_at(rows_at(rows, 1), "forward.time.median");
    char text[128];
    int misses;
    snprintf(text, sizeof text, "forward.latency:%.9fs", (fast + slow) / 2);
    char *out = judged(text, both, rows, &misses);
    assert_int_equal(misses, 1);
    assert_non_null(strstr(out, "forward.latency"));
    assert_non_null(strstr(out, " 1000 "));
    assert_null(strstr(out, " 100 "));
    free(out);
    snprintf(text, sizeof text, "forward.latency:%.9fs", slow * 1.1); /* above its whole range */
    out = judged(text, both, rows, &misses);
    assert_int_equal(misses, 0);
    assert_string_equal(out, "");
    free(out);
    snprintf(text, sizeof text, "forward.latency:%.9fs", slow * 1.001); /* within it */
    out = judged(text, both, rows, &misses);
    assert_int_equal(misses, 0);
    assert_non_null(strstr(out, "inconclusive; --gate strict makes this a miss"));
    free(out);
    free(judged("forward.throughput:1000000/s", both, rows, &misses)); /* a lower bound */
    assert_int_equal(misses, 2);
    free(judged("forward.throughput:0.000001/s", both, rows, &misses));
    assert_int_equal(misses, 0);
    free(judged("memory:1KiB", both, rows, &misses));
    assert_int_equal(misses, 4);
    free(judged("memory:1KiB", forward, rows, &misses));
    assert_int_equal(misses, 2);
    out = judged("error:1", forward, rows, &misses); /* these rows have no error field */
    assert_int_equal(misses, 2);
    assert_non_null(strstr(out, "none"));
    free(out);
    rows_free(rows);
}

/* Percentiles need samples; FLOPs are planned; an encoding is judged only where it is named and there. */
TEST(test_more_kinds)
{
    static const bool forward[PROGRAMS] = {true, false};
    struct row *row = good_row(100), *encoded = good_row(1000);
    double samples[SUMMARY_P99_MIN];
    for (int i = 0; i < SUMMARY_P99_MIN; i++)
        samples[i] = i == 0 ? 3 : 1 + 1e-6 * i;
    struct rows *rows = rows_of(row, encoded, NULL);
    int misses;
    char *out = judged("forward.p99:1000s", forward, rows, &misses);
    assert_int_equal(misses, 2);
    assert_non_null(strstr(out, "none, needs 100 samples"));
    free(out);
    row_set_samples(row, "forward.time", samples, SUMMARY_P99_MIN);
    row_set_samples(encoded, "forward.time", samples, SUMMARY_P99_MIN);
    free(judged("p99:4s", forward, rows, &misses));
    assert_int_equal(misses, 0);
    free(judged("p99:1s", forward, rows, &misses));
    assert_int_equal(misses, 2);
    char text[64];
    snprintf(text, sizeof text, "forward.flops:%lldFLOP", (long long)row->forward.flops.analytic);
    out = judged(text, forward, rows, &misses);
    assert_int_equal(misses, encoded->forward.flops.analytic > row->forward.flops.analytic);
    assert_true(misses == 1 && strstr(out, "forward.flops"));
    free(out);
    row->pe = encoded->pe = "none";
    out = judged("encoding.memory:1GiB", forward, rows, &misses);
    assert_int_equal(misses, 1);
    assert_non_null(strstr(out, "no row was to run anything"));
    free(out);
    encoded->pe = "rwse:16";
    encoded->encoding.peak = 4096;
    encoded->encoding.flops = COUNT_ABSENT;
    free(judged("encoding.memory:4KiB", forward, rows, &misses));
    assert_int_equal(misses, 0);
    free(judged("encoding.memory:3KiB", forward, rows, &misses));
    assert_int_equal(misses, 1);
    out = judged("encoding.flops:1TFLOP", forward, rows, &misses);
    assert_true(misses == 1 && strstr(out, "none"));
    free(out);
    rows_free(rows);
}

/* A program that a row was not meant to run does not miss a gate, unless the gate names it. */
TEST(test_rows_that_only_encode)
{
    static const bool both[PROGRAMS] = {true, true}, forward[PROGRAMS] = {true, false};
    struct row *row = good_row(100);
    struct rows *rows = rows_of(row, good_row(1000), NULL);
    int misses;
    row_omit(row, "step", "only encoded at this size");
    free(judged("latency:1000s,memory:1GiB", both, rows, &misses));
    assert_int_equal(misses, 0);
    free(judged("step.latency:1000s", both, rows, &misses));
    assert_int_equal(misses, 0);
    free(judged("step.latency:1000s", forward, rows, &misses));
    assert_int_equal(misses, 1);
    free(judged("error:1", both, rows, &misses)); /* both rows have programs to check */
    assert_int_equal(misses, 2);
    row_omit(row, "forward", "only encoded at this size");
    free(judged("error:1", both, rows, &misses));
    assert_int_equal(misses, 1);
    struct rows *alone =
        rows_of(row_copy(row), NULL, NULL); /* nothing can be judged, which is not a success */
    free(judged("latency:1000s", both, alone, &misses));
    assert_int_equal(misses, 1);
    rows_free(alone);
    row_set_text(row, "status", "oom");
    free(judged("step.latency:1000s", both, rows, &misses));
    assert_int_equal(misses, 1);
    rows_free(rows);
}

TEST(test_runs)
{
    static const char *const tiny =
        "--nodes 8,16 --hidden 16 --heads 2 --layers 1 --runs 3 --output x.json --threshold ";
    char words[256];
    snprintf(words, sizeof words, "%s latency:1000s,memory:1GiB,throughput:0.001/s,error:0.01", tiny);
    struct ended e = run_words(*state, words, 0);
    assert_null(strstr(e.err, "missed"));
    ended_free(&e);
    snprintf(words, sizeof words, "%s step.memory:1KiB", tiny);
    e = run_words(*state, words, 1);
    assert_non_null(strstr(e.err, "missed:"));
    assert_non_null(strstr(e.err, "step.memory"));
    assert_non_null(strstr(e.err, "at most 1.00 KiB"));
    ended_free(&e);
}

GROUP("tests", house_setup, house_teardown)
