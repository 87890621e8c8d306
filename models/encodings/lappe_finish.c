/*
 * Post-processing of eigenvectors: unit norms, canonical signs, and a quality check that does not depend on
 * how they were computed.
 *
 * For the vectors v as stored, in float, L v is computed in double row by row, and with lambda = v' L v / v'
 * v the residual is |L v - lambda v| / |v|, allowed up to max(1e-3 lambda, 2e-7 |L|_1). Sums are reduced over
 * blocks of rows in order, so they do not depend on the number of threads. This is a check, not part of the
 * encoding's cost.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/arithmetic.h"
#include "models/encodings/eigen.h"
#include "models/encodings/lappe.h"

enum { BLOCK = 512 };

/* The matrix: D - A, or I - s A s with s = D^-1/2. */
struct matrix {
    const struct csr *adj;
    const double *scale; /* s of each node, 0 if isolated; null for D - A */
};

/* Row i of L v for k columns. Returns the sum of magnitudes in row i of L. */
static double multiply_row(const struct matrix *l, const float *v, int64_t k, int64_t i, double *to)
{
    const struct csr *g = l->adj;
    double others = 0;
    memset(to, 0, (size_t)k * sizeof *to);
    for (int64_t e = g->row_ptr[i]; e < g->row_ptr[i + 1]; e++) {
        int64_t j = g->col[e];
        if (j == i)
            continue;
        const float *from = v + j * k;
        double a = l->scale ? l->scale[i] * l->scale[j] : 1;
        others += a;
#pragma omp simd
        for (int64_t c = 0; c < k; c++)
            to[c] -= a * from[c];
    }
    double own = l->scale ? 1 : others;
#pragma omp simd
    for (int64_t c = 0; c < k; c++)
        to[c] += own * v[i * k + c];
    return own + others;
}

/* Size of a block's sums: 3 K doubles and the largest row norm. */
static int64_t block_sums(int64_t k)
{
    return 3 * k + 1;
}

/* v'v, v'Mv and |Mv|^2 of the columns over rows first .. end - 1, M = L - value; `row` is a work array of K
 * doubles. */
static void sum_block(const struct matrix *l, const float *v, const float *value, int64_t k, int64_t first,
                      int64_t end, double *sums, double *row)
{
    double *vv = sums, *vmv = vv + k, *mvmv = vmv + k, norm = 0;
    memset(sums, 0, (size_t)block_sums(k) * sizeof *sums);
    for (int64_t i = first; i < end; i++) {
        const float *own = v + i * k;
        norm = fmax(norm, multiply_row(l, v, k, i, row));
#pragma omp simd
        for (int64_t c = 0; c < k; c++) {
            double x = own[c], y = row[c] - value[c] * x;
            vv[c] += x * x;
            vmv[c] += x * y;
            mvmv[c] += y * y;
        }
    }
    mvmv[k] = norm;
}

/* The sums of a graph; the first block of `sums` receives the result. */
static void sum_graph(const struct matrix *l, const float *v, const float *value, int64_t k, int64_t first,
                      int64_t end, double *sums, int threads)
{
    int64_t blocks = blocks_of(end - first, BLOCK), size = block_sums(k);
#pragma omp parallel for schedule(static) if (blocks > 1) num_threads(threads)
    for (int64_t n = 1; n <= blocks; n++) {
        double row[ENCODING_K_MAX];
        int64_t from = first + (n - 1) * BLOCK, to = min_of(from + BLOCK, end);
        sum_block(l, v, value, k, from, to, sums + n * size, row);
    }
    memset(sums, 0, (size_t)size * sizeof *sums);
    for (int64_t n = 1; n <= blocks; n++) {
        for (int64_t c = 0; c < size - 1; c++)
            sums[c] += sums[n * size + c];
        sums[size - 1] = fmax(sums[size - 1], sums[n * size + size - 1]);
    }
}

/* Sum of squares and largest magnitude of each column, K doubles each. */
static void measure_columns(const float *v, int64_t k, int64_t first, int64_t end, double *squares,
                            double *most)
{
    memset(squares, 0, (size_t)k * sizeof *squares);
    memset(most, 0, (size_t)k * sizeof *most);
    for (int64_t i = first; i < end; i++) {
        const float *own = v + i * k;
#pragma omp simd
        for (int64_t c = 0; c < k; c++) {
            double x = fabs((double)own[c]);
            squares[c] += x * x;
            most[c] = x > most[c] ? x : most[c];
        }
    }
}

/* Negates the factor of each column whose first entry of nearly the largest magnitude is negative. */
static void turn_signs(const float *v, int64_t k, int64_t first, int64_t end, double *most, double *factor)
{
    int64_t left = k;
    for (int64_t i = first; i < end && left > 0; i++)
        for (int64_t c = 0; c < k; c++)
            if (fabs(v[i * k + c]) >= 0.999 * most[c]) {
                factor[c] = v[i * k + c] < 0 ? -factor[c] : factor[c];
                most[c] = INFINITY;
                left--;
            }
}

/*
 * Scales the vectors of rows first .. end - 1 to canonical norm and sign; `sums` is a work array of 2 K
 * doubles.
 */
static void make_canonical(float *v, int64_t k, int64_t first, int64_t end, double *sums, int threads)
{
    double *factor = sums, *most = sums + k;
    measure_columns(v, k, first, end, factor, most);
    for (int64_t c = 0; c < k; c++)
        factor[c] = factor[c] > 0 ? 1 / sqrt(factor[c]) : 0;
    turn_signs(v, k, first, end, most, factor);
#pragma omp parallel for schedule(static) if (end - first > BLOCK) num_threads(threads)
    for (int64_t i = first; i < end; i++)
        for (int64_t c = 0; c < k; c++)
            v[i * k + c] = (float)(factor[c] * v[i * k + c]);
}

static void swap_columns(float *v, int64_t k, int64_t c, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; i++) {
        float x = v[i * k + c];
        v[i * k + c] = v[i * k + c - 1];
        v[i * k + c - 1] = x;
    }
}

/* Restores ascending order where the quotients of close pairs came out swapped. */
static void sort_pairs(float *value, double *residual, float *v, int64_t k, int64_t pairs, int64_t first,
                       int64_t end)
{
    for (int64_t n = 1; n < pairs; n++)
        for (int64_t c = n; c > 0 && value[c] < value[c - 1]; c--) {
            float x = value[c];
            value[c] = value[c - 1];
            value[c - 1] = x;
            double r = residual[c];
            residual[c] = residual[c - 1];
            residual[c - 1] = r;
            swap_columns(v, k, c, first, end);
        }
}

/* Quality of one graph's pairs. */
struct quality {
    double residual, excess;
};

static struct quality finish_graph(struct encoding *e, const struct matrix *l, const struct batch *b,
                                   int64_t g, double *sums, int threads)
{
    int64_t k = e->values.cols, first = b->offset[g], end = b->offset[g + 1], pairs = e->pairs[g];
    float *v = e->values.data, *value = (float *)e->eigenvalues.data + g * k;
    make_canonical(v, k, first, end, sums, threads);
    sum_graph(l, v, value, k, first, end, sums, threads);
    double *vv = sums, *vmv = vv + k, *mvmv = vmv + k, norm = mvmv[k];
    struct quality q = {0, 0};
    for (int64_t c = 0; c < pairs; c++) {
        double off = vmv[c] / vv[c], lambda = value[c] == 0 ? 0 : fmax(0, value[c] + off);
        double moved = lambda - value[c];
        value[c] = (float)lambda;
        /* |L v - lambda v|^2 / v'v; little is subtracted, since the value is near lambda. */
        double square = mvmv[c] / vv[c] - moved * (2 * off - moved);
        double residual = vv[c] > 0 ? sqrt(square < 0 ? 0 : square) : INFINITY;
        vv[c] = residual;
        q.residual = fmax(q.residual, residual);
        q.excess = fmax(q.excess, residual / eigen_allowed(lambda, norm));
        if (!isfinite(residual))
            q.residual = q.excess = INFINITY;
    }
    sort_pairs(value, vv, v, k, pairs, first, end);
    return q;
}

/* D^-1/2, where D counts edges from other nodes. */
static void fill_scale(double *scale, const struct csr *g)
{
    for (int64_t i = 0; i < g->nodes; i++) {
        int64_t d = 0;
        for (int64_t e = g->row_ptr[i]; e < g->row_ptr[i + 1]; e++)
            d += g->col[e] != i;
        scale[i] = d ? 1 / sqrt((double)d) : 0;
    }
}

static struct quality worse(struct quality a, struct quality b)
{
    return (struct quality){fmax(a.residual, b.residual), fmax(a.excess, b.excess)};
}

/* The sums of graph g: its blocks, the last of which may be short, plus one. */
static double *sums_of(const struct batch *b, int64_t g, int64_t size, double *sums)
{
    return sums + (b->offset[g] / BLOCK + 2 * g) * size;
}

/*
 * Parallel over graphs or over the rows of each graph: nested parallel regions would start new threads each
 * time.
 */
bool lappe_finish(struct encoding *e, const struct encoding_config *c, const struct batch *b, int threads)
{
    int64_t n = b->adj.nodes, size = block_sums(c->k), blocks = n / BLOCK + 2 * b->graphs;
    double *scale = malloc((size_t)(n + blocks * size) * sizeof *scale), *sums = scale ? scale + n : NULL;
    if (!scale)
        return false;
    struct matrix l = {&b->adj, c->kind == ENCODING_LAP_PYG ? scale : NULL};
    if (l.scale)
        fill_scale(scale, &b->adj);
    struct quality worst = {0, 0};
    if (b->graphs < threads)
        for (int64_t g = 0; g < b->graphs; g++)
            worst = worse(worst, finish_graph(e, &l, b, g, sums_of(b, g, size, sums), threads));
    else {
        double residual = 0, excess = 0;
#pragma omp parallel for schedule(dynamic) reduction(max : residual, excess) num_threads(threads)
        for (int64_t g = 0; g < b->graphs; g++) {
            struct quality q = finish_graph(e, &l, b, g, sums_of(b, g, size, sums), 1);
            residual = fmax(residual, q.residual);
            excess = fmax(excess, q.excess);
        }
        worst = (struct quality){residual, excess};
    }
    e->residual = worst.residual;
    e->excess = worst.excess;
    free(scale);
    return true;
}
