/*
 * Laplacian positional encodings: the K smallest eigenpairs of L = D - A, or of I - D^-1/2 A D^-1/2 without
 * the first, for each graph of a batch.
 *
 * Duplicate edges count with their multiplicity, in A and in D. A loop contributes nothing: in D - A its
 * contribution to the degree and to the diagonal cancel, and the normalised variant ignores loops, as PyG
 * does.
 *
 * The Laplacian of a graph is block diagonal over its components, so each component is solved separately. Its
 * null vector is known: the indicator of the component, times D^1/2 in the normalised variant, where the pair
 * (1, e_i) of an isolated node i is known too. For larger components the other smallest pairs come from a
 * solver, and the smallest over all components are selected. Eigenvalues that are equal across many
 * components, whose multiplicity no block iteration would resolve, are thus kept apart, and no null space is
 * iterated: the indicators come first, in order of the components' smallest nodes.
 */
#include "models/encodings/lappe.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/arithmetic.h"
#include "models/encodings/lappe_internal.h"

enum { USED_DENSE = 1, USED_ITERATIVE = 2, USED_ARPACK = 4 };

static const char *method_name(int used)
{
    static const char *const names[] = {"indicators",           "lapack", "iterative",
                                        "lapack and iterative", "arpack", "lapack and arpack"};
    return names[used];
}

/* Whether the dense solver is used: for small components, and when a large share of the pairs is wanted. */
static bool is_dense(const struct lappe *l, int64_t c)
{
    int64_t n = component_size(&l->s.parts, c), wanted = l->s.wanted[c];
    if (l->c->solver == SOLVER_LAPACK || n <= LAPPE_DENSE_ALWAYS || n <= 2 * (wanted + 16))
        return true;
    return l->c->solver == SOLVER_AUTO && n <= LAPPE_DENSE_AUTO;
}

static struct mat vectors_of(const struct lappe *l, int64_t c)
{
    return (struct mat){.data = l->s.x + l->s.vector[c],
                        .rows = component_size(&l->s.parts, c),
                        .cols = l->s.wanted[c],
                        .ld = l->s.wanted[c],
                        .dtype = F32};
}

/* Returns what dense_symmetric returns. */
static int solve_component(const struct lappe *l, int64_t c, double *work)
{
    struct pencil p = lappe_pencil(l, c);
    return eigen_dense(&p, l->s.wanted[c], l->s.value + l->s.first[c], vectors_of(l, c), work);
}

static bool is_solved(struct lappe *l, int failed)
{
    return eager_goes_on(&l->e) && (!failed || eager_fail(&l->e, "lapack failed, info %d", failed));
}

/* All small components, one thread each. */
static bool solve_dense(struct lappe *l)
{
    const struct problems *s = &l->s;
    int64_t most = 0, threads = l->e.threads;
    for (int64_t c = 0; c < s->parts.count; c++)
        if (s->wanted[c] && is_dense(l, c)) {
            int64_t n = component_size(&s->parts, c);
            if (n > dense_most())
                return eager_fail(&l->e, "lapack solves at most %lld nodes, but a component has %lld",
                                  (long long)dense_most(), (long long)n);
            most = max_of(most, eigen_dense_work(n, s->wanted[c]));
            eager_charge(&l->e, dense_flops(n, s->wanted[c]), 8 * n * (n + s->wanted[c]));
        }
    if (!most)
        return true;
    l->used |= USED_DENSE;
    double *work = eager_alloc(&l->e, threads * most * 8);
    int failed = 0;
#pragma omp parallel for schedule(dynamic) num_threads((int)threads) reduction(max : failed) if (work)
    for (int64_t c = 0; c < s->parts.count; c++) {
        if (!work || !s->wanted[c] || !is_dense(l, c) || is_cancelled(l->e.cancel))
            continue;
        int info = solve_component(l, c, work + omp_get_thread_num() * most);
        failed = abs(info) > failed ? abs(info) : failed;
    }
    eager_free(&l->e, work, threads * most * 8);
    return is_solved(l, failed);
}

/* A component once more, after the iterative solver. */
static bool solve_again(struct lappe *l, int64_t c)
{
    int64_t n = component_size(&l->s.parts, c), wanted = l->s.wanted[c],
            bytes = eigen_dense_work(n, wanted) * 8;
    double *work = eager_alloc(&l->e, bytes);
    int failed = work ? solve_component(l, c, work) : 0;
    eager_charge(&l->e, dense_flops(n, wanted), 8 * n * (n + wanted));
    eager_free(&l->e, work, bytes);
    l->used |= USED_DENSE;
    return is_solved(l, failed);
}

/* The larger components one after another, with all threads each. */
static bool solve_iterated(struct lappe *l)
{
    const struct problems *s = &l->s;
    bool done = true, arpack = l->c->solver == SOLVER_ARPACK;
    for (int64_t c = 0; done && c < s->parts.count; c++) {
        if (!s->wanted[c] || is_dense(l, c))
            continue;
        struct pencil p = lappe_pencil(l, c);
        struct eigenpairs pairs = {
            .count = s->wanted[c], .x = vectors_of(l, c), .value = s->value + s->first[c]};
        done = (arpack ? eigen_arpack : eigen_chebyshev)(&l->e, &p, l->most, &pairs);
        l->iterations += pairs.iterations;
        l->used |= arpack ? USED_ARPACK : USED_ITERATIVE;
        if (done && l->c->solver == SOLVER_AUTO && pairs.excess > 1 && p.n <= LAPPE_DENSE_AGAIN)
            done = solve_again(l, c);
        else
            l->excess = fmax(l->excess, pairs.excess);
    }
    return done;
}

static bool alloc_output(struct lappe *l)
{
    struct encoding *out = l->out;
    int64_t n = l->b->adj.nodes, graphs = l->b->graphs, k = l->c->k;
    out->values = (struct mat){eager_alloc(&l->e, n * k * 4), n, k, k, 0, 0, F32, false};
    out->eigenvalues = (struct mat){eager_alloc(&l->e, graphs * k * 4), graphs, k, k, 0, 0, F32, false};
    out->pairs = eager_alloc(&l->e, graphs * 8);
    return out->values.data && out->eigenvalues.data && out->pairs;
}

/* Whether the requested solver is available and applies to this batch. */
static bool possible(const struct encoding_config *c, const struct batch *b, char *error, size_t size)
{
    const char *library = eigensolver_missing_library(c->solver);
    if (!laplacian_exists(b, error, size))
        return false;
    if (library)
        snprintf(error, size, "this build has no %s", library);
    return !library;
}

bool lappe_compute(const struct encoding_config *c, const struct batch *b,
                   const struct encoding_options *with, struct encoding *out, char *error, size_t error_size)
{
    *out = (struct encoding){0};
    if (!possible(c, b, error, error_size))
        return false;
    struct lappe l = {.c = c, .b = b, .normalised = c->kind == ENCODING_LAP_PYG, .out = out};
    l.most = with->products > 0 ? with->products : LAPPE_PRODUCTS;
    eager_start(&l.e, backend_cpu(), with->threads, with->cancel);
    bool done = alloc_output(&l) && lappe_problems_alloc(&l) && solve_dense(&l) && solve_iterated(&l) &&
                lappe_write(&l);
    lappe_problems_free(&l);
    eager_end(&l.e);
    if (done && !lappe_finish(out, c, b, with->threads))
        done = eager_fail(&l.e, "no memory to check the residuals");
    if (!done) {
        snprintf(error, error_size, "%s:%lld of %lld nodes: %s", encoding_name((int)c->kind), (long long)c->k,
                 (long long)b->adj.nodes, l.e.reason);
        encoding_free(out);
        out->cancelled = l.e.cancelled;
        return false;
    }
    if (l.excess > 1)
        out->excess = fmax(out->excess, l.excess);
    out->cost = l.e.cost;
    out->peak = l.e.peak;
    out->iterations = l.iterations;
    out->method = method_name(l.used);
    out->flops_label = l.used & (USED_DENSE | USED_ARPACK) ? "nominal" : "executed ops";
    return true;
}
