/*
 * Laplacian encodings: closed forms, the residual rule, no eigenvalue left out, null spaces, signs, clusters,
 * batches, and what is refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/eigen.h"
#include "models/lappe.h"
#include "tests/batches.h"
#include "tests/graphs.h"
#include "tests/operands.h"
#include "tests/spectra.h"

static bool can(enum eigensolver s)
{
    return (s != SOLVER_LAPACK || dense_available()) && (s != SOLVER_ARPACK || arpack_available());
}

static struct encoding encode(const struct batch *b, enum encoding_kind kind, int64_t k, enum eigensolver s,
                              int threads)
{
    struct encoding_config c = {.kind = kind, .k = k, .solver = s};
    struct encoding e;
    char error[256];
    if (!lappe_compute(&c, b, threads, &e, error, sizeof error))
        fail_msg("%s:%d by %s: %s", encoding_name(kind), (int)k, eigensolver_name(s), error);
    return e;
}

static double value_at(const struct encoding *e, int64_t g, int64_t k)
{
    return mat_get(e->eigenvalues, g, k);
}

/* Right eigenvalues, or both 0. */
static bool same_value(double ours, double truth)
{
    return fabs(ours - truth) <= 1e-4 * truth + 1e-12;
}

static void expect_good(const struct encoding *e, const char *what)
{
    if (!(e->excess <= 1))
        fail_msg("%s by %s: residual %g, %g times what is allowed", what, e->method, e->residual, e->excess);
}

static void check_known(const struct known_graph *graph, int64_t n, int64_t k, enum encoding_kind kind,
                        enum eigensolver solver)
{
    bool normalised = kind == ENCODING_LAP_PYG;
    struct drawing d = {0};
    graph->draw(&d, n);
    struct batch b = drawing_done(&d);
    struct encoding e = encode(&b, kind, k, solver, 2);
    expect_good(&e, graph->name);
    assert_int_equal(e.pairs[0], k);
    assert_int_equal(e.nullity, !normalised);
    for (int64_t i = 0; i < k; i++) {
        double truth = graph->value(n, i + normalised, normalised);
        if (!same_value(value_at(&e, 0, i), truth))
            fail_msg("%s of %d nodes, %s by %s: eigenvalue %d is %.9g, not %.9g", graph->name, (int)n,
                     encoding_name(kind), e.method, (int)i, value_at(&e, 0, i), truth);
    }
    encoding_free(&e);
    batch_free(&b);
}

/* A single-vector Lanczos method such as ARPACK's may find fewer copies of an eigenvalue than there are. */
static bool resolves(enum eigensolver s, const struct known_graph *g)
{
    return can(s) && (s != SOLVER_ARPACK || g->simple);
}

static void test_closed_forms(void **state)
{
    (void)state;
    for (const struct known_graph *g = known_graphs; g->name; g++)
        for (enum eigensolver s = 0; s < SOLVER_KINDS; s++)
            for (int normalised = 0; normalised <= g->both && resolves(s, g); normalised++) {
                enum encoding_kind kind = normalised ? ENCODING_LAP_PYG : ENCODING_LAP;
                check_known(g, 17, 7, kind, s);
                check_known(g, 150, 12, kind, s);
                check_known(g, 300, 9, kind, s);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
