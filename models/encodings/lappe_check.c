/*
 * Checks that the eigenpairs of a Laplacian encoding are the smallest ones: that its vectors are orthonormal,
 * that it has the null vectors of all components unless all its eigenvalues are 0, and that no component has
 * a smaller pair outside of them (deflated.h). The normalised variant lacks its first null vector by
 * definition.
 *
 * Smaller is what is below the largest eigenvalue found by more than a relative 1e-3, or than twice the
 * largest residual: the vectors are not exact, and by as much may their quotients be too large.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/components.h"
#include "kernels/arithmetic.h"
#include "kernels/rng.h"
#include "models/encodings/check.h"
#include "models/encodings/deflated.h"

static const double SMALLER = 1e-3, ORTHONORMAL = 1e-2;

enum { SIGNS = 16 };

struct lappe_check {
    struct encoding_check *to;
    const struct encoding_config *c;
    const struct batch *b;
    const struct encoding *e;
    bool normalised;
    int64_t count, *start; /* components: see components.h */
    int32_t *node, *local;
    bool *seen;
    double *scale; /* D^-1/2; 0 of isolated nodes */
    struct deflated search;
};

static void report(struct lappe_check *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void report(struct lappe_check *l, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(l->to->wrong, sizeof l->to->wrong, format, values);
    va_end(values);
}

static const float *row_at(const struct lappe_check *l, int64_t node)
{
    return (const float *)l->e->values.data + node * l->e->values.ld;
}

static double eigenvalue(const struct lappe_check *l, int64_t g, int64_t k)
{
    return mat_get(l->e->eigenvalues, g, k);
}

/* v (v' z), with v the vectors of a graph as columns. */
static void multiply_twice(const struct lappe_check *l, int64_t g, const double *z, double *product)
{
    int64_t pairs = l->e->pairs[g];
    memset(product, 0, (size_t)pairs * sizeof *product);
    for (int64_t node = l->b->offset[g]; node < l->b->offset[g + 1]; node++) {
        const float *v = row_at(l, node);
        double sum = 0;
        for (int64_t k = 0; k < pairs; k++)
            sum += (double)v[k] * z[k];
        for (int64_t k = 0; k < pairs; k++)
            product[k] += (double)v[k] * sum;
    }
}

/* V'V z = z for random signs z: what is wrong in V'V changes an entry of V'V z by about as much. */
static bool is_orthonormal(struct lappe_check *l, int64_t g)
{
    double z[ENCODING_K_MAX], product[ENCODING_K_MAX], worst = 0;
    int64_t pairs = l->e->pairs[g];
    for (uint64_t i = 0; i < SIGNS; i++) {
        for (int64_t k = 0; k < pairs; k++)
            z[k] = rng_bits(l->search.key + i, (uint64_t)k) & 1 ? 1 : -1;
        multiply_twice(l, g, z, product);
        for (int64_t k = 0; k < pairs; k++)
            worst = fmax(worst, fabs(product[k] - z[k]));
    }
    if (worst > ORTHONORMAL)
        report(l,
               "lap: the vectors of graph %lld are not orthonormal: V'V differs from 1 by %.3g (allowed: %g)",
               (long long)g, worst, ORTHONORMAL);
    return worst <= ORTHONORMAL;
}

/* Whether vector k is zero on a component. */
static bool is_zero(const struct lappe_check *l, int64_t c, int64_t k)
{
    int64_t i = l->start[c];
    while (i < l->start[c + 1] && row_at(l, l->node[i])[k] == 0)
        i++;
    return i == l->start[c + 1];
}

/* The dimensions of a component outside of the known vectors and the null vector. */
static int64_t outside_of(const struct lappe_check *l, int64_t g, int64_t c)
{
    int64_t known = 0;
    bool null = false;
    for (int64_t k = 0; k < l->e->pairs[g]; k++)
        if (!is_zero(l, c, k)) {
            known++;
            null = null || eigenvalue(l, g, k) == 0;
        }
    return l->start[c + 1] - l->start[c] - known - !null;
}

static void search_component(struct lappe_check *l, int64_t g, int64_t c)
{
    double quotient;
    struct deflated *d = &l->search;
    d->part.node = l->node + l->start[c];
    d->part.nodes = l->start[c + 1] - l->start[c];
    d->outside = outside_of(l, g, c);
    if (d->outside <= 0)
        return;
    enum deflated_result result = deflated_search(d, &quotient);
    if (result == DEFLATED_SMALLER)
        report(l,
               "lap: pairs were left out: graph %lld also has an eigenvalue of at most %.6g (allowed: none "
               "below "
               "%.6g)",
               (long long)g, quotient, d->limit);
    else if (result == DEFLATED_UNKNOWN)
        snprintf(l->to->unchecked, sizeof l->to->unchecked, "%s",
                 is_cancelled(d->cancel) ? "the check was cancelled"
                 : d->flops < 0          ? "it would take longer than --check-budget"
                                         : "no memory for the check");
}

/* The only pair of an isolated node, (1, e_i) in the normalised variant, is known if it is below the limit.
 */
static void check_isolated(struct lappe_check *l, int64_t g, int64_t c)
{
    bool known = !l->normalised || l->search.limit <= 1;
    for (int64_t k = 0; k < l->e->pairs[g] && !known; k++)
        known = !is_zero(l, c, k);
    if (!known)
        report(l, "lap: pairs were left out: graph %lld also has the eigenvalue 1 of an isolated node",
               (long long)g);
}

/* Whether the indicators of the components first .. end - 1 are there, but for the one left out by
 * definition. */
static bool has_null_vectors(struct lappe_check *l, int64_t g, int64_t first, int64_t end)
{
    int64_t there = 0, wanted = -l->normalised;
    for (int64_t k = 0; k < l->e->pairs[g]; k++)
        there += eigenvalue(l, g, k) == 0;
    for (int64_t c = first; c < end; c++)
        wanted += !l->normalised || l->start[c + 1] - l->start[c] > 1;
    if (there < wanted)
        report(l, "lap: pairs were left out: graph %lld has %lld of %lld eigenvalues 0", (long long)g,
               (long long)there, (long long)wanted);
    return there >= wanted;
}

static void check_graph(struct lappe_check *l, int64_t g, int64_t first, int64_t end)
{
    int64_t pairs = l->e->pairs[g], all = encoding_pairs(l->c, l->b->offset[g + 1] - l->b->offset[g]);
    if (pairs != all)
        report(l, "lap: graph %lld has %lld pairs, not %lld", (long long)g, (long long)pairs, (long long)all);
    double largest = pairs > 0 ? eigenvalue(l, g, pairs - 1) : 0;
    if (pairs != all || !is_orthonormal(l, g) || largest == 0 || !has_null_vectors(l, g, first, end))
        return;
    l->search.limit = largest - fmax(SMALLER * largest, 2 * l->e->residual);
    l->search.known = (struct known){l->e->values.data, pairs, l->e->values.ld};
    if (l->search.limit <= 0)
        snprintf(l->to->unchecked, sizeof l->to->unchecked,
                 "the eigenvalues are as small as their residuals");
    for (int64_t c = first; c < end && l->search.limit > 0 && !*l->to->wrong && !*l->to->unchecked; c++)
        if (l->start[c + 1] - l->start[c] > 1)
            search_component(l, g, c);
        else
            check_isolated(l, g, c);
}

static bool indicators_alloc(struct lappe_check *l)
{
    size_t n = (size_t)l->b->adj.nodes;
    l->start = malloc((n + 1) * sizeof *l->start);
    l->node = malloc(n * sizeof *l->node);
    l->local = malloc(n * sizeof *l->local);
    l->seen = malloc(n * sizeof *l->seen);
    l->scale = malloc(n * sizeof *l->scale);
    return l->start && l->node && l->local && l->seen && l->scale;
}

static void components_fill(struct lappe_check *l)
{
    const struct csr *g = &l->b->adj;
    l->count = components_find(g, NULL, l->start, l->node, l->seen);
    for (int64_t c = 0; c < l->count; c++)
        for (int64_t i = l->start[c]; i < l->start[c + 1]; i++)
            l->local[l->node[i]] = (int32_t)(i - l->start[c]);
    for (int64_t i = 0; i < g->nodes; i++) {
        int64_t degree = 0;
        for (int64_t e = g->row_ptr[i]; e < g->row_ptr[i + 1]; e++)
            degree += g->col[e] != i;
        l->scale[i] = degree ? 1 / sqrt((double)degree) : 0;
    }
    l->search.part =
        (struct component){.adj = g, .local = l->local, .scale = l->normalised ? l->scale : NULL};
}

static void components_free(struct lappe_check *l)
{
    free(l->start);
    free(l->node);
    free(l->local);
    free(l->seen);
    free(l->scale);
}

void lappe_check(struct encoding_check *to, const struct encoding_config *c, const struct batch *b,
                 const struct encoding *e, const struct encoding_check_options *o)
{
    struct lappe_check l = {.to = to, .c = c, .b = b, .e = e, .normalised = c->kind == ENCODING_LAP_PYG};
    l.search = (struct deflated){.key = rng_key(o->seed, "check.lappe"),
                                 .threads = o->threads,
                                 .cancel = o->cancel,
                                 .flops = o->flops};
    if (indicators_alloc(&l)) {
        components_fill(&l);
        for (int64_t g = 0, first = 0, end = 0; g < b->graphs && !*to->wrong && !*to->unchecked;
             g++, first = end) {
            while (end < l.count && l.start[end] < b->offset[g + 1])
                end++;
            check_graph(&l, g, first, end);
        }
    } else
        snprintf(to->unchecked, sizeof to->unchecked, "no memory for the check");
    components_free(&l);
    if (!*to->wrong && !*to->unchecked)
        snprintf(to->how, sizeof to->how, "orthonormal, and no smaller pair found");
}
