/*
 * Attention over edges that have rows of their own, as in Exphormer: values computed by hand, scores exactly
 * at the clamp, an edge whose weight shows eps.
 */
#include <math.h>

#include "kernels/arithmetic.h"
#include "kernels/backend.h"
#include "tests/test.h"

enum { MOST = 64, BLOCKS = 16 };

/* The operands of both ops on one graph: all edges go to node 0, edge e comes from node e. */
struct edge_case {
    int64_t nodes, d;
    int heads;
    double q[MOST], k[MOST], c[MOST], v[MOST], dy[MOST];
};

struct results {
    double y[MOST], lse[MOST], dq[MOST], dk[MOST], dv[MOST], dc[MOST];
};

struct memory {
    int64_t row[MOST], out_row[MOST];
    int32_t col[MOST], number[MOST];
    double blocks[BLOCKS][MOST], scratch[1 << 18];
    int used;
};

static struct mat matrix(struct memory *m, enum dtype dtype, int64_t rows, int64_t cols, const double *from)
{
    assert_true(m->used < BLOCKS && rows * cols <= MOST);
    struct mat x = {.data = m->blocks[m->used++], .rows = rows, .cols = cols, .ld = cols, .dtype = dtype};
    for (int64_t i = 0; i < rows && from; i++)
        for (int64_t k = 0; k < cols; k++)
            mat_set(x, i, k, from[i * cols + k]);
    return x;
}

static struct mat whole(void *data, enum dtype dtype, int64_t rows)
{
    return (struct mat){.data = data, .rows = rows, .cols = 1, .ld = 1, .dtype = dtype};
}

/* In both directions; each node sends one edge, and all but the first receive none. */
static struct edges star(struct memory *m, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        m->row[i + 1] = n;
        m->out_row[i + 1] = i + 1;
        m->col[i] = m->number[i] = (int32_t)i;
    }
    static int32_t zeros[MOST];
    return (struct edges){.row = whole(m->row, I64, n + 1),
                          .most = n,
                          .col = whole(m->col, I32, n),
                          .out_row = whole(m->out_row, I64, n + 1),
                          .out_most = 1,
                          .out_col = whole(zeros, I32, n),
                          .out_edge = whole(m->number, I32, n)};
}

static void run(const struct backend *b, enum op op, enum dtype dtype, void *args, struct memory *m)
{
    const struct kernel *k = backend_kernel(b, op, dtype, NULL);
    struct call *call = args;
    *call = (struct call){.kernel = k, .threads = 2, .eager = true};
    assert_true(!k->scratch || k->scratch(args) <= (int64_t)sizeof m->scratch - 64);
    call->scratch = (char *)m->scratch + (64 - (uintptr_t)m->scratch % 64) % 64;
    k->run(args);
}

static void take(struct mat from, double *to)
{
    for (int64_t i = 0; i < from.rows; i++)
        for (int64_t k = 0; k < from.cols; k++)
            to[i * from.cols + k] = mat_get(from, i, k);
}

static struct results results_of(const struct edge_case *s, const struct backend *b, enum dtype dtype)
{
    static struct memory memory;
    struct memory *m = &memory;
    *m = (struct memory){0};
    int64_t n = s->nodes, d = s->d;
    struct results r;
    struct sparse_attention_args f = {.y = matrix(m, dtype, n, d, NULL),
                                      .lse = matrix(m, F64, n, s->heads, NULL),
                                      .q = matrix(m, dtype, n, d, s->q),
                                      .k = matrix(m, dtype, n, d, s->k),
                                      .v = matrix(m, dtype, n, d, s->v),
                                      .c = matrix(m, dtype, n, d, s->c),
                                      .adj = star(m, n),
                                      .heads = s->heads,
                                      .clamp = 5,
                                      .eps = 1e-6};
    run(b, OP_sparse_attention, dtype, &f, m);
    struct sparse_attention_backward_args g = {.dq = matrix(m, dtype, n, d, NULL),
                                               .dk = matrix(m, dtype, n, d, NULL),
                                               .dv = matrix(m, dtype, n, d, NULL),
                                               .dc = matrix(m, dtype, n, d, NULL),
                                               .dy = matrix(m, dtype, n, d, s->dy),
                                               .y = f.y,
                                               .q = f.q,
                                               .k = f.k,
                                               .v = f.v,
                                               .c = f.c,
                                               .lse = f.lse,
                                               .adj = f.adj,
                                               .heads = s->heads,
                                               .clamp = 5};
    run(b, OP_sparse_attention_backward, dtype, &g, m);
    take(f.y, r.y), take(f.lse, r.lse);
    take(g.dq, r.dq), take(g.dk, r.dk), take(g.dv, r.dv), take(g.dc, r.dc);
    return r;
}

/* By the reference in double, then in float, then by every instruction set. */
typedef void expect(const struct edge_case *s, const struct results *r, double error);

static void everywhere(const struct edge_case *s, expect *holds)
{
    struct results r = results_of(s, &backend_ref, F64);
    holds(s, &r, 1e-9);
    r = results_of(s, &backend_ref, F32);
    holds(s, &r, 2e-6);
    for (const struct backend *const *b = backend_cpu_all(); *b; b++) {
        r = results_of(s, *b, F32);
        holds(s, &r, 2e-6);
    }
}

static void expect_by_hand(const struct edge_case *s, const struct results *r, double error)
{
    assert_true(fabs(r->y[0] - 0.0273443786) < error && fabs(r->y[1] - 0.9730429763) < error);
    for (int64_t u = s->d; u < s->nodes * s->d; u++) /* nodes without edges */
        assert_true(r->y[u] == 0 && r->lse[u / s->d] == 0 && r->dq[u] == 0);
    assert_true(r->dk[2] == 0 && r->dk[3] == 0 && r->dc[2] == 0 && r->dc[3] == 0); /* 10 / sqrt(2) > 5 */
    assert_true(r->dv[2] != 0 && r->dk[0] != 0 && r->dc[4] != 0 && r->dk[4] != 0);
}

TEST(test_values_by_hand)
{
    const struct edge_case s = {3,
                                2,
                                1,
                                .q = {1, 2, 9, 9, 9, 9},
                                .k = {1, 1, 3, 2, -4, 0},
                                .c = {1, 0.5, 2, 1, 1, 1},
                                .v = {1, 0, 0, 1, 1, 1},
                                .dy = {1, 2, 9, 9, 9, 9}};
    everywhere(&s, expect_by_hand);
}

/* exp(-5) / (exp(-5) + 1e-6), by which its value is weighted. */
static void expect_eps(const struct edge_case *s, const struct results *r, double error)
{
    (void)s;
    assert_true(fabs(r->y[0] - 0.99985161) < 5e-9 + error);
    assert_true(fabs(r->lse[0] - log(exp(-5) + 1e-6)) < 5 * error);
    assert_true(r->dq[0] == 0 && r->dk[0] == 0 && r->dc[0] == 0 && fabs(r->dv[0] - r->y[0]) < error);
}

TEST(test_one_edge_of_one_node)
{
    const struct edge_case s = {1, 1, 1, .q = {3}, .k = {-3}, .c = {1}, .v = {1}, .dy = {1}};
    everywhere(&s, expect_eps);
}

/* Of the last edge before the clamp at either side, exactly at it, the gradient passes; beyond it, none. */
static void expect_ties(const struct edge_case *s, const struct results *r, double error)
{
    (void)error;
    for (int64_t i = 0; i < s->nodes; i++)
        for (int64_t u = i * s->d; u < (i + 1) * s->d; u += s->d / s->heads) {
            assert_true((r->dk[u] != 0) == (i < 2) && (r->dc[u] != 0) == (i < 2));
            assert_true(r->dv[u] > 0);
        }
}

/* The scores are 5, -5, and the floats beyond these; scale is a power of 2. */
static struct edge_case ties(int heads, int width)
{
    const double scores[] = {5, -5, nextafterf(5, 9), -nextafterf(5, 9)};
    struct edge_case s = {.nodes = 4, .d = heads * width, .heads = heads};
    for (int64_t i = 0; i < 4; i++)
        for (int64_t u = i * s.d, at = 0; at < s.d; at++, u++) {
            s.q[u] = sqrt(width);
            s.k[u] = at % width == 0 ? scores[i] : 0;
            s.c[u] = 1;
            s.v[u] = 1 + (double)(i % 3);
            s.dy[u] = 1;
        }
    return s;
}

TEST(test_ties_of_the_clamp)
{
    struct edge_case narrow = ties(1, 1), heads = ties(4, 4), wide = ties(1, 16);
    everywhere(&narrow, expect_ties);
    everywhere(&heads, expect_ties);
    everywhere(&wide, expect_ties);
}
