/*
 * The diagonal of the heat kernel: golden results on awkward graphs, the traces of graphs with known spectra,
 * both ways of computing it against each other, its cost, and its check.
 */
#include <math.h>

#include "models/encodings/bound.h"
#include "models/encodings/check.h"
#include "models/encodings/heat.h"
#include "tests/batches.h"
#include "tests/encodings.h"
#include "tests/golden.h"
#include "tests/graphs.h"
#include "tests/spectra.h"
#include "tests/test.h"

static const double LIMIT = 3e-7;

static struct encoding_config times(int64_t k, enum eigensolver s)
{
    return (struct encoding_config){.kind = ENCODING_HEAT, .k = k, .width = 16, .solver = s};
}

static struct encoding heat_of(const struct batch *b, int64_t k, enum eigensolver s, int threads)
{
    struct encoding_config c = times(k, s);
    struct encoding e;
    char error[256] = "";
    if (!heat_compute(&c, b, &(struct encoding_options){.threads = threads}, &e, error, sizeof error))
        fail_msg("%s", error);
    assert_int_equal(e.values.rows, b->adj.nodes);
    assert_int_equal(e.values.cols, k);
    return e;
}

/* The ways of this build. */
static enum eigensolver way(int i)
{
    return i ? SOLVER_LAPACK : SOLVER_ITERATIVE;
}

static int ways(void)
{
    return dense_available() ? 2 : 1;
}

static void assert_close(const struct encoding *e, int64_t i, int64_t t, double right, const char *what)
{
    double ours = mat_get(e->values, i, t);
    if (!(fabs(ours - right) <= LIMIT))
        fail_msg("%s by %s, node %d, time %d: %.9g, but it is %.9g", what, e->method, (int)i, (int)t + 1,
                 ours, right);
}

/* The batch with every edge in both directions; duplicates stay. */
static struct batch both_directions(const struct batch *from)
{
    struct batch b = {.graphs = from->graphs, .pairs = from->pairs, .symmetric = true};
    int64_t nodes = from->adj.nodes, edges = 0;
    uint64_t *edge = malloc((size_t)from->adj.edges * 2 * sizeof *edge);
    char error[128];
    b.offset = malloc((size_t)(b.graphs + 1) * sizeof *b.offset);
    assert_true(edge && b.offset);
    memcpy(b.offset, from->offset, (size_t)(b.graphs + 1) * sizeof *b.offset);
    for (int64_t i = 0; i < nodes; i++)
        for (int64_t e = from->adj.row_ptr[i]; e < from->adj.row_ptr[i + 1]; e++) {
            edge[edges++] = csr_edge(from->adj.col[e], i);
            edge[edges++] = csr_edge(i, from->adj.col[e]);
        }
    assert_true(csr_build(&b.adj, nodes, edge, edges, NEVER_CANCELLED, error, sizeof error));
    b.out = b.adj;
    free(edge);
    return b;
}

/* A graph of a single node, one without edges, loops, duplicates, isolated nodes and many components. */
TEST(test_golden)
{
    struct batch directed = golden_batch(), b = both_directions(&directed);
    struct mat right = golden_read("heat", "", "values");
    assert_int_equal(right.rows, GOLDEN_NODES);
    for (int w = 0; w < ways(); w++) {
        struct encoding e = heat_of(&b, right.cols, way(w), 2);
        assert_string_equal(e.method, w ? "lapack" : "chebyshev");
        for (int64_t i = 0; i < right.rows; i++)
            for (int64_t t = 0; t < right.cols; t++)
                assert_close(&e, i, t, mat_get(right, i, t), "golden");
        encoding_free(&e);
    }
    free(right.data);
    batch_free(&b);
    batch_free(&directed);
}

/* The sum over the nodes is that of exp(-t lambda) over the eigenvalues but the first. */
TEST(test_traces)
{
    enum { TIMES = 5 };
    (void)state;
    for (const struct known_graph *g = known_graphs; g->name; g++)
        for (int w = 0; w < ways(); w++) {
            struct builder d = {.room = 0};
            g->build(&d, 16);
            struct batch b = builder_done(&d);
            int64_t n = b.adj.nodes;
            struct encoding e = heat_of(&b, TIMES, way(w), 1);
            for (int64_t t = 0; t < TIMES; t++) {
                double ours = 0, right = 0;
                for (int64_t i = 0; i < n; i++)
                    ours += mat_get(e.values, i, t);
                for (int64_t k = 1; k < n; k++)
                    right += exp(-(double)(t + 1) * g->value(n, k, false));
                if (!(fabs(ours - right) <= (double)n * LIMIT))
                    fail_msg("%s by %s, time %d: %.9g, but it is %.9g", g->name, e.method, (int)t + 1, ours,
                             right);
            }
            encoding_free(&e);
            batch_free(&b);
        }
}

static void ways_agree(struct batch b, const char *what)
{
    struct encoding e = heat_of(&b, 16, SOLVER_ITERATIVE, 2), f = heat_of(&b, 16, SOLVER_LAPACK, 2);
    for (int64_t i = 0; i < b.adj.nodes; i++)
        for (int64_t t = 0; t < 16; t++)
            assert_close(&e, i, t, mat_get(f.values, i, t), what);
    encoding_free(&e);
    encoding_free(&f);
    batch_free(&b);
}

TEST(test_ways_agree)
{
    needs_lapack();
    ways_agree(graph_generated("er", 200, 5, 1, 3), "er");
    ways_agree(graph_generated("ba", 150, 5, 1, 3), "ba");
    ways_agree(graph_generated("rmat", 120, 5, 1, 3), "rmat");
    ways_agree(graph_generated("grid", 100, 5, 1, 3), "grid");
    ways_agree(graph_generated("er", 23, 4, 8, 3), "a batch");
}

/*
 * LAPACK for graphs with many edges, the expansion for those with few. LAPACK's nominal count for 60 nodes:
 * 4/3 n^3 for the tridiagonal form and 2 n^2 for each vector, their squares, and for each of 16 times a
 * product with these.
 */
TEST(test_choice)
{
    needs_lapack();
    struct batch full = graph_generated("er", 60, 59, 1, 3), sparse = graph_generated("er", 600, 5, 1, 3);
    struct encoding e = heat_of(&full, 16, SOLVER_AUTO, 1), f = heat_of(&sparse, 16, SOLVER_AUTO, 1);
    assert_string_equal(e.method, "lapack");
    assert_string_equal(e.flops_label, "nominal");
    assert_int_equal(e.cost.flops, 288000 + 432000 + 3600 + 16 * (2 * 3600 + 60));
    assert_string_equal(f.method, "chebyshev");
    assert_string_equal(f.flops_label, "executed ops");
    encoding_free(&e);
    encoding_free(&f);
    batch_free(&full);
    batch_free(&sparse);
}

TEST(test_any_number_of_threads)
{
    struct batch b = graph_generated("ba", 200, 5, 1, 3);
    struct encoding one = heat_of(&b, 9, SOLVER_ITERATIVE, 1);
    for (int threads = 2; threads <= 3; threads++) {
        struct encoding many = heat_of(&b, 9, SOLVER_ITERATIVE, threads);
        assert_memory_equal(one.values.data, many.values.data, (size_t)mat_bytes(one.values));
        assert_int_equal(one.cost.flops, many.cost.flops);
        encoding_free(&many);
    }
    encoding_free(&one);
    batch_free(&b);
}

/* Two nodes and an edge: a step has 2 edges and 10 FLOPs for both nodes, the first 8, and 4 + 4 K more. */
TEST(test_what_it_cost)
{
    enum { TIMES = 4 };
    (void)state;
    struct builder d = {.room = 0};
    builder_graph(&d, 2);
    builder_edge(&d, 0, 1);
    struct batch b = builder_done(&d);
    int64_t steps = heat_steps(TIMES, 2);
    for (int w = 0; w < ways(); w++) {
        struct encoding_config c = times(TIMES, way(w));
        struct encoding e = heat_of(&b, TIMES, way(w), 1);
        struct encoding_bound bound = encoding_bound(&c, &b, 1);
        for (int64_t t = 0; t < TIMES; t++)
            assert_close(&e, 1, t, exp(-2 * (double)(t + 1)) / 2, "two nodes");
        if (w == 0)
            assert_int_equal(e.cost.flops, 2 * (steps * (2 + 10 * 2 + 4 + 4 * TIMES) - 2 * 2));
        assert_true(e.cost.flops > 0 && e.cost.flops <= bound.flops);
        assert_true(e.cost.bytes > 0 && e.cost.bytes <= bound.bytes);
        assert_true(e.peak >= encoding_storage(&c, &b) && e.peak <= bound.peak);
        assert_null(e.pairs);
        encoding_free(&e);
    }
    batch_free(&b);
}

static struct encoding_check checked(const struct encoding *e, const struct batch *b)
{
    struct encoding_config c = times(e->values.cols, SOLVER_AUTO);
    return encoding_check(&c, b, e, &(struct encoding_check_options){.seed = 1, .threads = 2, .flops = 1e9});
}

/* One entry of 64 nodes that is too large by twice what is allowed. */
TEST(test_check)
{
    static const char *const families[] = {"er", "ba", "grid", "rmat"};
    (void)state;
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        struct batch b = graph_generated(families[f], 64, 5, 1, 3);
        struct encoding e = heat_of(&b, 6, SOLVER_ITERATIVE, 1);
        struct encoding_check c = checked(&e, &b);
        assert_string_equal(c.wrong, "");
        assert_string_equal(c.how, "64 nodes by uniformisation in double");
        mat_set(e.values, 7, 5, mat_get(e.values, 7, 5) * (1 + 2e-5) + 8e-7);
        c = checked(&e, &b);
        assert_non_null(strstr(c.wrong, "heat: node 7, time 6: "));
        encoding_free(&e);
        batch_free(&b);
    }
}

static bool at_once(const void *context)
{
    (void)context;
    return true;
}

TEST(test_refusals)
{
    struct batch directed = batch_awkward(), b = batch_er(20, 1);
    struct encoding_config c = times(4, SOLVER_AUTO);
    struct encoding e;
    char error[256];
    assert_false(
        heat_compute(&c, &directed, &(struct encoding_options){.threads = 1}, &e, error, sizeof error));
    assert_non_null(strstr(error, "the Laplacian needs an undirected graph"));
    for (int w = 0; w < ways(); w++) {
        c.solver = way(w);
        struct encoding_options stopped = {.threads = 1, .cancel = {at_once, NULL}};
        assert_false(heat_compute(&c, &b, &stopped, &e, error, sizeof error));
        assert_true(e.cancelled);
    }
    batch_free(&directed);
    batch_free(&b);
}
