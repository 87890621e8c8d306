/* Encodings on the command line: the rows they produce, and their fields. */
#include "analysis/record/record.h"
#include "models/encodings/encoding.h"
#include "tests/encodings.h"
#include "tests/records.h"
#include "tests/test.h"

#define TINY "--hidden 32 --heads 2 --layers 1 --runs 2 --warmup 0 --threads 1 --no-charts --output x.json "

static int setup(void **state)
{
    return house_of(state, "bench_pe_scaling");
}

/* What computing an encoding took is within the bounds that are known before; an iterative solver has none
 * for FLOPs and bytes. */
static void check_bounds(const struct row *row)
{
    if (row->encoding.iterations > 0) {
        assert_null_because(row, "encoding.bound.flops", "the solver iterates");
        assert_null_because(row, "encoding.bound.bytes", "the solver iterates");
    } else {
        assert_true(count_at(row, "encoding.flops") <= count_at(row, "encoding.bound.flops"));
        assert_true(count_at(row, "encoding.bytes") <= count_at(row, "encoding.bound.bytes"));
    }
    assert_true(count_at(row, "encoding.peak") <= count_at(row, "encoding.bound.peak"));
}

TEST(test_rows)
{
    needs_lapack();
    struct record *r =
        run_json(*state, TINY "--nodes 40 --graph grid --pe none,lap:4,lap-pyg:4:8,rwse:6,heat:5", 0);
    assert_int_equal(row_count(r), 5);
    const struct row *none = row_at(r, 0), *lap = row_at(r, 1), *pyg = row_at(r, 2), *rwse = row_at(r, 3),
                     *heat = row_at(r, 4);
    assert_absent(none, "encoding.time.median");
    assert_string_equal(text_at(lap, "pe"), "lap:4");
    assert_string_equal(text_at(lap, "solver"), "auto");
    assert_string_equal(text_at(pyg, "pe"), "lap-pyg:4:8");
    assert_absent(rwse, "solver");
    assert_absent(heat, "solver");
    assert_non_null(strstr(text_at(heat, "encoding.checked"), "nodes by uniformisation"));
    assert_int_equal(lap->encoding.time.samples.count, 2);
    int64_t n = count_at(lap, "nodes");
    assert_int_equal(count_at(lap, "encoding.storage"), 4 * 4 * (n + 1));
    assert_int_equal(count_at(rwse, "encoding.storage"), 4 * 6 * n);
    assert_int_equal(count_at(heat, "encoding.storage"), 4 * 5 * n);
    assert_int_equal(count_at(lap, "encoding.nullity"), 1); /* a grid is connected */
    assert_int_equal(count_at(lap, "encoding.iterated"), 3);
    for (size_t i = 1; i < 5; i++) {
        const struct row *row = row_at(r, i);
        assert_string_not_equal(text_at(row, "work"), text_at(row_at(r, i - 1), "work"));
        assert_true(count_at(row, "encoding.flops") > 0 && count_at(row, "encoding.bytes") > 0);
        assert_true(count_at(row, "encoding.peak") >= count_at(row, "encoding.storage"));
        check_bounds(row);
        assert_true(count_at(row, "step.memory.encodings") > 0);
        double once = real_at(row, "encoding.time.median"), each = real_at(row, "step.time.median");
        double runs = (double)count_at(row, "encoding.break_even_step");
        assert_true(once < 0.01 * (once + runs * each) * (1 + 1e-9));
        assert_true(once >= 0.01 * (once + (runs - 1) * each) * (1 - 1e-9));
        if (i < 3)
            assert_true(real_at(row, "encoding.excess") <= 1);
    }
    record_free(r);
}

/* The weights of edges by ESLapPE: the encoding is that of lap, the model another. */
TEST(test_eslap)
{
    needs_lapack();
    struct record *r = run_json(*state, TINY "--nodes 40 --graph grid --mpnn gine --pe lap:4,eslap:4", 0);
    const struct row *lap = row_at(r, 0), *eslap = row_at(r, 1);
    assert_string_equal(text_at(eslap, "pe"), "eslap:4");
    assert_string_equal(text_at(eslap, "checked"), "whole");
    assert_int_equal(count_at(eslap, "encoding.storage"), count_at(lap, "encoding.storage"));
    assert_int_equal(count_at(eslap, "encoding.flops"), count_at(lap, "encoding.flops"));
    assert_int_equal(count_at(eslap, "step.memory.encodings"), 4 * 4 * count_at(eslap, "nodes"));
    /* Linear(16, 16) || 2 p^2 + 7 p, p = 16, or Linear(16, 32), Linear(4, 32) and 3 d + 1 in the layer, d =
     * 32 */
    int64_t more = (17 * 32 + 5 * 32 + 3 * 32 + 1) - (17 * 16 + 2 * 256 + 7 * 16);
    assert_int_equal(count_at(eslap, "parameters") - count_at(lap, "parameters"), more);
    assert_true(count_at(eslap, "encoding.break_even_step") > 0);
    assert_string_not_equal(text_at(eslap, "work"), text_at(lap, "work"));
    record_free(r);
}

/* Solvers do the same work, and only multiply the sweep where there is something to solve. */
TEST(test_solvers)
{
    needs_lapack();
    struct record *r = run_json(
        *state, TINY "--phase none --nodes 400 --graph grid --pe none,lap:3,rwse:3 --solver auto,iterative",
        0);
    assert_int_equal(row_count(r), 3); /* without an encoding nothing is measured */
    assert_string_equal(text_at(row_at(r, 0), "solver"), "auto");
    assert_string_equal(text_at(row_at(r, 1), "solver"), "iterative");
    assert_string_equal(text_at(row_at(r, 1), "encoding.method"), "iterative");
    assert_string_equal(text_at(row_at(r, 0), "work"), text_at(row_at(r, 1), "work"));
    assert_string_equal(text_at(row_at(r, 2), "pe"), "rwse:3");
    for (size_t i = 0; i < 3; i++)
        check_bounds(row_at(r, i));
    assert_non_null(strstr(text_at(row_at(r, 2), "encoding.checked"), "by full powers"));
    assert_absent(row_at(r, 0), "step.time.median");
    record_free(r);
}

/* Default sizes allow a comparison with ARPACK; for other sizes it must be requested. */
TEST(test_default_solvers)
{
    needs_lapack();
    size_t wanted = eigensolver_missing_library(SOLVER_ARPACK) ? 0 : 3 * 3, found = 0;
    struct record *r = run_json(*state, "--device meta", 0);
    assert_int_equal(row_count(r), 3 * 3 * 3 - 3 + wanted); /* no row of 10000 nodes without an encoding */
    for (size_t i = 0; i < row_count(r); i++)
        if (strcmp(text_at(row_at(r, i), "pe"), "lap:16") == 0)
            found += strcmp(text_at(row_at(r, i), "solver"), "arpack") == 0;
    assert_int_equal(found, wanted);
    record_free(r);
    r = run_json(*state, "--device meta --nodes 500", 0);
    assert_int_equal(row_count(r), 3 * 3);
    record_free(r);
}

/* A model is measured once, with the first solver's encoding; on request, with those of all solvers. */
TEST(test_model_once)
{
    needs_lapack();
    struct record *r =
        run_json(*state, TINY "--nodes 90 --graph grid --pe lap:3,rwse:3 --solver iterative,auto", 0);
    assert_int_equal(row_count(r), 3);
    assert_true(real_at(row_at(r, 0), "step.time.median") > 0);
    assert_string_equal(text_at(row_at(r, 1), "solver"), "auto");
    assert_null_because(row_at(r, 1), "step.time.median", "timed with the first");
    assert_absent(row_at(r, 1), "encoding.break_even_step");
    assert_true(real_at(row_at(r, 2), "step.time.median") > 0);
    record_free(r);
    r = run_json(*state, TINY "--nodes 90 --graph grid --pe lap:3 --solver iterative,auto --phase step", 0);
    assert_true(real_at(row_at(r, 1), "step.time.median") > 0);
    record_free(r);
}

/* Larger graphs are only encoded, unless a phase is requested; plans include the encoding's storage. */
TEST(test_sizes)
{
    struct record *r = run_json(*state, TINY "--nodes 2001 --graph er --pe rwse:2", 0);
    assert_absent(row_at(r, 0), "forward.time.median");
    assert_null_because(row_at(r, 0), "step.time.median", "only encoded");
    assert_absent(row_at(r, 0), "encoding.break_even_step");
    record_free(r);
    r = run_json(*state, TINY "--device meta --nodes 2001 --graph er --pe rwse:2 --phase step", 0);
    assert_int_equal(count_at(row_at(r, 0), "encoding.storage"), 4 * 2 * 2001);
    assert_true(count_at(row_at(r, 0), "step.memory.encodings") >= 4 * 2 * 2001);
    assert_null_because(row_at(r, 0), "encoding.time.median", "planned only");
    record_free(r);
}

/* Eigenvectors of the null space only, which take no solver, are named in the row and in the table. */
TEST(test_null_space)
{
    needs_lapack();
    const struct house *h = *state;
    char path[160];
    snprintf(path, sizeof path, "%s/apart", h->work);
    FILE *out = fopen(path, "w");
    for (int i = 0; i < 40; i += 2)
        fprintf(out, "%d %d\n", i, i + 1);
    fclose(out);
    struct ended e =
        run_words(h, "--phase none --runs 2 --output y.json --graph undirected:apart --pe lap:3,lap:30", 0);
    struct record *r = record_in(h, "work/y.json");
    assert_string_equal(text_at(row_at(r, 0), "encoding.method"), "null space only, no solver ran");
    assert_true(row_solved_nothing(row_at(r, 0)) && !row_solved_nothing(row_at(r, 1)));
    assert_null(strstr(text_at(row_at(r, 1), "encoding.method"), "null"));
    assert_non_null(strstr(e.out, "  no solver"));
    record_free(r);
    ended_free(&e);
}

/* A directed graph has random walks, but no Laplacian here; the row says how to make it undirected. */
TEST(test_directed)
{
    needs_lapack();
    const struct house *h = *state;
    char path[160];
    snprintf(path, sizeof path, "%s/directed", h->work);
    FILE *out = fopen(path, "w");
    fputs("0 1\n1 2\n2 0\n2 3\n", out);
    fclose(out);
    struct record *r = run_json(
        h,
        "--hidden 32 --heads 2 --layers 1 --runs 2 --output y.json --graph file:directed --pe lap:2,rwse:3",
        1);
    assert_string_equal(text_at(row_at(r, 0), "status"), "failed");
    assert_non_null(strstr(text_at(row_at(r, 0), "reason"), "undirected:PATH"));
    assert_string_equal(text_at(row_at(r, 1), "status"), "ok");
    assert_string_equal(text_at(row_at(r, 1), "encoding.method"), "full powers");
    record_free(r);
    r = run_json(h, "--phase none --runs 2 --output y.json --graph undirected:directed --pe lap:2,rwse:3", 0);
    assert_string_equal(text_at(row_at(r, 1), "encoding.method"), "half powers");
    record_free(r);
}

/*
 * A hypercube's eigenvalue 2 i has as many copies as there are words with i ones; residuals do not show
 * missed copies.
 */
static void write_hypercube(const struct house *h, int dimensions)
{
    char path[160];
    snprintf(path, sizeof path, "%s/hypercube", h->work);
    FILE *out = fopen(path, "w");
    for (int i = 0; i < 1 << dimensions; i++)
        for (int b = 1; b < 1 << dimensions; b *= 2)
            if (i < (i ^ b))
                fprintf(out, "%d %d\n", i, i ^ b);
    fclose(out);
}

/*
 * How many copies a single-vector solver finds is random: the row is wrong if and only if it counts missed
 * ones.
 */
TEST(test_copies)
{
    const struct house *h = *state;
    if (eigensolver_missing_library(SOLVER_ARPACK))
        skip();
    write_hypercube(h, 8);
    struct ended e = program_run(h,
                                 "--phase none --runs 1 --output z.json --graph undirected:hypercube "
                                 "--pe lap:7,lap:8,lap-pyg:8,lap:33 --solver arpack,iterative",
                                 NULL);
    struct record *r = record_in(h, "work/z.json");
    bool wrong = false;
    assert_int_equal(row_count(r), 8);
    for (size_t i = 0; i < 8; i += 2) {
        int64_t displaced = count_at(row_at(r, i), "encoding.displaced");
        assert_string_equal(text_at(row_at(r, i), "status"), displaced > 0 ? "wrong" : "ok");
        const char *reason = row_at(r, i)->reason;
        assert_true((reason && strstr(reason, "missed copies")) == (displaced > 0));
        assert_string_equal(text_at(row_at(r, i + 1), "status"), "ok");
        assert_absent(row_at(r, i + 1), "encoding.displaced");
        wrong |= displaced > 0;
    }
    assert_int_equal(e.status, wrong);
    ended_free(&e);
    record_free(r);
}

GROUP("tests", setup, house_teardown)
