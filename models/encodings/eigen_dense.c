/*
 * Dense symmetric eigenproblems by LAPACK. A build without it has no Laplacian encodings, because small
 * components and the iterative solver's projected problem are dense problems.
 *
 * dsyevr reduces to tridiagonal form in 4 n^3 / 3 FLOPs and finds only the requested pairs, each of whose
 * vectors costs 2 n^2 to transform back: the nominal count of dense_flops. For few nodes, all pairs by dsyevd
 * cost less than some by dsyevr, which bisects for each: 5 instead of 12 us for 8 nodes, 41 instead of 51 for
 * 24 nodes and 8 pairs (Xeon with AVX-512, OpenBLAS); from about 50 nodes on dsyevr is faster.
 */
#include "models/encodings/eigen.h"

#include "kernels/blas.h"

#include <math.h>
#include <string.h>

/* Nodes up to which all pairs are computed even if only some are wanted. */
enum { ALL_UP_TO = 40 };

/* LAPACK indexes the n^2 entries with int. */
int64_t dense_most(void)
{
    return 46340;
}

int64_t dense_flops(int64_t n, int64_t count)
{
    return 4 * n * n * n / 3 + 2 * n * n * count;
}

bool dense_available(void)
{
    return HAVE_LAPACK;
}

/* dsyevr: n values, 58 n of work, 10 n + 2 n ints; dsyevd: n, 1 + 6 n + 2 n^2, and 3 + 5 n ints. */
int64_t dense_work(int64_t n)
{
    int64_t some = n + 58 * n + 6 * n + 16, all = n + 6 * n + 2 * n * n + 3 * n + 16;
    return n <= ALL_UP_TO && all > some ? all : some;
}

static int find_all(int64_t n, double *a, int64_t first, int64_t count, double *values, double *vectors,
                    double *work)
{
    int order = (int)n, info = 0, lwork = (int)(1 + 6 * n + 2 * n * n), liwork = 3 + 5 * order;
    double *all = work, *rest = work + n;
    blas()->dsyevd("V", "U", &order, a, &order, all, rest, &lwork, (int *)(void *)(rest + lwork), &liwork,
                   &info);
    memcpy(values, all + first, (size_t)count * sizeof *values);
    memcpy(vectors, a + first * n, (size_t)(count * n) * sizeof *vectors);
    return info;
}

static int find_some(int64_t n, double *a, int64_t first, int64_t count, double *values, double *vectors,
                     double *work)
{
    int order = (int)n, low = (int)first + 1, high = (int)(first + count), found = 0, info = 0;
    int lwork = 58 * order, liwork = 10 * order;
    double zero = 0, *all = work, *rest = work + n;
    int *iwork = (int *)(void *)(rest + lwork), *support = iwork + liwork;
    blas()->dsyevr("V", "I", "U", &order, a, &order, &zero, &zero, &low, &high, &zero, &found, all, vectors,
                   &order, support, rest, &lwork, iwork, &liwork, &info);
    memcpy(values, all, (size_t)count * sizeof *values);
    return info == 0 && found != count ? order + 1 : info;
}

int dense_symmetric(int64_t n, double *a, int64_t first, int64_t count, double *values, double *vectors,
                    double *work)
{
    if (!HAVE_LAPACK)
        return -1;
    return (n <= ALL_UP_TO && count < n ? find_all : find_some)(n, a, first, count, values, vectors, work);
}

static double at(struct mat m, int64_t i)
{
    return mat_present(m) ? ((const float *)m.data)[i] : 1;
}

/*
 * M^-1/2 L M^-1/2, plus more than its largest eigenvalue on the constant's vector M^1/2 1, whose eigenvalue
 * is 0: that pair becomes the last, and no other changes.
 */
static void fill_matrix(const struct pencil *p, double *a)
{
    int64_t n = p->n, *row = p->adj.row.data;
    const int32_t *col = p->adj.col.data;
    double total = 0;
    for (int64_t i = 0; i < n; i++)
        total += at(p->mass, i);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] = 2 * p->bound / total * sqrt(at(p->mass, i) * at(p->mass, j));
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = row[i]; e < row[i + 1]; e++) {
            double w = at(p->weight, e);
            a[i * n + i] += w / at(p->mass, i);
            a[i * n + col[e]] -= w / sqrt(at(p->mass, i) * at(p->mass, col[e]));
        }
}

int64_t eigen_dense_work(int64_t n, int64_t count)
{
    return n * n + count * n + dense_work(n);
}

int eigen_dense(const struct pencil *p, int64_t count, double *value, struct mat x, double *work)
{
    double *a = work, *vectors = a + p->n * p->n, *rest = vectors + count * p->n;
    int failed = 1;
    /* Once more: after products with NaN OpenBLAS has some in its buffers, which the first call may read. */
    for (int times = 0; times < 2 && failed > 0; times++) {
        fill_matrix(p, a);
        failed = dense_symmetric(p->n, a, 0, count, value, vectors, rest);
    }
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t k = 0; k < count; k++)
            ((float *)x.data)[i * x.ld + k] = (float)(vectors[k * p->n + i] / sqrt(at(p->mass, i)));
    return failed;
}
