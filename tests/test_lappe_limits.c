/*
 * Laplacian encodings that are stopped early or refused, including lack of memory; and their recorded costs.
 */
#include <sys/resource.h>
#include <unistd.h>

#include "models/encodings/eigen.h"
#include "models/encodings/lappe.h"
#include "tests/batches.h"
#include "tests/encodings.h"
#include "tests/graphs.h"
#include "tests/sanitized.h"
#include "tests/test.h"

/* An iteration that is stopped early is reported. */
TEST(test_limit_shows)
{
    needs_lapack();
    struct batch b = graph_generated("grid", 2000, 0, 1, 1);
    for (int s = SOLVER_ITERATIVE; s < SOLVER_KINDS; s++) {
        struct encoding_config c = {.kind = ENCODING_LAP, .k = 8, .solver = (enum eigensolver)s};
        struct encoding e;
        char error[256];
        if (!eigensolver_there(c.solver))
            continue;
        assert_true(lappe_compute(&c, &b, &(struct encoding_options){.threads = 1, .products = 12}, &e, error,
                                  sizeof error));
        assert_true(e.excess > 1 && e.residual > 0);
        encoding_free(&e);
    }
    batch_free(&b);
}

/* `auto` then asks LAPACK, for a component that is small enough. */
TEST(test_limit_is_no_end)
{
    needs_lapack();
    struct batch b = graph_generated("grid", 900, 0, 1, 1);
    struct encoding_config c = {.kind = ENCODING_LAP, .k = 8, .solver = SOLVER_AUTO};
    struct encoding e, f = lappe_of(&b, ENCODING_LAP, 8, SOLVER_LAPACK, 1);
    char error[256];
    assert_true(lappe_compute(&c, &b, &(struct encoding_options){.threads = 1, .products = 12}, &e, error,
                              sizeof error));
    assert_string_equal(e.method, "lapack and iterative");
    assert_string_equal(e.flops_label, "nominal");
    assert_true(e.excess <= 1 && e.cost.flops > f.cost.flops && e.iterations > 0);
    assert_int_equal(encoding_missed(&e, &f) + encoding_missed(&f, &e), 0);
    encoding_free(&e);
    encoding_free(&f);
    batch_free(&b);
}

TEST(test_refusals)
{
    struct batch directed = batch_awkward();
    struct encoding_config c = {.kind = ENCODING_LAP, .k = 4};
    struct encoding e;
    char error[256];
    assert_false(
        lappe_compute(&c, &directed, &(struct encoding_options){.threads = 1}, &e, error, sizeof error));
    assert_non_null(strstr(error, "the Laplacian needs an undirected graph"));
    batch_free(&directed);
    struct batch b = batch_er(20, 1);
    for (int s = 0; s < SOLVER_KINDS; s++) {
        c.solver = (enum eigensolver)s;
        if (eigensolver_there(c.solver))
            continue;
        assert_false(
            lappe_compute(&c, &b, &(struct encoding_options){.threads = 1}, &e, error, sizeof error));
        assert_non_null(strstr(error, "this build has no "));
    }
    batch_free(&b);
}

/* Bytes of the address space in use. */
static rlim_t address_space(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld", &pages), 1);
    fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Wherever memory runs out, there is a message: from the first array to the last, for each solver. */
TEST(test_refused_memory_is_a_line)
{
    needs_lapack();
    if (SANITIZED)
        skip();
    struct batch b = graph_generated("grid", 600000, 0, 1, 1);
    struct rlimit before, little;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    for (int s = SOLVER_AUTO; s < SOLVER_KINDS; s++) {
        struct encoding_config c = {.kind = ENCODING_LAP, .k = 8, .solver = (enum eigensolver)s};
        if (!eigensolver_there(c.solver) || s == SOLVER_LAPACK)
            continue;
        int refused = 0;
        bool done = false;
        for (rlim_t room = 0; !done; room += (rlim_t)16 << 20) {
            struct encoding e;
            char error[256] = "";
            little = before;
            little.rlim_cur = address_space() + room;
            assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
            done = lappe_compute(&c, &b, &(struct encoding_options){.threads = 1, .products = 2}, &e, error,
                                 sizeof error);
            assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
            if (done)
                encoding_free(&e);
            else if (!strstr(error, "lap:8 of 600000 nodes: no memory "))
                fail_msg("%s", error);
            refused += !done;
        }
        assert_true(refused > 3);
    }
    batch_free(&b);
}

/* The component exceeds LAPACK's index range, as the message says. */
TEST(test_too_large_for_lapack)
{
    needs_lapack();
    struct batch b = graph_generated("grid", dense_most() + 1, 0, 1, 1);
    struct encoding_config c = {.kind = ENCODING_LAP, .k = 8, .solver = SOLVER_LAPACK};
    struct encoding e;
    char error[256] = "";
    assert_false(lappe_compute(&c, &b, &(struct encoding_options){.threads = 1}, &e, error, sizeof error));
    assert_non_null(strstr(error, "lapack solves at most 46340 nodes, but a component has 46341"));
    batch_free(&b);
}

/* Executed ops are charged, memory is counted, and the method is reported. */
TEST(test_ledger)
{
    needs_lapack();
    struct batch b = graph_generated("er:giant", 3000, 5, 1, 42);
    struct encoding e = lappe_of(&b, ENCODING_LAP_PYG, 8, SOLVER_ITERATIVE, 1);
    assert_string_equal(e.method, "iterative");
    assert_string_equal(e.flops_label, "executed ops");
    assert_true(e.iterations > 10);
    /* The block has at least as many columns as there are pairs. */
    assert_true(e.cost.flops >= e.iterations * 2 * 8 * b.adj.edges);
    assert_true(e.cost.bytes >= e.iterations * 2 * 8 * 4 * b.adj.nodes);
    assert_true(e.peak >= 3 * 4 * 8 * b.adj.nodes);
    encoding_free(&e);
    e = lappe_of(&b, ENCODING_LAP_PYG, 8, SOLVER_LAPACK, 1);
    assert_string_equal(e.method, "lapack");
    assert_string_equal(e.flops_label, "nominal");
    assert_int_equal(e.iterations, 0);
    encoding_free(&e);
    batch_free(&b);
}
