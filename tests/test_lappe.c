/* Eigenvalues of Laplacian encodings: closed forms, the limit on residuals, and no missed eigenvalues. */
#include <math.h>

#include "models/encodings/eigen.h"
#include "tests/encodings.h"
#include "tests/graphs.h"
#include "tests/spectra.h"
#include "tests/test.h"

/* Equal within the limit, or both 0. */
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
    struct builder d = {0};
    graph->build(&d, n);
    struct batch b = builder_done(&d);
    struct encoding e = lappe_of(&b, kind, k, solver, 2);
    expect_good(&e, graph->name);
    assert_int_equal(e.pairs[0], k);
    assert_int_equal(e.nullity, !normalised);
    for (int64_t i = 0; i < k; i++) {
        double truth = graph->value(n, i + normalised, normalised);
        if (!same_value(eigenvalue_at(&e, 0, i), truth))
            fail_msg("%s of %d nodes, %s by %s: eigenvalue %d is %.9g, not %.9g", graph->name, (int)n,
                     encoding_name(kind), e.method, (int)i, eigenvalue_at(&e, 0, i), truth);
    }
    encoding_free(&e);
    batch_free(&b);
}

/* A single-vector Lanczos method such as ARPACK's may find fewer copies of an eigenvalue than there are. */
static bool resolves(enum eigensolver s, const struct known_graph *g)
{
    return eigensolver_there(s) && (s != SOLVER_ARPACK || g->simple);
}

TEST(test_closed_forms)
{
    needs_lapack();
    for (const struct known_graph *g = known_graphs; g->name; g++)
        for (enum eigensolver s = 0; s < SOLVER_KINDS; s++)
            for (int normalised = 0; normalised <= g->both && resolves(s, g); normalised++) {
                enum encoding_kind kind = normalised ? ENCODING_LAP_PYG : ENCODING_LAP;
                check_known(g, 17, 7, kind, s);
                check_known(g, 150, 12, kind, s);
                check_known(g, 300, 9, kind, s);
            }
}

/* Eigenvalues with more copies than the iterative solver's block has columns. */
TEST(test_many_copies)
{
    needs_lapack();
    for (const struct known_graph *g = known_graphs; g->name; g++)
        for (int i = 0; i < 4 && g->both && !g->smooth; i++) {
            enum encoding_kind kind = i / 2 ? ENCODING_LAP_PYG : ENCODING_LAP;
            check_known(g, i % 2 ? 300 : 520, i % 2 ? 40 : 90, kind, i % 2 ? SOLVER_ITERATIVE : SOLVER_AUTO);
        }
}

/* Graphs whose eigenvectors are computed through coarser graphs, the smoothest at the limit of float. */
TEST(test_coarser_graphs)
{
    needs_lapack();
    for (const struct known_graph *g = known_graphs; g->name; g++)
        for (int64_t n = 420; g->smooth && n <= 3000; n += 395)
            check_known(g, n, 7 + n % 12, ENCODING_LAP, SOLVER_ITERATIVE);
}

/* On a graph with hubs, coarsening soon stops to pay: a block has no coarser one to start from. */
TEST(test_coarsening_that_stops)
{
    needs_lapack();
    struct batch b = graph_generated("rmat:giant", 3000, 5, 1, 2);
    struct encoding e = lappe_of(&b, ENCODING_LAP, 3, SOLVER_ITERATIVE, 1),
                    f = lappe_of(&b, ENCODING_LAP, 3, SOLVER_LAPACK, 1);
    for (int k = 1; k < 3; k++)
        assert_true(fabs(eigenvalue_at(&e, 0, k) / eigenvalue_at(&f, 0, k) - 1) < 1e-4);
    encoding_free(&e);
    encoding_free(&f);
    batch_free(&b);
}

/* A million nodes; the second eigenvalue is a millionth of the bound. */
TEST(test_large_grid)
{
    needs_lapack();
    if (!env_set("GTMARK_SOAK"))
        skip();
    const struct known_graph *grid = known_graphs;
    while (strcmp(grid->name, "grid") != 0)
        grid++;
    check_known(grid, 1000000, 8, ENCODING_LAP, SOLVER_ITERATIVE);
}

/* Compares the eigenvalues of every graph of a batch with its whole spectrum, which shows missed ones. */
static void check_spectra(const struct batch *b, enum encoding_kind kind, int64_t k, enum eigensolver s,
                          double *const *spectra)
{
    bool normalised = kind == ENCODING_LAP_PYG;
    struct encoding e = lappe_of(b, kind, k, s, 2);
    expect_good(&e, "spectrum");
    for (int64_t g = 0; g < b->graphs; g++) {
        int64_t n = b->offset[g + 1] - b->offset[g], most = n - normalised;
        assert_int_equal(e.pairs[g], k < most ? k : most);
        for (int64_t i = 0; i < k; i++) {
            double want = i < e.pairs[g] ? spectra[g][i + normalised] : 0;
            if (!(fabs(eigenvalue_at(&e, g, i) - want) <= 1e-4 * want + 1e-10))
                fail_msg("%s of graph %d of %d nodes by %s: eigenvalue %d is %.9g, not %.9g",
                         encoding_name(kind), (int)g, (int)n, e.method, (int)i, eigenvalue_at(&e, g, i),
                         want);
        }
    }
    encoding_free(&e);
}

/* The same with both Laplacians, each of these numbers of pairs, and all solvers except ARPACK, which may
 * miss copies. */
static void check_solvers(const struct batch *b, const int64_t *pairs, int count)
{
    static const enum eigensolver solvers[] = {SOLVER_AUTO, SOLVER_LAPACK, SOLVER_ITERATIVE};
    double *spectra[12];
    assert_true(b->graphs <= 12);
    for (int kind = ENCODING_LAP; kind <= ENCODING_LAP_PYG; kind++) {
        for (int64_t g = 0; g < b->graphs; g++)
            spectra[g] = spectrum_of(b, g, kind == ENCODING_LAP_PYG);
        for (int s = 0; s < 3; s++)
            for (int i = 0; eigensolver_there(solvers[s]) && i < count; i++)
                check_spectra(b, (enum encoding_kind)kind, pairs[i], solvers[s], spectra);
        for (int64_t g = 0; g < b->graphs; g++)
            free(spectra[g]);
    }
}

TEST(test_no_eigenvalue_is_left_out)
{
    needs_lapack();
    static const char *const families[] = {"er", "er:giant", "grid", "ba", "rmat"};
    uint64_t seeds = env_set("GTMARK_SMALL") ? 1 : 3;
    for (size_t f = 0; f < 5; f++)
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            struct batch b = graph_generated(families[f], 230, seed == 3 ? 1.5 : 5, 1, seed);
            check_solvers(&b, (const int64_t[]){8, 37}, 2);
            batch_free(&b);
        }
}

/* Small graphs, more pairs than nodes, hundreds of isolated nodes, and a graph without edges. */
TEST(test_batches)
{
    needs_lapack();
    struct batch batches[] = {graph_generated("er", 23, 2, 12, 9), graph_generated("er", 150, 0.6, 3, 4),
                              graph_generated("er", 30, 0, 2, 4)};
    for (int i = 0; i < 3; i++) {
        check_solvers(&batches[i], (const int64_t[]){1, 4, 16, 64}, 4);
        batch_free(&batches[i]);
    }
}

/* The limit on residuals for graphs too large to compute the whole spectrum. */
TEST(test_residuals)
{
    needs_lapack();
    static const char *const families[] = {"er", "er:giant", "grid", "ba", "rmat"};
    int64_t most = env_set("GTMARK_SMALL") ? 700 : 10000;
    for (size_t f = 0; f < 5; f++)
        for (int64_t n = 600; n <= most; n *= 4)
            for (int kind = ENCODING_LAP; kind <= ENCODING_LAP_PYG; kind++) {
                struct batch b = graph_generated(families[f], n, 5, 1, 42);
                struct encoding e = lappe_of(&b, (enum encoding_kind)kind, 16, SOLVER_AUTO, 2);
                expect_good(&e, families[f]);
                assert_int_equal(e.nullity + e.iterated, 16);
                encoding_free(&e);
                batch_free(&b);
            }
}

/*
 * Where ARPACK misses copies of an eigenvalue, the comparison with the iterative solver counts the same
 * number of indices as closed forms do.
 */
TEST(test_what_arpack_leaves_out)
{
    if (!eigensolver_there(SOLVER_ARPACK))
        skip();
    for (const struct known_graph *g = known_graphs; g->name; g++)
        for (int64_t k = 4; k <= 34 && !g->simple; k += 3) {
            struct builder d = {0};
            g->build(&d, 256);
            struct batch b = builder_done(&d);
            struct encoding e = lappe_of(&b, ENCODING_LAP, k, SOLVER_ARPACK, 1),
                            f = lappe_of(&b, ENCODING_LAP, k, SOLVER_ITERATIVE, 1);
            int64_t missed = 0;
            for (int64_t i = 0; i < k; i++)
                missed += eigenvalue_at(&e, 0, i) > (1 + 1e-4) * g->value(256, i, false);
            assert_int_equal(encoding_missed(&e, &f), missed);
            encoding_free(&e);
            encoding_free(&f);
            batch_free(&b);
        }
}
