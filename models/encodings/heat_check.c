/*
 * Checks the heat kernel of some nodes by uniformisation (Jensen 1953): with q the largest degree, 1 - L / q
 * has no negative entry, and in
 *
 *     exp(-L / 2) x = sum over m of p_m (1 - L / q)^m x,    p_m = exp(-r) r^m / m!, r = q / 2
 *
 * nothing cancels. z_0 = e_i, z_t = exp(-L / 2) z_(t-1), and (exp(-t L))_ii = |z_t|^2, because L is
 * symmetric. Terms beyond those whose sum Bernstein's inequality bounds by TAIL are left out.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/components.h"
#include "kernels/arithmetic.h"
#include "kernels/rng.h"
#include "models/encodings/check.h"

enum { NODES = 64 };

static const double RELATIVE = 1e-5, ABSOLUTE = 3e-7, TAIL = 1e-12;

/* FLOPs that it may take even if the options allow fewer: at most a second or so. */
static const double ALWAYS = 1e9;

struct heat_check {
    struct encoding_check *to;
    const struct csr *adj;
    const struct encoding *e;
    double degree; /* the largest, at least 1 */
    int64_t terms, count;
    double *weight; /* p_m, of each term */
    int64_t *start; /* components: see components.h */
    int32_t *node;
    int64_t *part_size; /* of each node's component */
    bool *seen;
};

/* y = (1 - L / q) x */
static void uniform_step(const struct heat_check *c, const double *x, double *y)
{
    const struct csr *g = c->adj;
    for (int64_t i = 0; i < g->nodes; i++) {
        double sum = 0, others = 0;
        for (int64_t e = g->row_ptr[i]; e < g->row_ptr[i + 1]; e++)
            if (g->col[e] != i) {
                sum += x[g->col[e]];
                others++;
            }
        y[i] = (1 - others / c->degree) * x[i] + sum / c->degree;
    }
}

/* z = exp(-L / 2) z; x and y are work arrays. Returns |z|^2. */
static double cool(const struct heat_check *c, double *z, double *x, double *y)
{
    int64_t n = c->adj->nodes;
    double square = 0;
    memcpy(x, z, (size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++)
        z[i] *= c->weight[0];
    for (int64_t m = 1; m < c->terms; m++) {
        uniform_step(c, x, y);
        for (int64_t i = 0; i < n; i++)
            z[i] += c->weight[m] * y[i];
        double *other = x;
        x = y;
        y = other;
    }
    for (int64_t i = 0; i < n; i++)
        square += z[i] * z[i];
    return square;
}

/* The first time, from 0, whose entry is wrong, or -1; `right` is what it should be. */
static int64_t cool_from(const struct heat_check *c, int64_t node, double *work, double *right)
{
    int64_t n = c->adj->nodes;
    const float *ours = (const float *)c->e->values.data + node * c->e->values.ld;
    memset(work, 0, (size_t)n * sizeof *work);
    work[node] = 1;
    for (int64_t t = 0; t < c->e->values.cols; t++) {
        *right = cool(c, work, work + n, work + 2 * n) - 1 / (double)c->part_size[node];
        if (!(fabs(ours[t] - *right) <= RELATIVE * *right + ABSOLUTE))
            return t;
    }
    return -1;
}

static bool check_open(struct heat_check *c)
{
    int64_t n = c->adj->nodes;
    double l = log(1 / TAIL), r = c->degree / 2;
    c->terms = (int64_t)ceil(r + l / 3 + sqrt(l * l / 9 + 2 * l * r)) + 1;
    c->weight = malloc((size_t)c->terms * sizeof *c->weight);
    c->start = malloc((size_t)(n + 1) * sizeof *c->start);
    c->node = malloc((size_t)n * sizeof *c->node);
    c->part_size = malloc((size_t)n * sizeof *c->part_size);
    c->seen = malloc((size_t)n * sizeof *c->seen);
    if (!c->weight || !c->start || !c->node || !c->part_size || !c->seen)
        return false;
    for (int64_t m = 0; m < c->terms; m++)
        c->weight[m] = exp((double)m * log(r) - r - lgamma((double)m + 1));
    for (int64_t p = 0, count = components_find(c->adj, NULL, c->start, c->node, c->seen); p < count; p++)
        for (int64_t i = c->start[p]; i < c->start[p + 1]; i++)
            c->part_size[c->node[i]] = c->start[p + 1] - c->start[p];
    return true;
}

static void check_close(struct heat_check *c)
{
    free(c->weight);
    free(c->start);
    free(c->node);
    free(c->part_size);
    free(c->seen);
}

/* As many nodes as the FLOPs allow, up to 64. */
static int64_t nodes_within(const struct heat_check *c, double flops)
{
    double each =
        (double)c->e->values.cols * (double)c->terms * (double)(2 * c->adj->edges + 6 * c->adj->nodes);
    return min_of(min_of(c->adj->nodes, NODES), (int64_t)fmin(fmax(flops, ALWAYS) / each, NODES));
}

static void complain_of_time(const struct heat_check *c, int64_t node, int64_t time, double right)
{
    snprintf(c->to->wrong, sizeof c->to->wrong,
             "heat: node %lld, time %lld: %.9g, not %.9g (allowed: %.2g more or less)", (long long)node,
             (long long)time + 1, mat_get(c->e->values, node, time), right, RELATIVE * right + ABSOLUTE);
}

/* Checks the nodes; false without memory or when cancelled. */
static bool check_nodes(const struct heat_check *c, const struct encoding_check_options *o)
{
    int64_t n = c->adj->nodes, first = c->count;
    uint64_t key = rng_key(o->seed, "check.heat");
    bool whole = true;
#pragma omp parallel num_threads((int)max_of(1, min_of(o->threads, c->count))) reduction(&& : whole)
    {
        double *work = malloc((size_t)(3 * n) * sizeof *work);
        whole = work != NULL;
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < c->count; i++) {
            int64_t node = n <= NODES ? i : (int64_t)(rng_bits(key, (uint64_t)i) % (uint64_t)n), wrong = -1;
            double right = 0;
            if (!whole || is_cancelled(o->cancel))
                whole = false;
            else
                wrong = cool_from(c, node, work, &right);
#pragma omp critical(heat_check)
            if (wrong >= 0 && i < first) {
                first = i;
                complain_of_time(c, node, wrong, right);
            }
        }
        free(work);
    }
    return whole;
}

void heat_check(struct encoding_check *to, const struct batch *b, const struct encoding *e,
                const struct encoding_check_options *o)
{
    struct heat_check c = {.to = to, .adj = &b->adj, .e = e, .degree = 1};
    const char *reason = "no memory for the check";
    for (int64_t i = 0; i < b->adj.nodes; i++)
        c.degree = fmax(c.degree, (double)(b->adj.row_ptr[i + 1] - b->adj.row_ptr[i]));
    bool whole = check_open(&c);
    c.count = whole ? nodes_within(&c, o->flops) : 0;
    if (whole && c.count == 0) {
        reason = "it would take longer than --check-budget";
        whole = false;
    } else if (whole) {
        whole = check_nodes(&c, o);
        reason = is_cancelled(o->cancel) ? "the check was cancelled" : reason;
    }
    check_close(&c);
    if (whole)
        snprintf(to->how, sizeof to->how, "%lld nodes by uniformisation in double", (long long)c.count);
    else
        snprintf(to->unchecked, sizeof to->unchecked, "%s", reason);
}
