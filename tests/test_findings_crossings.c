/* Findings of where variants overtake each other: found, not there, and left open by noise. */
#include "analysis/findings/findings.h"
#include "tests/findings.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

/* Inference with dense and sparse attention on 100 2^i nodes: the times are as N^2 and as 400 N times a
 * factor. */
static struct rows *variants_rows(double factor, double noise)
{
    struct rows *rows = rows_new();
    for (int i = 0; i < 5; i++)
        for (int sparse = 0; sparse < 2; sparse++) {
            double nodes = 100 << i;
            struct row *row = checked_row((int64_t)nodes);
            row_set_text(row, "attention", sparse ? "sparse" : "dense");
            set_turns(row, "forward.time", 1e-6 * nodes * (sparse ? 400 * factor : nodes), noise);
            rows_append(rows, row);
        }
    return rows;
}

/* One found, none, left open by noise, more than one, and one of memory; none of unchecked rows. */
TEST(test_crossovers)
{
    assert_said(
        variants_rows(1, 0.01),
        "- In inference, sparse attention overtakes dense attention between 200 and 800 nodes, at about "
        "400 [392, 408]: it takes 2 times as long with 200, and 0.5 times with 800. (10 of 10 rows)\n");
    assert_said(
        variants_rows(0.1, 0.01),
        "- In inference, sparse attention is faster than dense attention at all 5 values from 100 to 1600 "
        "nodes: it takes at most 0.0255 times as long with 1600. (10 of 10 rows)\n");
    assert_said(variants_rows(100, 0.01), "dense attention is faster than sparse attention at all 5 values");
    assert_not_said(variants_rows(1, 0.9), "overtake");
    struct rows *rows = variants_rows(1, 0.01);
    set_turns(rows_at(rows, 9), "forward.time", 10, 0.01); /* more than once */
    assert_not_said(rows, "overtake");
    rows = variants_rows(1, 0.01); /* its settled rows no longer decide */
    set_turns(rows_at(rows, 7), "forward.time", 0.64, 0.6);
    set_turns(rows_at(rows, 9), "forward.time", 2, 0.6);
    assert_not_said(rows, "overtake");
    assert_said(
        variants_rows(0.25, 0.002), /* equal on 100 nodes */
        "- In inference, sparse attention is never slower than dense attention from 100 to 1600 nodes, and "
        "faster at 4 of 5 values: it takes at most 0.0628 times as long with 1600. (10 of 10 rows)\n");
    for (int turns = 3; turns < 7; turns += 3) { /* of 100 nodes; three show nothing */
        rows = variants_rows(0.25, 0);
        for (size_t i = 0; i < 2; i++)
            row_set_samples(rows_at(rows, i), "forward.time", (double[6]){1e-2, 1e-2, 1e-2, 1e-2, 1e-2, 1e-2},
                            (size_t)turns);
        (turns == 3 ? assert_not_said : assert_said)(rows, "sparse attention is never slower");
    }
    rows = variants_rows(1, 0.01);
    uncheck(rows_at(rows, 3), "--no-check");
    assert_not_said(rows, "overtake");
    rows = variants_rows(0.1, 0.01); /* before what is so everywhere */
    row_free(rows_take(rows, 8));
    rows_insert(rows, 8, failed_row(1600, "oom", "needs 17 GiB"));
    row_set_text(rows_at(rows, 8), "attention", "dense");
    assert_said(
        rows,
        "- Within the memory limit, dense attention runs out of memory between 800 and 1600 nodes; sparse "
        "attention fits with 1600. (10 of 10 rows)\n");
}

/* Inference with three kinds of attention on 100 2^i nodes: the times are as N^2, 200 N and 800 N. */
static struct rows *kinds_rows(double noise)
{
    static const char *const kinds[] = {"dense", "sparse", "performer"};
    struct rows *rows = rows_new();
    for (int i = 0; i < 5; i++)
        for (int kind = 0; kind < 3; kind++) {
            double nodes = 100 << i, per_node[] = {nodes, 200, 800};
            struct row *row = checked_row((int64_t)nodes);
            row_set_text(row, "attention", kinds[kind]);
            set_turns(row, "forward.time", 1e-6 * nodes * per_node[kind], noise);
            rows_append(rows, row);
        }
    return rows;
}

/* What was asked for of such rows, which are freed. */
static void assert_answer(struct rows *rows, const char *expected, bool there)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    findings_print_crossings(out, rows);
    fclose(out);
    if (!strstr(in_single_lines(text), expected) == there)
        fail_msg("\"%s\" in:\n%s", expected, text);
    free(text);
    rows_free(rows);
}

/* Each two of them: two overtake dense attention, neither the other; by noise, or two alike, it is left open.
 */
TEST(test_crossovers_of_three)
{
    assert_answer(kinds_rows(0.01),
                  "- In inference, performer attention overtakes dense attention between 400 and "
                  "1600 nodes, at about 800 [784, 816]: it takes 2 times as long with 400, and 0.5 "
                  "times with 1600.\n",
                  true);
    assert_answer(kinds_rows(0.01),
                  "- In inference, sparse attention overtakes dense attention between 100 and 400 "
                  "nodes, at about 200 [196, 204]",
                  true);
    assert_answer(kinds_rows(0.01),
                  "- In inference, sparse attention is faster than performer attention at all 5 "
                  "values from 100 to 1600 nodes: it takes at most 0.255 times as long with 1600.\n",
                  true);
    assert_answer(kinds_rows(0.9), "overtakes dense", false);
    assert_answer(kinds_rows(0.9),
                  "- In inference, it is inconclusive where, or whether, dense attention or "
                  "performer attention overtakes the other from 100 to 1600 nodes.\n",
                  true);
    struct rows *rows = kinds_rows(0.01);
    for (size_t i = 8; i < 15; i += 3) { /* as long as sparse attention from 400 nodes on */
        set_turns(rows_at(rows, i), "forward.time", 200e-6 * (100 << (i / 3)), 0.01);
    }
    assert_answer(rows,
                  "it is inconclusive where, or whether, performer attention or sparse attention overtakes",
                  true);
}

/* Computing an encoding takes as long as a step of 200 nodes; without a solver it counts for nothing. */
TEST(test_encodings_against_steps)
{
    for (int solved = 0; solved < 2; solved++) {
        struct rows *rows = rows_new();
        for (int i = 0; i < 3; i++) {
            struct row *row = checked_row(100 << i);
            row_set_text(row, "pe", "lap:16");
            set_turns(row, "encoding.time", 0.2, 0.01);
            set_turns(row, "step.time", 0.1 * (1 << i), 0.01);
            row_set_count(row, "encoding.nullity", 16 - solved);
            row_set_count(row, "encoding.iterated", solved);
            rows_append(rows, row);
        }
        assert_answer(
            rows,
            "- By time, the encoding becomes cheaper than a training step between 100 and 400 nodes, at "
            "about 200 [196, 204]",
            solved);
    }
}
