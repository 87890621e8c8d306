/*
 * The diagonal of the heat kernel, in one of two ways for a whole batch.
 *
 * LAPACK: all eigenpairs of each component. The constant vector's eigenvalue 0 is moved above all others, so
 * that its pair is the last and can be left out.
 *
 * Chebyshev: with b at least L's largest eigenvalue, S = 2 L / b - 1 and z = t b / 2,
 *
 *     exp(-t L) = exp(-z) exp(-z S) = exp(-z) (I_0(z) + 2 sum over m > 0 of (-1)^m I_m(z) T_m(S))
 *
 * (Abramowitz and Stegun 9.6.34), whose diagonal is the op heat_diagonal. The weights exp(-z) I_m(z) are the
 * probabilities that two Poisson variables of mean z / 2 differ by m, so by Bernstein's inequality the terms
 * beyond M are below TAIL in all if M^2 / (2 (z + M / 3)) is at least log(2 / TAIL). No eigenvalue exceeds
 * the largest sum of the degrees of two neighbours (Anderson and Morley 1985). Memory is linear in the nodes.
 */
#include "models/encodings/heat.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/components.h"
#include "kernels/arithmetic.h"
#include "models/encodings/eigen.h"

static const double TAIL = 1e-8;

struct heat {
    const struct encoding_config *c;
    const struct batch *b;
    struct eager e;
    int64_t count, *start; /* components: see components.h */
    int32_t *node;
    bool *seen;
    int64_t largest_part;
    double largest; /* bound on the eigenvalues, at least 1 */
    struct mat h;
    double *first; /* of each time: exp(-z) I_0(z) */
    struct mat odd, even;
};

int64_t heat_steps(int64_t k, double largest)
{
    double z = (double)k * largest / 2, l = log(2 / TAIL);
    return (int64_t)ceil((l / 3 + sqrt(l * l / 9 + 2 * l * z)) / 2);
}

double heat_dense_flops(double n, double k)
{
    return n * (10 * n * n / 3 + n * (2 * k + 1) + k);
}

int64_t heat_dense_work(int64_t n)
{
    return 2 * n * n + 3 * n + dense_work(n);
}

static int64_t part_size(const struct heat *h, int64_t part)
{
    return h->start[part + 1] - h->start[part];
}

/* Loops count here, which only makes it larger. */
static double largest_eigenvalue(const struct csr *g)
{
    int64_t largest = 1;
    for (int64_t i = 0; i < g->nodes; i++)
        for (int64_t e = g->row_ptr[i]; e < g->row_ptr[i + 1]; e++) {
            const int64_t *other = g->row_ptr + g->col[e];
            if (g->col[e] != i)
                largest = max_of(largest, g->row_ptr[i + 1] - g->row_ptr[i] + other[1] - other[0]);
        }
    return (double)largest;
}

static bool open_parts(struct heat *h)
{
    int64_t n = h->b->adj.nodes;
    h->start = eager_alloc(&h->e, (n + 1) * 8);
    h->node = eager_alloc(&h->e, n * 4);
    h->seen = eager_alloc(&h->e, n);
    h->h = eager_matrix(&h->e, F32, n, h->c->k);
    if (!eager_good(&h->e))
        return false;
    h->count = components_find(&h->b->adj, NULL, h->start, h->node, h->seen);
    for (int64_t p = 0; p < h->count; p++)
        h->largest_part = max_of(h->largest_part, part_size(h, p));
    h->largest = largest_eigenvalue(&h->b->adj);
    return true;
}

static void close_parts(struct heat *h)
{
    int64_t n = h->b->adj.nodes;
    eager_free(&h->e, h->seen, n);
    eager_free(&h->e, h->node, n * 4);
    eager_free(&h->e, h->start, (n + 1) * 8);
}

/* Whether LAPACK takes less time, by the FLOPs of both, if every step meets a whole component. */
static bool takes_lapack(const struct heat *h)
{
    if (h->c->solver == SOLVER_LAPACK || h->c->solver == SOLVER_ITERATIVE || !dense_available() ||
        h->largest_part > HEAT_DENSE_MOST)
        return h->c->solver == SOLVER_LAPACK;
    double dense = 0, steps = 0;
    for (int64_t p = 0; p < h->count; p++) {
        double n = (double)part_size(h, p), edges = 0;
        for (int64_t i = h->start[p]; i < h->start[p + 1]; i++)
            edges += (double)(h->b->adj.row_ptr[h->node[i] + 1] - h->b->adj.row_ptr[h->node[i]]);
        dense += n > 1 ? heat_dense_flops(n, (double)h->c->k) : 0;
        steps += n * (edges + 10 * n);
    }
    return HEAT_FASTER * dense < steps * (double)heat_steps(h->c->k, h->largest);
}

/* --- LAPACK */

/* The Laplacian of a component; `local` is the place of each node in its component. */
static void fill_laplacian(const struct heat *h, int64_t part, const int32_t *local, double *a)
{
    const struct csr *g = &h->b->adj;
    int64_t n = part_size(h, part);
    for (int64_t i = 0; i < n * n; i++)
        a[i] = 2 * h->largest / (double)n;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = h->node[h->start[part] + i];
        for (int64_t e = g->row_ptr[at]; e < g->row_ptr[at + 1]; e++)
            if (g->col[e] != at) {
                a[i * n + i]++;
                a[i * n + local[g->col[e]]]--;
            }
    }
}

/* The rows of a component's nodes, from all pairs but that of the constant vector. */
static int solve_part(const struct heat *h, int64_t part, const int32_t *local, double *work)
{
    int64_t n = part_size(h, part), pairs = n - 1;
    double *square = work, *a = square + n * n, *value = a + n * n, *left = value + n, *sum = left + n;
    int failed = 0;
    if (pairs > 0) {
        fill_laplacian(h, part, local, a);
        failed = dense_symmetric(n, a, 0, pairs, value, square, sum + n);
    }
    for (int64_t k = 0; k < pairs * n; k++)
        square[k] *= square[k];
    for (int64_t t = 0; t < h->c->k; t++) {
        memset(sum, 0, (size_t)n * sizeof *sum);
        for (int64_t k = 0; k < pairs; k++) {
            left[k] = t ? left[k] * value[k] : (value[k] = exp(-value[k]));
            for (int64_t i = 0; i < n; i++)
                sum[i] += left[k] * square[k * n + i];
        }
        for (int64_t i = 0; i < n; i++)
            mat_set(h->h, h->node[h->start[part] + i], t, sum[i]);
    }
    return failed;
}

static bool solve_exactly(struct heat *h)
{
    int64_t n = h->b->adj.nodes, each = heat_dense_work(h->largest_part), bytes = h->e.threads * each * 8;
    int failed = 0;
    if (h->largest_part > dense_most())
        return eager_fail(&h->e, "lapack solves at most %lld nodes, but a component has %lld",
                          (long long)dense_most(), (long long)h->largest_part);
    double *work = eager_alloc(&h->e, bytes);
    int32_t *local = eager_alloc(&h->e, n * 4);
    for (int64_t p = 0; p < h->count && eager_good(&h->e); p++) {
        double size = (double)part_size(h, p);
        for (int64_t i = h->start[p]; i < h->start[p + 1]; i++)
            local[h->node[i]] = (int32_t)(i - h->start[p]);
        if (size > 1)
            eager_charge(&h->e, (int64_t)heat_dense_flops(size, (double)h->c->k),
                         (int64_t)(16 * size * size + 4 * size * (double)h->c->k));
    }
    bool allocated = eager_good(&h->e);
#pragma omp parallel for schedule(dynamic) num_threads(h->e.threads) reduction(max : failed) if (allocated)
    for (int64_t p = 0; p < h->count; p++)
        if (allocated && !is_cancelled(h->e.cancel))
            failed = (int)max_of(failed, abs(solve_part(h, p, local, work + omp_get_thread_num() * each)));
    eager_free(&h->e, local, n * 4);
    eager_free(&h->e, work, bytes);
    return eager_goes_on(&h->e) && (!failed || eager_fail(&h->e, "lapack failed, info %d", failed));
}

/* --- Chebyshev */

/*
 * exp(-z) I_m(z) for m from 0 to count - 1, by Miller's backward recurrence I_(m-1) = I_(m+1) + 2 m / z I_m,
 * which begins where they are negligible, and the sum I_0 + 2 I_1 + 2 I_2 .. = exp(z).
 */
static void bessel(double z, int64_t count, double *to)
{
    double above = 0, here = 1e-300, sum = 0;
    memset(to, 0, (size_t)count * sizeof *to);
    for (int64_t m = (int64_t)(9 * sqrt(z)) + 40; m >= 0; m--) {
        double below = above + 2 * (double)m / z * here;
        if (m < count)
            to[m] = here;
        sum += m ? 2 * here : here;
        above = here;
        here = below;
    }
    for (int64_t m = 0; m < count; m++)
        to[m] /= sum;
}

/* The coefficients of all times. */
static bool expand(struct heat *h)
{
    int64_t steps = heat_steps(h->c->k, h->largest), times = h->c->k, count = 2 * steps + 1;
    double *weight = eager_alloc(&h->e, count * 8);
    h->first = eager_alloc(&h->e, times * 8);
    h->odd = eager_matrix(&h->e, F32, steps, times);
    h->even = eager_matrix(&h->e, F32, steps, times);
    for (int64_t t = 0; t < times && eager_good(&h->e); t++) {
        bessel((double)(t + 1) * h->largest / 2, count, weight);
        h->first[t] = weight[0];
        for (int64_t s = 0; s < steps; s++) {
            mat_set(h->odd, s, t, -2 * weight[2 * s + 1]);
            mat_set(h->even, s, t, 2 * weight[2 * s + 2]);
        }
    }
    eager_free(&h->e, weight, count * 8);
    return eager_good(&h->e);
}

/* Adds the terms of degree 0, and takes away what stays for ever. */
static void finish(struct heat *h)
{
    for (int64_t p = 0; p < h->count; p++)
        for (int64_t i = h->start[p]; i < h->start[p + 1]; i++)
            for (int64_t t = 0; t < h->c->k; t++) {
                double all = mat_get(h->h, h->node[i], t) + h->first[t];
                mat_set(h->h, h->node[i], t, fmax(0, all - 1 / (double)part_size(h, p)));
            }
}

static bool solve_expanded(struct heat *h)
{
    struct mat work = {0};
    if (expand(h)) {
        work = eager_matrix(&h->e, I64, h->b->adj.nodes, 1);
        run_op(&h->e, heat_diagonal, .h = h->h, .work = work, .odd = h->odd, .even = h->even,
               .adj = encoding_edges(h->b), .scale = 2 / h->largest);
    }
    if (eager_good(&h->e))
        finish(h);
    eager_release(&h->e, &work);
    eager_release(&h->e, &h->even);
    eager_release(&h->e, &h->odd);
    eager_free(&h->e, h->first, h->c->k * 8);
    return eager_good(&h->e);
}

bool heat_compute(const struct encoding_config *c, const struct batch *b, const struct encoding_options *with,
                  struct encoding *out, char *error, size_t error_size)
{
    struct heat h = {.c = c, .b = b};
    *out = (struct encoding){0};
    if (!laplacian_exists(b, error, error_size))
        return false;
    eager_start(&h.e, backend_cpu(), with->threads, with->cancel);
    bool dense = false, done = open_parts(&h);
    if (done) {
        dense = takes_lapack(&h);
        done = dense ? solve_exactly(&h) : solve_expanded(&h);
    }
    close_parts(&h);
    eager_end(&h.e);
    if (!done) {
        snprintf(error, error_size, "heat:%lld of %lld nodes: %s", (long long)c->k, (long long)b->adj.nodes,
                 h.e.reason);
        eager_release(&h.e, &h.h);
        out->cancelled = h.e.cancelled;
        return false;
    }
    *out = (struct encoding){.values = h.h,
                             .cost = h.e.cost,
                             .peak = h.e.peak,
                             .method = dense ? "lapack" : "chebyshev",
                             .flops_label = dense ? "nominal" : "executed ops"};
    return true;
}
