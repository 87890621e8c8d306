/*
 * Orthogonal random rows (Choromanski et al., "Rethinking attention with Performers", 2021): blocks of M
 * rows, the last one cut, each the rows of a random orthogonal M x M matrix, which are then scaled to the
 * lengths of other Gaussian rows, or left at length 1.
 *
 * Row r of the Gaussian matrix is g_rk = normal(r M + k), that of the lengths normal((N + r) M + k), with N
 * rows in all and normal by the method of Box and Muller (1958) from words 2n and 2n + 1 of the key's stream.
 * Gram-Schmidt orthogonalisation of the rows of a block, each twice, gives the factor q' of g' = q r with a
 * positive diagonal of r, which is uniform over the orthogonal matrices (Mezzadri, 2007). All in double and
 * rounded once, so that float and double agree.
 */
#include "kernels/ref/loops.h"

#ifdef REF_COUNT

REF(orthogonal, 0)
{
    (void)a;
}

#else
#include "kernels/rng.h"

static double normal(uint64_t key, int64_t n)
{
    double radius = (double)((rng_bits(key, (uint64_t)(2 * n)) >> 11) + 1) * 0x1p-53; /* in (0, 1] */
    double angle = (double)(rng_bits(key, (uint64_t)(2 * n + 1)) >> 11) * 0x1p-53;
    return sqrt(-2 * log(radius)) * cos(2 * M_PI * angle);
}

static double inner(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += x[k] * y[k];
    return sum;
}

/* Row r of its block, after the rows above it: x[r] of x[0], x[1] .. of length n. */
static void orthogonalise(int64_t n, int64_t r, double *x)
{
    double *row = x + r * n;
    for (int64_t twice = 0; twice < 2 * r; twice++) {
        const double *other = x + twice % r * n;
        double along = inner(n, row, other);
        for (int64_t k = 0; k < n; k++)
            row[k] -= along * other[k];
    }
    double length = sqrt(inner(n, row, row));
    for (int64_t k = 0; k < n; k++)
        row[k] /= length;
}

/* The length of row i of the result. */
static double length_of(const struct orthogonal_args *a, int64_t i)
{
    double squares = 0;
    for (int64_t k = 0; k < a->y.cols; k++) {
        double x = normal(a->key, (a->y.rows + i) * a->y.cols + k);
        squares += x * x;
    }
    return a->features == FEATURES_EXP ? sqrt(squares) : 1;
}

/* In real, which may be float. */
REF(orthogonal, 2 * a->y.cols * a->y.cols)
{
    int64_t n = a->y.cols;
    double *x = (double *)a->call.scratch;
    struct rows wanted = rows_wanted(a->call, a->y);
    for (int64_t first = 0; first < a->y.rows; first += n)
        for (int64_t i = first; i < first + n && i < wanted.end && first + n > wanted.first; i++) {
            double *row = x + (i - first) * n, length;
            for (int64_t k = 0; k < n; k++)
                row[k] = normal(a->key, i * n + k);
            orthogonalise(n, i - first, x);
            length = length_of(a, i);
            for (int64_t k = 0; k < n && i >= wanted.first; k++)
                AT(a->y, i, k) = (real)(row[k] * length);
        }
}
#endif
