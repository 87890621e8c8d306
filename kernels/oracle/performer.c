/*
 * Linear attention (ref/performer.c) on CBLAS. A task is one head of one graph, ROWS rows at a
 * time. Features e have no eps here, so that p = e + eps.
 */
#if HAVE_CBLAS
#include "kernels/oracle/oracle.h"

#include <omp.h>
#include <string.h>

enum { ROWS = 128 };

/* One head of one graph: nodes, first row of features, first column in matrices of nodes. */
struct part {
    int64_t first, n, row, column, m, c, graph, head;
    bool exponential;
    real scale; /* of rows */
    struct mat w;
};

static struct part part_of(struct offsets graphs, int heads, struct mat w, int features, int64_t g, int64_t h)
{
    bool exponential = features == FEATURES_EXP;
    return (struct part){.first = graph_first(graphs, g),
                         .n = graph_size(graphs, g),
                         .row = (g * heads + h) * w.rows,
                         .column = h * w.cols,
                         .m = w.rows,
                         .c = w.cols,
                         .graph = g,
                         .head = h,
                         .exponential = exponential,
                         .scale = exponential ? pow((real)w.cols, -0.25) : 1,
                         .w = w};
}

static real *nodes_at(struct mat m, const struct part *p, int64_t i)
{
    return at(m, p->first + i) + p->column;
}

/* u = z w' of some rows of q or k. */
static void project(const struct part *p, int64_t rows, const real *x, int64_t ldx, real *u)
{
    product(false, true, rows, p->m, p->c, p->scale, x, ldx, at(p->w, 0), ld(p->w), false, u, p->m);
}

static real half_of(const struct part *p, const real *x)
{
    real squares = 0;
    for (int64_t k = 0; k < p->c; k++)
        squares += x[k] * x[k];
    return 0.5 * p->scale * p->scale * squares;
}

static real largest(int64_t n, const real *u)
{
    real most = u[0];
    for (int64_t f = 1; f < n; f++)
        most = fmax(most, u[f]);
    return most;
}

static void features_of(const struct part *p, real *u, real shift)
{
    for (int64_t f = 0; f < p->m; f++)
        u[f] = p->exponential ? exp(u[f] - shift) : fmax(u[f], 0);
}

/* dx (+)= (t w - z sum t) scale for one block of rows, with t the gradient of z w'. */
static void put_gradient(const struct part *p, int64_t rows, const real *t, const real *x, int64_t ldx,
                         real *dx, struct mat m)
{
    product(false, false, rows, p->c, p->m, p->scale, t, p->m, at(p->w, 0), ld(p->w), m.acc, dx, ld(m));
    for (int64_t i = 0; i < rows && p->exponential; i++) {
        real sum = 0;
        for (int64_t f = 0; f < p->m; f++)
            sum += t[i * p->m + f];
        for (int64_t k = 0; k < p->c; k++)
            dx[i * ld(m) + k] -= p->scale * p->scale * sum * x[i * ldx + k];
    }
}

static void sum_keys(const struct performer_keys_args *a, const struct part *p, real *u)
{
    real *s = at(a->s, p->row);
    for (int64_t i = 0; i < p->n; i += ROWS) {
        int64_t rows = min_of(ROWS, p->n - i);
        const real *k = nodes_at(a->k, p, i);
        project(p, rows, k, ld(a->k), u);
        for (int64_t r = 0; r < rows; r++) {
            real *row = u + r * p->m;
            for (int64_t f = 0; f < p->m; f++) {
                real *top = at(a->top, p->row + f);
                *top = i + r == 0 ? row[f] : fmax(*top, row[f]);
            }
            features_of(p, row, half_of(p, k + r * ld(a->k)));
            for (int64_t f = 0; f < p->m; f++) {
                real *l = at(a->l, p->row + f);
                *l = (i + r == 0 ? 0 : *l) + row[f];
            }
        }
        product(true, false, p->m, p->c, rows, 1, u, p->m, nodes_at(a->v, p, i), ld(a->v), i > 0, s,
                ld(a->s));
    }
}

void ORACLE(performer_keys)(const void *args)
{
    const struct performer_keys_args *a = args;
#pragma omp parallel for collapse(2) num_threads(a->call.threads) schedule(dynamic)
    for (int64_t g = 0; g < graph_count(a->graphs); g++)
        for (int64_t h = 0; h < a->heads; h++) {
            struct part p = part_of(a->graphs, a->heads, a->w, a->features, g, h);
            sum_keys(a, &p, (real *)a->call.scratch + omp_get_thread_num() * ROWS * p.m);
        }
}

int64_t ORACLE(performer_keys_scratch)(const void *args)
{
    const struct performer_keys_args *a = args;
    return a->call.threads * ROWS * a->w.rows * (int64_t)sizeof(real);
}

static void keys_backward(const struct performer_keys_backward_args *a, const struct part *p, real *u)
{
    real *t = u + ROWS * p->m;
    for (int64_t i = 0; i < p->n; i += ROWS) {
        int64_t rows = min_of(ROWS, p->n - i);
        const real *k = nodes_at(a->k, p, i);
        project(p, rows, k, ld(a->k), u);
        product(false, true, rows, p->m, p->c, 1, nodes_at(a->v, p, i), ld(a->v), at(a->ds, p->row),
                ld(a->ds), false, t, p->m);
        for (int64_t r = 0; r < rows; r++) {
            features_of(p, u + r * p->m, half_of(p, k + r * ld(a->k)));
            for (int64_t f = 0; f < p->m; f++) {
                real e = u[r * p->m + f], de = t[r * p->m + f] + *at(a->dl, p->row + f);
                t[r * p->m + f] = p->exponential ? de * e : e > 0 ? de : 0;
            }
        }
        product(false, false, rows, p->c, p->m, 1, u, p->m, at(a->ds, p->row), ld(a->ds), a->dv.acc,
                nodes_at(a->dv, p, i), ld(a->dv));
        put_gradient(p, rows, t, k, ld(a->k), nodes_at(a->dk, p, i), a->dk);
    }
}

void ORACLE(performer_keys_backward)(const void *args)
{
    const struct performer_keys_backward_args *a = args;
#pragma omp parallel for collapse(2) num_threads(a->call.threads) schedule(dynamic)
    for (int64_t g = 0; g < graph_count(a->graphs); g++)
        for (int64_t h = 0; h < a->heads; h++) {
            struct part p = part_of(a->graphs, a->heads, a->w, a->features, g, h);
            keys_backward(a, &p, (real *)a->call.scratch + omp_get_thread_num() * 2 * ROWS * p.m);
        }
}

int64_t ORACLE(performer_keys_backward_scratch)(const void *args)
{
    const struct performer_keys_backward_args *a = args;
    return 2 * a->call.threads * ROWS * a->w.rows * (int64_t)sizeof(real);
}

/* Where a and b come from. */
struct sums {
    struct mat s, l, top, sum;
    real eps;
};

/* a (M x C) and b (M); returns c. */
static real gather(const struct part *p, const struct sums *from, real *a, real *b)
{
    real most = *at(from->top, p->row), c = 1;
    const real *sum = at(from->sum, p->graph) + p->column;
    for (int64_t f = 1; f < p->m; f++)
        most = fmax(most, *at(from->top, p->row + f));
    if (p->exponential)
        c = exp(-most);
    for (int64_t f = 0; f < p->m; f++) {
        b[f] = c * *at(from->l, p->row + f) + from->eps * (real)p->n;
        for (int64_t k = 0; k < p->c; k++)
            a[f * p->c + k] = c * at(from->s, p->row + f)[k] + from->eps * sum[k];
    }
    return c;
}

/* The denominator of a row of p = phi(q), which replaces W z; and what is saved. */
static real end_row(const struct performer_attention_args *a, const struct part *p, int64_t i, real *u,
                    const real *b)
{
    real peak = largest(p->m, u), den = 0, total = 0;
    features_of(p, u, peak + half_of(p, nodes_at(a->q, p, i)));
    for (int64_t f = 0; f < p->m; f++) {
        u[f] += a->eps;
        den += u[f] * b[f];
        total += u[f];
    }
    const struct mat saved[] = {a->den, a->peak, a->total};
    const real values[] = {den, peak, total};
    for (int s = 0; s < 3; s++)
        if (mat_present(saved[s]))
            at(saved[s], p->first + i)[p->head] = values[s];
    return den;
}

static void attend(const struct performer_attention_args *a, const struct part *p, real *work)
{
    real *keys = work, *b = keys + p->m * p->c, *u = b + p->m, *den = u + ROWS * p->m;
    struct sums from = {a->s, a->l, a->top, a->sum, a->eps};
    gather(p, &from, keys, b);
    for (int64_t i = 0; i < p->n; i += ROWS) {
        int64_t rows = min_of(ROWS, p->n - i);
        real *y = nodes_at(a->y, p, i);
        project(p, rows, nodes_at(a->q, p, i), ld(a->q), u);
        for (int64_t r = 0; r < rows; r++)
            den[r] = end_row(a, p, i + r, u + r * p->m, b);
        product(false, false, rows, p->c, p->m, 1, u, p->m, keys, p->c, false, y, ld(a->y));
        for (int64_t r = 0; r < rows; r++)
            for (int64_t k = 0; k < p->c; k++)
                y[r * ld(a->y) + k] /= den[r];
    }
}

static int64_t attention_doubles(struct mat w, int features)
{
    return w.rows * (w.cols + 1) + ROWS * (features * w.rows + 2 * w.cols + 1);
}

void ORACLE(performer_attention)(const void *args)
{
    const struct performer_attention_args *a = args;
#pragma omp parallel for collapse(2) num_threads(a->call.threads) schedule(dynamic)
    for (int64_t g = 0; g < graph_count(a->graphs); g++)
        for (int64_t h = 0; h < a->heads; h++) {
            struct part p = part_of(a->graphs, a->heads, a->w, a->features, g, h);
            attend(a, &p, (real *)a->call.scratch + omp_get_thread_num() * attention_doubles(a->w, 1));
        }
}

int64_t ORACLE(performer_attention_scratch)(const void *args)
{
    const struct performer_attention_args *a = args;
    return a->call.threads * attention_doubles(a->w, 1) * (int64_t)sizeof(real);
}

/* x = dy / den; its multiple c x; d = -(dy y) / den, added to dl with p; and the row's share of dsum. */
static real begin_row(const struct performer_attention_backward_args *a, const struct part *p, int64_t i,
                      real c, real *x, real *scaled)
{
    const real *dy = nodes_at(a->dy, p, i), *y = nodes_at(a->y, p, i);
    real den = at(a->den, p->first + i)[p->head], total = at(a->total, p->first + i)[p->head], d = 0;
    real *dsum = at(a->dsum, p->graph) + p->column;
    for (int64_t k = 0; k < p->c; k++) {
        x[k] = dy[k] / den;
        scaled[k] = c * x[k];
        d -= dy[k] * y[k] / den;
        dsum[k] += a->eps * total * x[k];
    }
    return d;
}

/* Row r of a block: p in place of W z, the gradient of W z in place of x a', and its share of dl. */
static void slopes_of(const struct performer_attention_backward_args *a, const struct part *p, int64_t i,
                      real *u, real *t, const real *b, real d, real c)
{
    features_of(p, u, at(a->peak, p->first + i)[p->head] + half_of(p, nodes_at(a->q, p, i)));
    for (int64_t f = 0; f < p->m; f++) {
        real de = t[f] + d * b[f];
        t[f] = p->exponential ? de * u[f] : u[f] > 0 ? de : 0;
        u[f] += a->eps;
        *at(a->dl, p->row + f) += c * u[f] * d;
    }
}

static void begin_sums(const struct performer_attention_backward_args *a, const struct part *p)
{
    for (int64_t f = 0; f < p->m && !a->dl.acc; f++)
        *at(a->dl, p->row + f) = 0;
    for (int64_t k = 0; k < p->c && !a->dsum.acc; k++)
        at(a->dsum, p->graph)[p->column + k] = 0;
}

static void attend_backward(const struct performer_attention_backward_args *a, const struct part *p,
                            real *work)
{
    real *keys = work, *b = keys + p->m * p->c, *u = b + p->m, *t = u + ROWS * p->m, *x = t + ROWS * p->m,
         *scaled = x + ROWS * p->c, *d = scaled + ROWS * p->c;
    struct sums from = {a->s, a->l, a->top, a->sum, a->eps};
    real c = gather(p, &from, keys, b);
    begin_sums(a, p);
    for (int64_t i = 0; i < p->n; i += ROWS) {
        int64_t rows = min_of(ROWS, p->n - i);
        const real *q = nodes_at(a->q, p, i);
        for (int64_t r = 0; r < rows; r++)
            d[r] = begin_row(a, p, i + r, c, x + r * p->c, scaled + r * p->c);
        project(p, rows, q, ld(a->q), u);
        product(false, true, rows, p->m, p->c, 1, x, p->c, keys, p->c, false, t, p->m);
        for (int64_t r = 0; r < rows; r++)
            slopes_of(a, p, i + r, u + r * p->m, t + r * p->m, b, d[r], c);
        product(true, false, p->m, p->c, rows, 1, u, p->m, scaled, p->c, a->ds.acc || i > 0,
                at(a->ds, p->row), ld(a->ds));
        put_gradient(p, rows, t, q, ld(a->q), nodes_at(a->dq, p, i), a->dq);
    }
}

void ORACLE(performer_attention_backward)(const void *args)
{
    const struct performer_attention_backward_args *a = args;
#pragma omp parallel for collapse(2) num_threads(a->call.threads) schedule(dynamic)
    for (int64_t g = 0; g < graph_count(a->graphs); g++)
        for (int64_t h = 0; h < a->heads; h++) {
            struct part p = part_of(a->graphs, a->heads, a->w, a->features, g, h);
            attend_backward(a, &p,
                            (real *)a->call.scratch + omp_get_thread_num() * attention_doubles(a->w, 2));
        }
}

int64_t ORACLE(performer_attention_backward_scratch)(const void *args)
{
    const struct performer_attention_backward_args *a = args;
    return a->call.threads * attention_doubles(a->w, 2) * (int64_t)sizeof(real);
}
#endif
