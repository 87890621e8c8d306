/*
 * Close eigenvalues: graphs in which an eigenvalue with more copies than the iterative solver's block has
 * columns lies near others, against LAPACK.
 */
#include <math.h>

#include "tests/encodings.h"
#include "tests/sanitized.h"
#include "tests/spectra.h"
#include "tests/test.h"

static void clique(struct builder *d, int64_t first, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            builder_edge(d, first + i, first + j);
}

static void path(struct builder *d, int64_t from, int64_t first, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        builder_edge(d, i ? first + i - 1 : from, first + i);
}

/* Two cliques of m, and a path of p nodes between them. */
static void barbell(struct builder *d, int64_t m, int64_t p)
{
    builder_graph(d, 2 * m + p);
    clique(d, 0, m);
    clique(d, m + p, m);
    path(d, 0, m, p);
    builder_edge(d, p ? m + p - 1 : 0, m + p);
}

/* A clique of m, and a path of p nodes at it. */
static void lollipop(struct builder *d, int64_t m, int64_t p)
{
    builder_graph(d, m + p);
    clique(d, 0, m);
    path(d, 0, m, p);
}

/* A star of m leaves, and a path of p nodes at its centre. */
static void broom(struct builder *d, int64_t m, int64_t p)
{
    builder_graph(d, 1 + m + p);
    for (int64_t i = 1; i <= m; i++)
        builder_edge(d, 0, i);
    path(d, 0, m + 1, p);
}

/* A node at which m paths of p nodes begin. */
static void spider(struct builder *d, int64_t m, int64_t p)
{
    builder_graph(d, 1 + m * p);
    for (int64_t i = 0; i < m; i++)
        path(d, 0, 1 + i * p, p);
}

/* A ring of p cliques of m. */
static void cliques(struct builder *d, int64_t m, int64_t p)
{
    builder_graph(d, m * p);
    for (int64_t c = 0; c < p; c++) {
        clique(d, c * m, m);
        builder_edge(d, c * m, (c + 1) % p * m + 1);
    }
}

/* A path of p nodes with m leaves each. */
static void stars(struct builder *d, int64_t m, int64_t p)
{
    builder_graph(d, p);
    path(d, 0, 1, p - 1);
    d->offset[1] += m * p;
    for (int64_t c = 0; c < p; c++)
        for (int64_t i = 0; i < m; i++)
            builder_edge(d, c, p + c * m + i);
}

struct shape {
    const char *name;
    void (*build)(struct builder *d, int64_t m, int64_t p);
    int64_t m, p;
    bool converges; /* the iterative solver, with both Laplacians */
};

static const struct shape shapes[] = {
    {"barbell", barbell, 30, 1, true},    {"barbell", barbell, 31, 7, true},
    {"barbell", barbell, 47, 3, false},   {"barbell", barbell, 64, 5, false},
    {"barbell", barbell, 130, 3, false},  {"lollipop", lollipop, 50, 2, true},
    {"lollipop", lollipop, 90, 2, false}, {"lollipop", lollipop, 130, 14, false},
    {"broom", broom, 60, 3, true},        {"broom", broom, 200, 40, true},
    {"spider", spider, 40, 2, true},      {"spider", spider, 16, 14, true},
    {"cliques", cliques, 11, 5, true},    {"cliques", cliques, 16, 14, true},
    {"stars", stars, 20, 3, true},        {"stars", stars, 14, 14, true},
};

/* Whether the solver has converged; its eigenvalues are then LAPACK's. */
static bool is_right(const struct shape *s, const struct batch *b, enum encoding_kind kind, int64_t k,
                     enum eigensolver solver)
{
    struct encoding f = lappe_of(b, kind, k, SOLVER_LAPACK, 1), e = lappe_of(b, kind, k, solver, 1);
    bool converged = e.excess <= 1;
    for (int64_t i = 0; i < k && converged; i++) {
        double ours = eigenvalue_at(&e, 0, i), truth = eigenvalue_at(&f, 0, i);
        if (fabs(ours - truth) > 1e-4 * truth + 1e-7)
            fail_msg("%s %d %d, %s:%d by %s: eigenvalue %d is %.9g, not %.9g", s->name, (int)s->m, (int)s->p,
                     encoding_name((int)kind), (int)k, e.method, (int)i, ours, truth);
    }
    encoding_free(&e);
    encoding_free(&f);
    return converged;
}

TEST(test_clusters)
{
    needs_lapack();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct shape *s = &shapes[i];
        struct builder d = {0};
        s->build(&d, s->m, s->p);
        struct batch b = builder_done(&d);
        for (int kind = ENCODING_LAP; kind <= ENCODING_LAP_PYG; kind++)
            for (int64_t k = 3; k <= 18; k += 5) {
                bool converged = is_right(s, &b, (enum encoding_kind)kind, k, SOLVER_ITERATIVE);
                if (!converged && s->converges && !SANITIZED) /* float sums in another order there */
                    fail_msg("%s %d %d, %s:%d: not converged", s->name, (int)s->m, (int)s->p,
                             encoding_name(kind), (int)k);
                assert_true(is_right(s, &b, (enum encoding_kind)kind, k, SOLVER_AUTO));
            }
        batch_free(&b);
    }
}
