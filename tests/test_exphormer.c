/*
 * Exphormer: attention over edges that have rows of their own, with values computed by hand, scores exactly
 * at the clamp, and an edge whose weight shows eps; expanders and global nodes; rows; refusals.
 */
#include <math.h>

#include "kernels/backend.h"
#include "models/encodings/check.h"
#include "models/encodings/compute.h"
#include "tests/batches.h"
#include "tests/encodings.h"
#include "tests/records.h"
#include "tests/refusals.h"
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

/* --- expanders */

static struct encoding expander_of(const struct batch *b, struct encoding_config c, int threads,
                                   int64_t draws)
{
    struct encoding_options with = {.threads = threads, .draws = draws};
    struct encoding e;
    char error[128] = "";
    if (!encoding_compute(&c, b, &with, &e, error, sizeof error))
        fail_msg("%s", error);
    return e;
}

/* The second eigenvalue of each graph's expander, by itself. */
static void second_eigenvalues(const struct batch *b, const struct encoding *e, double *value)
{
    const struct csr *all = &e->expanded.adj;
    const int64_t *factor = e->factor.data;
    struct batch drawn = {.graphs = b->graphs, .offset = b->offset, .symmetric = true};
    uint64_t *edge = malloc((size_t)all->edges * sizeof *edge);
    int64_t count = 0;
    char error[128];
    assert_non_null(edge);
    for (int64_t i = 0; i < b->adj.nodes; i++)
        for (int64_t at = all->row_ptr[i]; at < all->row_ptr[i + 1]; at++)
            if (factor[at] == b->adj.edges)
                edge[count++] = csr_edge(all->col[at], i);
    assert_true(csr_build(&drawn.adj, b->adj.nodes, edge, count, NEVER_CANCELLED, error, sizeof error));
    drawn.out = drawn.adj;
    struct encoding pairs = lappe_of(&drawn, ENCODING_LAP, 2, SOLVER_AUTO, 1);
    for (int64_t g = 0; g < b->graphs; g++)
        value[g] = eigenvalue_at(&pairs, g, 1);
    encoding_free(&pairs);
    csr_free(&drawn.adj);
    free(edge);
}

/* The circulant graph of differences 1 and 2: 4 - 2 cos(2 pi / 11) - 2 cos(4 pi / 11). */
TEST(test_second_eigenvalue_of_a_circulant_graph)
{
    needs_lapack();
    uint64_t edge[44];
    char error[128];
    int count = 0;
    for (int i = 0; i < 11; i++)
        for (int step = 1; step <= 2; step++) {
            edge[count++] = csr_edge(i, (i + step) % 11);
            edge[count++] = csr_edge((i + step) % 11, i);
        }
    int64_t offset[] = {0, 11};
    struct batch b = {.graphs = 1, .offset = offset, .symmetric = true};
    assert_true(csr_build(&b.adj, 11, edge, count, NEVER_CANCELLED, error, sizeof error));
    b.out = b.adj;
    struct encoding e = lappe_of(&b, ENCODING_LAP, 2, SOLVER_AUTO, 1);
    assert_true(fabs(eigenvalue_at(&e, 0, 1) - 1.4866629083) < 1e-6);
    encoding_free(&e);
    csr_free(&b.adj);
}

/* Of 60 graphs of 20 nodes and three permutations, about 10 are below the bound when they are drawn once. */
TEST(test_expanders_are_drawn_until_their_eigenvalue_suffices)
{
    needs_lapack();
    const struct encoding_config c = {.expander = 3, .seed = 1};
    struct batch b = batch_er(20, 60);
    struct encoding once = expander_of(&b, c, 1, 1), e = expander_of(&b, c, 1, 0);
    double first[60], value[60];
    int64_t below = 0;
    second_eigenvalues(&b, &once, first);
    second_eigenvalues(&b, &e, value);
    for (int g = 0; g < 60; g++) {
        below += first[g] < 1.4278640;
        assert_true(value[g] > 1.4278640 - 1e-6);
        assert_true(first[g] < 1.4278640 - 1e-6 || value[g] == first[g]); /* drawn no more */
    }
    assert_between(below, 4, 18);
    assert_int_equal(once.poor, below);
    assert_int_equal(e.poor, 0);
    encoding_free(&once);
    encoding_free(&e);
    batch_free(&b);
}

/* Edges from j to i with a factor from `first` on to `end` - 1. */
static int64_t edges_between(const struct encoding *e, int64_t j, int64_t i, int64_t first, int64_t end)
{
    const struct csr *all = &e->expanded.adj;
    const int64_t *factor = e->factor.data;
    int64_t count = 0;
    for (int64_t at = all->row_ptr[i]; at < all->row_ptr[i + 1]; at++)
        count += all->col[at] == j && factor[at] >= first && factor[at] < end;
    return count;
}

/* Graphs of 7, 1, 4, 12 and 3 nodes, of which only the fourth is not complete. */
TEST(test_edges_of_unequal_graphs)
{
    needs_lapack();
    enum { R = 2, V = 2 };
    struct batch b = batch_awkward();
    struct encoding e = expander_of(&b, (struct encoding_config){.expander = R, .globals = V}, 1, 0);
    int64_t n = b.adj.nodes, edges = b.adj.edges;
    assert_int_equal(e.expanded.adj.nodes, n + V * b.graphs);
    for (int64_t g = 0; g < b.graphs; g++)
        for (int64_t i = b.offset[g], size = b.offset[g + 1] - i; i < b.offset[g + 1]; i++) {
            int64_t drawn = 0;
            for (int64_t j = 0; j < n; j++) {
                int64_t count = edges_between(&e, j, i, edges, edges + 1);
                assert_int_equal(count, edges_between(&e, i, j, edges, edges + 1));
                assert_true(size > 10 || count == (j != i && j >= b.offset[g] && j < b.offset[g + 1]));
                drawn += count;
            }
            assert_int_equal(drawn, size > 10 ? 2 * R : size - 1);
            for (int64_t v = 0; v < V; v++)
                for (int64_t h = 0; h < b.graphs; h++) {
                    int64_t node = n + v * b.graphs + h, to = edges + 1 + v, from = to + V;
                    assert_int_equal(edges_between(&e, i, node, to, to + 1), h == g);
                    assert_int_equal(edges_between(&e, node, i, from, from + 1), h == g);
                }
        }
    encoding_free(&e);
    batch_free(&b);
}

TEST(test_draws_depend_on_the_seed_alone)
{
    needs_lapack();
    struct encoding_config c = {.expander = 3, .globals = 1, .seed = 5};
    struct batch b = batch_er(40, 3);
    struct encoding one = expander_of(&b, c, 1, 0), two = expander_of(&b, c, 2, 0);
    c.seed = 6;
    struct encoding other = expander_of(&b, c, 1, 0);
    assert_true(csr_equal(&one.expanded.adj, &two.expanded.adj));
    assert_false(csr_equal(&one.expanded.adj, &other.expanded.adj));
    encoding_free(&one);
    encoding_free(&two);
    encoding_free(&other);
    batch_free(&b);
}

/* The check of benchmarks notices an edge of another node, and one of another kind. */
TEST(test_wrong_edges_are_noticed)
{
    needs_lapack();
    const struct encoding_config c = {.expander = 2, .globals = 1};
    const struct encoding_check_options o = {.threads = 1};
    struct batch b = batch_er(30, 2);
    struct encoding e = expander_of(&b, c, 1, 0);
    int64_t *factor = e.factor.data;
    assert_string_equal(encoding_check(&c, &b, &e, &o).wrong, "");
    for (int64_t at = 0; at < e.factor.rows; at += 7) {
        int64_t before = factor[at];
        factor[at] = before == b.adj.edges ? b.adj.edges + 1 : b.adj.edges;
        assert_string_not_equal(encoding_check(&c, &b, &e, &o).wrong, "");
        factor[at] = before;
    }
    encoding_free(&e);
    batch_free(&b);
}

#define TINY                                                                                                 \
    "--nodes 50 --hidden 16 --heads 2 --layers 2 --runs 2 --repetitions 1 --warmup 0 --threads 1 --output "  \
    "x.json --attention exphormer "

TEST(test_rows)
{
    static const char *const words[] = {"--expander 3:1 --mpnn gatedgcn --norm batch",
                                        "--expander 3 --pe rwse:4:8 --batch 3 --dropout 0.2 --mpnn gcn",
                                        "--expander 2:2 --precision bf16 --mpnn gine --task node --batch 5",
                                        "--expander 3:1 --checkpoint layer --precision tf32",
                                        "--expander 3:1 --nodes 1",
                                        "--expander 3 --nodes 1 --degree 0",
                                        "--degree 0",
                                        ""};
    needs_lapack();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char all[400];
        snprintf(all, sizeof all, TINY "%s", words[i]);
        struct record *record =
            run_json(*state, strstr(words[i], "--nodes") ? strstr(all, "--hidden") : all, 0);
        const struct row *row = row_at(record, 0);
        assert_string_equal(text_at(row, "status"), "ok");
        assert_string_not_equal(text_at(row, "checked"), "none");
        assert_int_equal(count_at(row, "step.flops.counted"), count_at(row, "step.flops.analytic"));
        record_free(record);
    }
}

TEST(test_resident_is_planned)
{
    needs_lapack();
    expect_resident_step(*state, "--preset exphormer-cifar10 --batch 16 --layers 2");
}

TEST(test_refusals)
{
    static const char *const bad[] = {"0", "65", "3:0", "3:65", "-1", "3:", "3:1:1", "x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char names[64];
        snprintf(names, sizeof names, "--expander %s", bad[i]);
        refuses(*state, "--attention exphormer", MORE("--expander", bad[i]), names, "5:1");
    }
    refuses(*state, "--expander 3", NULL, "--expander 3", "an expander needs exphormer attention");
    refuses(*state, "--attention sparse --expander 3", NULL, "--attention sparse",
            "an expander needs exphormer attention");
    refuses(*state, "--attention exphormer --attention-dropout 0.1", NULL, "--attention exphormer",
            "exphormer attention has no dropout of its own");
    refuses(*state, "--attention exphormer --expander 3 --nodes 100M --degree 20", NULL,
            "--expander 3 --nodes 100000000", "2600000000 edges with those of the graph; at most 2147483647");
    refuses(*state, "--attention exphormer --expander 3 --batch 4 --ranks 2 --device meta", NULL, "--ranks 2",
            "--expander");
    refuses(*state, "--attention exphormer --expander 3 --batching padded", NULL, "--batching padded", NULL);
}

GROUP("tests", house_setup, house_teardown)
