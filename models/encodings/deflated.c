/*
 * A random block X is freed from the known vectors and the null vector, filtered by Chebyshev polynomials
 * (Zhou, Saad, Tiago and Chelikowsky 2006: see eigen_chebyshev.c) that damp eigenvectors between a and the
 * bound b, and replaced by the best Ritz vectors in its span, again and again, until eigenvectors below the
 * limit have grown by GAIN against all those above a. The largest Ritz value becomes a.
 *
 * How much is enough: a missing eigenvector v of eigenvalue l < limit has in the span of a random block of w
 * columns a vector with tan(angle to v) ~ sqrt(n w), without components along the w - 1 next eigenvectors,
 * whose eigenvalues are below a. Filtered, its Rayleigh quotient exceeds l by at most b n w / gain^2, which
 * is to be below 1e-5 limit.
 *
 * In double, so that vectors may grow by 1e5 in one filter before rounding errors matter.
 */
#include "models/encodings/deflated.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/arithmetic.h"
#include "kernels/rng.h"
#include "models/encodings/eigen.h"

enum { WIDE = 16, PARALLEL_FROM = 4096 };

static const double MOST = 1e5;  /* growth of any vector in one filter */
static const double NEAR = 1e-5; /* see above */
static const double DEPENDENT = 1e-12;

struct block {
    struct deflated *d;
    int64_t n, wide;
    double bound;
    double *x, *y;       /* n x WIDE; columns from wide on are 0 */
    double *null;        /* n: the null vector, of norm 1 */
    double *dots;        /* known x wide */
    double *gram, *turn; /* wide x wide */
    double *value, *work;
};

static double *row_of(const double *x, int64_t i)
{
    return (double *)(uintptr_t)x + i * WIDE;
}

static const float *known_row(const struct block *s, int64_t i)
{
    return s->d->known.rows + s->d->part.node[i] * s->d->known.ld;
}

static void charge(struct block *s, double flops)
{
    s->d->flops -= flops;
}

/* to = alpha A from + beta from + keep to */
static void laplacian_row(const struct block *s, int64_t i, const double *from, double *to, double alpha,
                          double beta, double keep)
{
    const struct component *p = &s->d->part;
    int64_t at = p->node[i];
    double sum[WIDE] = {0}, own = 0;
    for (int64_t e = p->adj->row_ptr[at]; e < p->adj->row_ptr[at + 1]; e++) {
        int64_t other = p->adj->col[e];
        double a = other == at ? 0 : p->scale ? p->scale[at] * p->scale[other] : 1;
        const double *x = row_of(from, p->local[other]);
        own += a;
#pragma omp simd
        for (int c = 0; c < WIDE; c++)
            sum[c] += a * x[c];
    }
    const double *x = row_of(from, i);
    double *y = row_of(to, i);
    own = p->scale ? 1 : own;
#pragma omp simd
    for (int c = 0; c < WIDE; c++)
        y[c] = alpha * (own * x[c] - sum[c]) + beta * x[c] + keep * y[c];
}

static void multiply_block(struct block *s, const double *from, double *to, double alpha, double beta,
                           double keep)
{
    int64_t edges = 0;
#pragma omp parallel for schedule(static) reduction(+ : edges) num_threads(s->d->threads) \
    if (s->n >= PARALLEL_FROM)
    for (int64_t i = 0; i < s->n; i++) {
        const int64_t *row = s->d->part.adj->row_ptr + s->d->part.node[i];
        laplacian_row(s, i, from, to, alpha, beta, keep);
        edges += row[1] - row[0];
    }
    charge(s, (double)(2 * s->wide * (edges + 3 * s->n)));
}

/* x -= null sums */
static void drop_null(const struct block *s, int64_t i, const double *sums)
{
    double *x = row_of(s->x, i);
    for (int64_t c = 0; c < s->wide; c++)
        x[c] -= s->null[i] * sums[c];
}

/* dots += known' x, or x -= known dots, in a row. Most known vectors may belong to other components. */
static void add_dots(struct block *s, int64_t i)
{
    const double *x = row_of(s->x, i);
    const float *v = known_row(s, i);
    for (int64_t k = 0; k < s->d->known.count; k++)
        for (int64_t c = 0, end = v[k] == 0 ? 0 : s->wide; c < end; c++)
            s->dots[k * s->wide + c] += (double)v[k] * x[c];
}

static void drop_known(const struct block *s, int64_t i)
{
    double *x = row_of(s->x, i);
    const float *v = known_row(s, i);
    for (int64_t k = 0; k < s->d->known.count; k++)
        for (int64_t c = 0, end = v[k] == 0 ? 0 : s->wide; c < end; c++)
            x[c] -= (double)v[k] * s->dots[k * s->wide + c];
}

/* Removes the components along the null vector, and then along the known ones, which may contain it. */
static void deflate_once(struct block *s)
{
    double sums[WIDE] = {0};
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < s->wide; c++)
            sums[c] += s->null[i] * row_of(s->x, i)[c];
    for (int64_t k = 0; k < s->d->known.count * s->wide; k++)
        s->dots[k] = 0;
    for (int64_t i = 0; i < s->n; i++) {
        drop_null(s, i, sums);
        add_dots(s, i);
    }
    for (int64_t i = 0; i < s->n; i++)
        drop_known(s, i);
    charge(s, (double)(4 * s->n * s->wide * (s->d->known.count + 1)));
}

/* Twice, because the known vectors are rounded to float. */
static void deflate(struct block *s)
{
    deflate_once(s);
    deflate_once(s);
}

/* gram = x' y */
static void block_products(struct block *s, const double *x, const double *y)
{
    int64_t w = s->wide;
    for (int64_t k = 0; k < w * w; k++)
        s->gram[k] = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const double *left = row_of(x, i), *right = row_of(y, i);
        for (int64_t j = 0; j < w; j++)
            for (int64_t k = 0; k < w; k++)
                s->gram[j * w + k] += left[j] * right[k];
    }
    charge(s, (double)(2 * s->n * w * w));
}

/* The upper triangle of gram becomes R with R' R = gram; rows of columns that depend on earlier ones are 0.
 */
static void factor(struct block *s)
{
    int64_t w = s->wide;
    double *r = s->gram;
    for (int64_t j = 0; j < w; j++) {
        double own = r[j * w + j], left = own;
        for (int64_t i = 0; i < j; i++) {
            for (int64_t k = 0; k < i; k++)
                r[i * w + j] -= r[k * w + i] * r[k * w + j];
            r[i * w + j] = r[i * w + i] > 0 ? r[i * w + j] / r[i * w + i] : 0;
            left -= r[i * w + j] * r[i * w + j];
        }
        r[j * w + j] = left > DEPENDENT * own ? sqrt(left) : 0;
    }
}

/* X = X R^-1, with X' X = R' R: orthonormal columns, or zeros. Twice, since the first time rounds. */
static void orthonormalise_block(struct block *s)
{
    int64_t w = s->wide;
    for (int time = 0; time < 2; time++) {
        block_products(s, s->x, s->x);
        factor(s);
        for (int64_t i = 0; i < s->n; i++) {
            double *x = row_of(s->x, i);
            for (int64_t j = 0; j < w; j++) {
                for (int64_t k = 0; k < j; k++)
                    x[j] -= x[k] * s->gram[k * w + j];
                x[j] = s->gram[j * w + j] > 0 ? x[j] / s->gram[j * w + j] : 0;
            }
        }
    }
}

/* Replaces the block, freed from known vectors and orthonormal, by its Ritz vectors, in ascending order. */
static bool find_ritz(struct block *s)
{
    int64_t w = s->wide;
    deflate(s);
    orthonormalise_block(s);
    multiply_block(s, s->x, s->y, 1, 0, 0);
    block_products(s, s->x, s->y);
    for (int64_t j = 0; j < w; j++)
        if (s->gram[j * w + j] <= 0) /* a column of zeros */
            s->gram[j * w + j] = 2 * s->bound;
    if (dense_symmetric(w, s->gram, 0, w, s->value, s->turn, s->work))
        return false;
    for (int64_t i = 0; i < s->n; i++) {
        double *x = row_of(s->x, i), turned[WIDE];
        for (int64_t c = 0; c < w; c++) {
            turned[c] = 0;
            for (int64_t j = 0; j < w; j++)
                turned[c] += x[j] * s->turn[c * w + j];
        }
        for (int64_t c = 0; c < w; c++)
            x[c] = turned[c];
    }
    return true;
}

/* X = T_m((2 A - a - b) / (b - a)) X */
static void filter_deflated(struct block *s, double a, int64_t degree)
{
    double b = s->bound, alpha = 2 / (b - a), beta = -(a + b) / (b - a);
    multiply_block(s, s->x, s->y, alpha, beta, 0);
    for (int64_t k = 1; k < degree; k++) {
        multiply_block(s, s->y, s->x, 2 * alpha, 2 * beta, -1);
        double *old = s->x;
        s->x = s->y;
        s->y = old;
    }
    double *old = s->x;
    s->x = s->y;
    s->y = old;
}

/* The exponent of the growth, for each degree, of a vector of this eigenvalue. */
static double growth_of(const struct block *s, double a, double value)
{
    return acosh(1 + 2 * (a - value) / (s->bound - a));
}

/* Where damping begins. */
static double damped_from(const struct block *s)
{
    double a = fmax(s->value[s->wide - 1], 1.1 * s->d->limit);
    return fmin(a, (s->d->limit + s->bound) / 2);
}

static enum deflated_result iterate(struct block *s)
{
    struct deflated *d = s->d;
    double n = (double)(s->n * s->wide), needed = log(2) + 0.5 * log(n * s->bound / (NEAR * d->limit));
    double a = INFINITY, gain = 0;
    bool good = find_ritz(s);
    while (good && s->wide < d->outside && gain < needed && s->value[0] >= d->limit) {
        if (d->flops < 0 || is_cancelled(d->cancel))
            return DEFLATED_UNKNOWN;
        if (damped_from(s) < 0.9 * a) { /* what has grown until now has not been compared with all above a */
            a = damped_from(s);
            gain = 0;
        }
        double growth = growth_of(s, a, d->limit), most = log(2 * MOST) / growth_of(s, a, 0);
        int64_t degree = (int64_t)fmax(2, fmin(most, ceil((needed - gain + log(2)) / growth)));
        filter_deflated(s, a, degree);
        good = find_ritz(s);
        gain += (double)degree * growth - log(2);
    }
    return !good ? DEFLATED_UNKNOWN : s->value[0] < d->limit ? DEFLATED_SMALLER : DEFLATED_NONE;
}

/* An upper bound on the eigenvalues: the largest sum of the degrees of adjacent nodes. */
static double spectrum_bound(const struct component *p)
{
    const int64_t *row = p->adj->row_ptr;
    int64_t most = 0;
    for (int64_t i = 0; i < p->nodes && !p->scale; i++)
        for (int64_t e = row[p->node[i]]; e < row[p->node[i] + 1]; e++) {
            int64_t j = p->adj->col[e];
            most = max_of(most, row[p->node[i] + 1] - row[p->node[i]] + row[j + 1] - row[j]);
        }
    return p->scale ? 2 : (double)most;
}

static void fill(struct block *s)
{
    const struct component *p = &s->d->part;
    double squares = 0;
    for (int64_t i = 0; i < s->n; i++) {
        s->null[i] = p->scale ? 1 / p->scale[p->node[i]] : 1;
        squares += s->null[i] * s->null[i];
    }
    for (int64_t i = 0; i < s->n; i++)
        s->null[i] /= sqrt(squares);
    for (int64_t k = 0; k < s->n * WIDE; k++) {
        s->x[k] = k % WIDE < s->wide ? rng_int24(s->d->key, (uint64_t)k) * 0x1p-23 : 0;
        s->y[k] = 0;
    }
}

enum deflated_result deflated_search(struct deflated *d, double *quotient)
{
    int64_t n = d->part.nodes, w = min_of(WIDE, d->outside), known = d->known.count;
    int64_t size = 2 * n * WIDE + n + known * w + 2 * w * w + w + dense_work(w);
    double *memory = malloc((size_t)size * sizeof *memory);
    struct block s = {.d = d, .n = n, .wide = w, .bound = spectrum_bound(&d->part), .x = memory};
    if (!memory)
        return DEFLATED_UNKNOWN;
    s.y = s.x + n * WIDE;
    s.null = s.y + n * WIDE;
    s.dots = s.null + n;
    s.gram = s.dots + known * w;
    s.turn = s.gram + w * w;
    s.value = s.turn + w * w;
    s.work = s.value + w;
    fill(&s);
    enum deflated_result result = iterate(&s);
    *quotient = s.value[0];
    free(memory);
    return result;
}
