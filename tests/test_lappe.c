/*
 * Laplacian encodings: closed forms, the residual rule, no eigenvalue left out, null spaces, signs, clusters,
 * batches, and what is refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "models/eigen.h"
#include "models/lappe.h"
#include "tests/batches.h"
#include "tests/graphs.h"
#include "tests/operands.h"
#include "tests/sanitized.h"
#include "tests/spectra.h"

static bool can(enum eigensolver s)
{
    return (s != SOLVER_LAPACK || dense_available()) && (s != SOLVER_ARPACK || arpack_available());
}

static struct encoding encode(const struct batch *b, enum encoding_kind kind, int64_t k, enum eigensolver s,
                              int threads)
{
    struct encoding_config c = {.kind = kind, .k = k, .solver = s};
    struct encoding e;
    char error[256];
    if (!lappe_compute(&c, b, &(struct computing){.threads = threads}, &e, error, sizeof error))
        fail_msg("%s:%d by %s: %s", encoding_name(kind), (int)k, eigensolver_name(s), error);
    return e;
}

static double value_at(const struct encoding *e, int64_t g, int64_t k)
{
    return mat_get(e->eigenvalues, g, k);
}

/* Right eigenvalues, or both 0. */
static bool same_value(double ours, double truth)
{
    return fabs(ours - truth) <= 1e-4 * truth + 1e-12;
}

static void expect_good(const struct encoding *e, const char *what)
{
    if (!(e->excess <= 1))
        fail_msg("%s by %s: residual %g, %g times what is allowed", what, e->method, e->residual, e->excess);
}

static void check_known(const struct known_graph *graph, int64_t n, int64_t k, enum encoding_kind kind,
                        enum eigensolver solver)
{
    bool normalised = kind == ENCODING_LAP_PYG;
    struct drawing d = {0};
    graph->draw(&d, n);
    struct batch b = drawing_done(&d);
    struct encoding e = encode(&b, kind, k, solver, 2);
    expect_good(&e, graph->name);
    assert_int_equal(e.pairs[0], k);
    assert_int_equal(e.nullity, !normalised);
    for (int64_t i = 0; i < k; i++) {
        double truth = graph->value(n, i + normalised, normalised);
        if (!same_value(value_at(&e, 0, i), truth))
            fail_msg("%s of %d nodes, %s by %s: eigenvalue %d is %.9g, not %.9g", graph->name, (int)n,
                     encoding_name(kind), e.method, (int)i, value_at(&e, 0, i), truth);
    }
    encoding_free(&e);
    batch_free(&b);
}

/* A single-vector Lanczos method such as ARPACK's may find fewer copies of an eigenvalue than there are. */
static bool resolves(enum eigensolver s, const struct known_graph *g)
{
    return can(s) && (s != SOLVER_ARPACK || g->simple);
}

static void test_closed_forms(void **state)
{
    (void)state;
    for (const struct known_graph *g = known_graphs; g->name; g++)
        for (enum eigensolver s = 0; s < SOLVER_KINDS; s++)
            for (int normalised = 0; normalised <= g->both && resolves(s, g); normalised++) {
                enum encoding_kind kind = normalised ? ENCODING_LAP_PYG : ENCODING_LAP;
                check_known(g, 17, 7, kind, s);
                check_known(g, 150, 12, kind, s);
                check_known(g, 300, 9, kind, s);
            }
}

/* Graphs whose eigenvectors are found by way of coarser graphs, the smoothest at the limit of float. */
static void test_coarser_graphs(void **state)
{
    (void)state;
    for (const struct known_graph *g = known_graphs; g->name; g++)
        for (int64_t n = 420; g->smooth && n <= 3000; n += 395)
            check_known(g, n, 7 + n % 12, ENCODING_LAP, SOLVER_ITERATIVE);
}

/* A million nodes, whose second eigenvalue is a millionth of the bound. */
static void test_large_grid(void **state)
{
    (void)state;
    if (!env_set("GTMARK_SOAK"))
        skip();
    const struct known_graph *grid = known_graphs;
    while (strcmp(grid->name, "grid") != 0)
        grid++;
    check_known(grid, 1000000, 8, ENCODING_LAP, SOLVER_ITERATIVE);
}

/* Every eigenvalue of every graph of a batch against its whole spectrum, so that one left out shows. */
static void check_spectra(const struct batch *b, enum encoding_kind kind, int64_t k, enum eigensolver s)
{
    bool normalised = kind == ENCODING_LAP_PYG;
    struct encoding e = encode(b, kind, k, s, 2);
    expect_good(&e, "spectrum");
    for (int64_t g = 0; g < b->graphs; g++) {
        int64_t n = b->offset[g + 1] - b->offset[g], most = n - normalised;
        double *truth = spectrum_of(b, g, normalised);
        assert_int_equal(e.pairs[g], k < most ? k : most);
        for (int64_t i = 0; i < k; i++) {
            double want = i < e.pairs[g] ? truth[i + normalised] : 0;
            if (!(fabs(value_at(&e, g, i) - want) <= 1e-4 * want + 1e-10))
                fail_msg("%s of graph %d of %d nodes by %s: eigenvalue %d is %.9g, not %.9g",
                         encoding_name(kind), (int)g, (int)n, e.method, (int)i, value_at(&e, g, i), want);
        }
        free(truth);
    }
    encoding_free(&e);
}

/* What the solvers of a build do without being told: everything but ARPACK, which may leave out copies. */
static const enum eigensolver solvers[] = {SOLVER_AUTO, SOLVER_LAPACK, SOLVER_ITERATIVE};

static void test_no_eigenvalue_is_left_out(void **state)
{
    (void)state;
    static const char *const families[] = {"er", "er:giant", "grid", "ba", "rmat"};
    uint64_t seeds = env_set("GTMARK_SMALL") ? 1 : 3;
    for (size_t f = 0; f < 5; f++)
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            struct batch b = graph_drawn(families[f], 230, seed == 3 ? 1.5 : 5, 1, seed);
            for (int s = 0; s < 3; s++)
                for (int kind = ENCODING_LAP; can(solvers[s]) && kind <= ENCODING_LAP_PYG; kind++) {
                    check_spectra(&b, (enum encoding_kind)kind, 8, solvers[s]);
                    check_spectra(&b, (enum encoding_kind)kind, 37, solvers[s]);
                }
            batch_free(&b);
        }
}

/* Small graphs, more pairs than nodes, hundreds of isolated nodes, and a graph without any edge. */
static void test_batches(void **state)
{
    (void)state;
    struct batch molecules = graph_drawn("er", 23, 2, 12, 9), sparse = graph_drawn("er", 150, 0.6, 3, 4),
                 nothing = graph_drawn("er", 30, 0, 2, 4);
    for (int s = 0; s < 3; s++)
        for (int kind = ENCODING_LAP; can(solvers[s]) && kind <= ENCODING_LAP_PYG; kind++)
            for (int64_t k = 1; k <= 64; k *= 4) {
                check_spectra(&molecules, (enum encoding_kind)kind, k, solvers[s]);
                check_spectra(&sparse, (enum encoding_kind)kind, k, solvers[s]);
                check_spectra(&nothing, (enum encoding_kind)kind, k, solvers[s]);
            }
    batch_free(&molecules);
    batch_free(&sparse);
    batch_free(&nothing);
}

/* The residual rule beyond what can be compared with a whole spectrum. */
static void test_residuals(void **state)
{
    (void)state;
    static const char *const families[] = {"er", "er:giant", "grid", "ba", "rmat"};
    int64_t most = env_set("GTMARK_SMALL") ? 700 : 10000;
    for (size_t f = 0; f < 5; f++)
        for (int64_t n = 600; n <= most; n *= 4)
            for (int kind = ENCODING_LAP; kind <= ENCODING_LAP_PYG; kind++) {
                struct batch b = graph_drawn(families[f], n, 5, 1, 42);
                struct encoding e = encode(&b, (enum encoding_kind)kind, 16, SOLVER_AUTO, 2);
                expect_good(&e, families[f]);
                assert_int_equal(e.nullity + e.iterated, 16);
                encoding_free(&e);
                batch_free(&b);
            }
}

/* Indicators of components come first, by their smallest nodes, weighted by D^1/2 in the normalised flavour.
 */
static void test_null_space(void **state)
{
    (void)state;
    struct drawing d = {0};
    drawing_graph(&d, 9); /* components {0, 4, 8}, {1}, {2, 3}, {5, 6, 7} */
    drawing_edge(&d, 0, 8);
    drawing_edge(&d, 4, 8);
    drawing_edge(&d, 2, 3);
    drawing_edge(&d, 2, 3);
    drawing_edge(&d, 5, 6);
    drawing_edge(&d, 6, 7);
    drawing_edge(&d, 7, 7);
    struct batch b = drawing_done(&d);
    struct encoding e = encode(&b, ENCODING_LAP, 9, SOLVER_AUTO, 1);
    static const int of[] = {0, 1, 2, 2, 0, 3, 3, 3, 0}, size[] = {3, 1, 2, 3};
    assert_int_equal(e.nullity, 4);
    assert_int_equal(e.iterated, 5);
    for (int i = 0; i < 9; i++)
        for (int c = 0; c < 4; c++)
            assert_true(fabs(mat_get(e.values, i, c) - (of[i] == c ? 1 / sqrt(size[c]) : 0)) < 1e-7);
    for (int c = 0; c < 4; c++)
        assert_true(value_at(&e, 0, c) == 0);
    assert_true(fabs(value_at(&e, 0, 8) - 4) < 1e-6); /* a double edge: 2 w */
    encoding_free(&e);

    e = encode(&b, ENCODING_LAP_PYG, 9, SOLVER_AUTO, 1);
    static const double second[] = {0, 0, 1, 1, 0, 0, 0, 0, 0}, third[] = {0, 0, 0, 0, 0, 1, 2, 1, 0};
    assert_int_equal(e.pairs[0], 8);
    assert_int_equal(e.nullity, 3); /* two indicators, the first is dropped, and the isolated node's pair */
    for (int i = 0; i < 9; i++) {
        assert_true(fabs(mat_get(e.values, i, 0) - sqrt(second[i] / 2)) < 1e-7);
        assert_true(fabs(mat_get(e.values, i, 1) - sqrt(third[i] / 4)) < 1e-7);
        assert_true(mat_get(e.values, i, 8) == 0);
    }
    encoding_free(&e);
    batch_free(&b);
}

/* The first entry within 0.1 % of the largest magnitude is positive, and norms are 1. */
static void check_canonical(const struct encoding *e, const struct batch *b)
{
    for (int64_t g = 0; g < b->graphs; g++)
        for (int64_t k = 0; k < e->pairs[g]; k++) {
            double most = 0, squares = 0, first = 0;
            for (int64_t i = b->offset[g]; i < b->offset[g + 1]; i++) {
                most = fmax(most, fabs(mat_get(e->values, i, k)));
                squares += mat_get(e->values, i, k) * mat_get(e->values, i, k);
            }
            for (int64_t i = b->offset[g]; i < b->offset[g + 1] && first == 0; i++)
                if (fabs(mat_get(e->values, i, k)) >= 0.999 * most)
                    first = mat_get(e->values, i, k);
            assert_true(first > 0);
            assert_true(fabs(squares - 1) < 1e-6);
        }
}

/* Signs, orthonormality, and the same bits for any number of threads, also where eigenvalues coincide. */
static void test_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *family;
        int64_t nodes, graphs;
    } all[] = {{"grid", 400, 1}, {"grid", 81, 5}, {"er", 23, 20}, {"ba", 3000, 1}, {"er:giant", 700, 2}};
    for (size_t f = 0; f < sizeof all / sizeof *all; f++)
        for (int s = 0; s < SOLVER_KINDS; s++) {
            if (!can((enum eigensolver)s) || (s == SOLVER_LAPACK && all[f].nodes > 1000))
                continue;
            struct batch b = graph_drawn(all[f].family, all[f].nodes, 5, all[f].graphs, 1);
            struct encoding e = encode(&b, ENCODING_LAP_PYG, 8, (enum eigensolver)s, 1);
            check_canonical(&e, &b);
            for (int64_t p = 0; p < 8; p++)
                for (int64_t q = 0; q < p && p < e.pairs[0]; q++) {
                    double dot = 0;
                    for (int64_t i = 0; i < b.offset[1]; i++)
                        dot += mat_get(e.values, i, p) * mat_get(e.values, i, q);
                    assert_true(fabs(dot) < 1e-5);
                }
            for (int threads = 2; threads <= 3; threads++) {
                struct encoding again = encode(&b, ENCODING_LAP_PYG, 8, (enum eigensolver)s, threads);
                assert_memory_equal(e.values.data, again.values.data, (size_t)mat_bytes(e.values));
                assert_memory_equal(e.eigenvalues.data, again.eigenvalues.data,
                                    (size_t)mat_bytes(e.eigenvalues));
                assert_int_equal(e.cost.flops, again.cost.flops);
                encoding_free(&again);
            }
            encoding_free(&e);
            batch_free(&b);
        }
}

/* On a square grid pairs come double: the projectors of both solvers on a cluster are the same. */
static void test_clusters(void **state)
{
    (void)state;
    if (!dense_available())
        skip();
    struct batch b = graph_drawn("grid", 400, 0, 1, 1);
    struct encoding e = encode(&b, ENCODING_LAP, 9, SOLVER_LAPACK, 1),
                    f = encode(&b, ENCODING_LAP, 9, SOLVER_ITERATIVE, 1);
    static const int clusters[][2] = {{1, 3}, {3, 4}, {4, 6}, {6, 8}}; /* (1, 0); (1, 1); (2, 0); (2, 1) */
    for (int c = 0; c < 4; c++)
        for (int64_t i = 0; i < 400; i += 7)
            for (int64_t j = 0; j < 400; j += 11) {
                double ours = 0, theirs = 0;
                for (int64_t k = clusters[c][0]; k < clusters[c][1]; k++) {
                    ours += mat_get(f.values, i, k) * mat_get(f.values, j, k);
                    theirs += mat_get(e.values, i, k) * mat_get(e.values, j, k);
                }
                assert_true(fabs(ours - theirs) < 1e-4);
            }
    encoding_free(&e);
    encoding_free(&f);
    batch_free(&b);
}

/* Where ARPACK leaves out copies of an eigenvalue, the comparison with the iterative solver counts as many
 * places as closed forms do. */
static void test_what_arpack_leaves_out(void **state)
{
    (void)state;
    if (!can(SOLVER_ARPACK))
        skip();
    for (const struct known_graph *g = known_graphs; g->name; g++)
        for (int64_t k = 4; k <= 34 && !g->simple; k += 3) {
            struct drawing d = {0};
            g->draw(&d, 256);
            struct batch b = drawing_done(&d);
            struct encoding e = encode(&b, ENCODING_LAP, k, SOLVER_ARPACK, 1),
                            f = encode(&b, ENCODING_LAP, k, SOLVER_ITERATIVE, 1);
            int64_t displaced = 0;
            for (int64_t i = 0; i < k; i++)
                displaced += value_at(&e, 0, i) > (1 + 1e-4) * g->value(256, i, false);
            assert_int_equal(encoding_displaced(&e, &f), displaced);
            encoding_free(&e);
            encoding_free(&f);
            batch_free(&b);
        }
}

/* An iteration that is cut short says so. */
static void test_limit_shows(void **state)
{
    (void)state;
    struct batch b = graph_drawn("grid", 2000, 0, 1, 1);
    for (int s = SOLVER_ITERATIVE; s < SOLVER_KINDS; s++) {
        struct encoding_config c = {.kind = ENCODING_LAP, .k = 8, .solver = (enum eigensolver)s};
        struct encoding e;
        char error[256];
        if (!can(c.solver))
            continue;
        assert_true(lappe_compute(&c, &b, &(struct computing){.threads = 1, .products = 12}, &e, error,
                                  sizeof error));
        assert_true(e.excess > 1 && e.residual > 0);
        encoding_free(&e);
    }
    batch_free(&b);
}

static void test_refusals(void **state)
{
    (void)state;
    struct batch directed = batch_awkward();
    struct encoding_config c = {.kind = ENCODING_LAP, .k = 4};
    struct encoding e;
    char error[256];
    assert_false(lappe_compute(&c, &directed, &(struct computing){.threads = 1}, &e, error, sizeof error));
    assert_non_null(strstr(error, "the Laplacian needs an undirected graph"));
    batch_free(&directed);
    struct batch b = batch_er(20, 1);
    for (int s = 0; s < SOLVER_KINDS; s++) {
        c.solver = (enum eigensolver)s;
        if (can(c.solver))
            continue;
        assert_false(lappe_compute(&c, &b, &(struct computing){.threads = 1}, &e, error, sizeof error));
        assert_non_null(strstr(error, "this build has no "));
    }
    batch_free(&b);
}

/* Bytes of the address space that are in use. */
static rlim_t address_space(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld", &pages), 1);
    fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Wherever memory ends, it is a line: from the first array to the last, by each solver. */
static void test_refused_memory_is_a_line(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();
    struct batch b = graph_drawn("grid", 600000, 0, 1, 1);
    struct rlimit before, little;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    for (int s = SOLVER_AUTO; s < SOLVER_KINDS; s++) {
        struct encoding_config c = {.kind = ENCODING_LAP, .k = 8, .solver = (enum eigensolver)s};
        if (!can(c.solver) || s == SOLVER_LAPACK)
            continue;
        int refused = 0;
        bool done = false;
        for (rlim_t room = 0; !done; room += (rlim_t)16 << 20) {
            struct encoding e;
            char error[256] = "";
            little = before;
            little.rlim_cur = address_space() + room;
            assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
            done = lappe_compute(&c, &b, &(struct computing){.threads = 1, .products = 2}, &e, error,
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

/* LAPACK's indices do not reach that far, which is what the line says. */
static void test_too_large_for_lapack(void **state)
{
    (void)state;
    if (!dense_available())
        skip();
    struct batch b = graph_drawn("grid", dense_most() + 1, 0, 1, 1);
    struct encoding_config c = {.kind = ENCODING_LAP, .k = 8, .solver = SOLVER_LAPACK};
    struct encoding e;
    char error[256] = "";
    assert_false(lappe_compute(&c, &b, &(struct computing){.threads = 1}, &e, error, sizeof error));
    assert_non_null(strstr(error, "lapack solves up to 46340 nodes, and a component has 46341"));
    batch_free(&b);
}

/* Executed ops are charged, memory is counted, and the method is named. */
static void test_ledger(void **state)
{
    (void)state;
    struct batch b = graph_drawn("er:giant", 3000, 5, 1, 42);
    struct encoding e = encode(&b, ENCODING_LAP_PYG, 8, SOLVER_ITERATIVE, 1);
    assert_string_equal(e.method, "iterative");
    assert_string_equal(e.flops_label, "executed ops");
    assert_true(e.iterations > 10);
    /* The block has at least as many columns as there are pairs. */
    assert_true(e.cost.flops >= e.iterations * 2 * 8 * b.adj.edges);
    assert_true(e.cost.bytes >= e.iterations * 2 * 8 * 4 * b.adj.nodes);
    assert_true(e.peak >= 3 * 4 * 8 * b.adj.nodes);
    encoding_free(&e);
    if (dense_available()) {
        e = encode(&b, ENCODING_LAP_PYG, 8, SOLVER_LAPACK, 1);
        assert_string_equal(e.method, "lapack");
        assert_string_equal(e.flops_label, "nominal");
        assert_int_equal(e.iterations, 0);
        encoding_free(&e);
    }
    batch_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_coarser_graphs),
        cmocka_unit_test(test_large_grid),
        cmocka_unit_test(test_no_eigenvalue_is_left_out),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_residuals),
        cmocka_unit_test(test_null_space),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_what_arpack_leaves_out),
        cmocka_unit_test(test_limit_shows),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_ledger),
        cmocka_unit_test(test_refused_memory_is_a_line),
        cmocka_unit_test(test_too_large_for_lapack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
