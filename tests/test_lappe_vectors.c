/*
 * Eigenvectors of Laplacian encodings: null spaces, signs, clusters, and the same bits for any number of
 * threads.
 */
#include <math.h>

#include "bench/audit/operands.h"
#include "models/encodings/eigen.h"
#include "tests/encodings.h"
#include "tests/graphs.h"
#include "tests/spectra.h"
#include "tests/test.h"

/*
 * Indicators of components come first, by their smallest nodes, weighted by D^1/2 in the normalised variant.
 */
TEST(test_null_space)
{
    needs_lapack();
    struct builder d = {0};
    builder_graph(&d, 9); /* components {0, 4, 8}, {1}, {2, 3}, {5, 6, 7} */
    builder_edge(&d, 0, 8);
    builder_edge(&d, 4, 8);
    builder_edge(&d, 2, 3);
    builder_edge(&d, 2, 3);
    builder_edge(&d, 5, 6);
    builder_edge(&d, 6, 7);
    builder_edge(&d, 7, 7);
    struct batch b = builder_done(&d);
    struct encoding e = lappe_of(&b, ENCODING_LAP, 9, SOLVER_AUTO, 1);
    static const int of[] = {0, 1, 2, 2, 0, 3, 3, 3, 0}, size[] = {3, 1, 2, 3};
    assert_int_equal(e.nullity, 4);
    assert_int_equal(e.iterated, 5);
    for (int i = 0; i < 9; i++)
        for (int c = 0; c < 4; c++)
            assert_true(fabs(mat_get(e.values, i, c) - (of[i] == c ? 1 / sqrt(size[c]) : 0)) < 1e-7);
    for (int c = 0; c < 4; c++)
        assert_true(eigenvalue_at(&e, 0, c) == 0);
    assert_true(fabs(eigenvalue_at(&e, 0, 8) - 4) < 1e-6); /* a double edge: 2 w */
    encoding_free(&e);

    e = lappe_of(&b, ENCODING_LAP_PYG, 9, SOLVER_AUTO, 1);
    static const double second[] = {0, 0, 1, 1, 0, 0, 0, 0, 0}, third[] = {0, 0, 0, 0, 0, 1, 2, 1, 0};
    assert_int_equal(e.pairs[0], 8);
    assert_int_equal(e.nullity, 3); /* two indicators but the omitted one, and the lone node's pair */
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

/* Signs, orthonormality, and the same bits for any number of threads, including multiple eigenvalues. */
TEST(test_vectors)
{
    needs_lapack();
    static const struct {
        const char *family;
        int64_t nodes, graphs;
    } all[] = {{"grid", 400, 1}, {"grid", 81, 5}, {"er", 23, 20}, {"ba", 3000, 1}, {"er:giant", 700, 2}};
    for (size_t f = 0; f < sizeof all / sizeof *all; f++)
        for (int s = 0; s < SOLVER_KINDS; s++) {
            if (!eigensolver_there((enum eigensolver)s) || (s == SOLVER_LAPACK && all[f].nodes > 1000))
                continue;
            struct batch b = graph_generated(all[f].family, all[f].nodes, 5, all[f].graphs, 1);
            struct encoding e = lappe_of(&b, ENCODING_LAP_PYG, 8, (enum eigensolver)s, 1);
            check_canonical(&e, &b);
            for (int64_t p = 0; p < 8; p++)
                for (int64_t q = 0; q < p && p < e.pairs[0]; q++) {
                    double dot = 0;
                    for (int64_t i = 0; i < b.offset[1]; i++)
                        dot += mat_get(e.values, i, p) * mat_get(e.values, i, q);
                    assert_true(fabs(dot) < 1e-5);
                }
            for (int threads = 2; threads <= 3; threads++) {
                struct encoding again = lappe_of(&b, ENCODING_LAP_PYG, 8, (enum eigensolver)s, threads);
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

/* On a square grid eigenvalues are double: both solvers have the same projector onto a cluster. */
TEST(test_clusters)
{
    needs_lapack();
    struct batch b = graph_generated("grid", 400, 0, 1, 1);
    struct encoding e = lappe_of(&b, ENCODING_LAP, 9, SOLVER_LAPACK, 1),
                    f = lappe_of(&b, ENCODING_LAP, 9, SOLVER_ITERATIVE, 1);
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
