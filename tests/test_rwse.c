/*
 * RWSE: closed forms for graphs whose walks can be counted by hand, dense powers in double for random graphs,
 * half powers against full ones, batches against their graphs, and the reported costs.
 */
#include <math.h>

#include "kernels/backend.h"
#include "models/encodings/rwse.h"
#include "tests/batches.h"
#include "tests/sanitized.h"
#include "tests/test.h"

/* --- graphs, by their edges */

enum { EDGES_MAX = 20000 };

struct edge_buffer {
    uint64_t edge[EDGES_MAX];
    int64_t count;
};

static void directed(struct edge_buffer *l, int64_t from, int64_t to)
{
    assert_true(l->count < EDGES_MAX);
    l->edge[l->count++] = csr_edge(from, to);
}

static void undirected(struct edge_buffer *l, int64_t i, int64_t j)
{
    directed(l, i, j);
    directed(l, j, i);
}

/* One graph with these edges, which are sorted in place. */
static struct batch batch_of(struct edge_buffer *l, int64_t nodes)
{
    struct batch b = {.graphs = 1, .pairs = nodes * nodes, .offset = calloc(2, sizeof *b.offset)};
    char error[128];
    assert_non_null(b.offset);
    b.offset[1] = nodes;
    assert_true(csr_build(&b.adj, nodes, l->edge, l->count, NEVER_CANCELLED, error, sizeof error));
    assert_true(csr_transpose(&b.out, &b.adj, NEVER_CANCELLED, error, sizeof error));
    b.symmetric = csr_equal(&b.adj, &b.out);
    return b;
}

static struct encoding_config walks(int64_t k)
{
    return (struct encoding_config){.kind = ENCODING_RWSE, .k = k, .width = 16};
}

static struct encoding computed(const struct batch *b, int64_t k, int threads)
{
    struct encoding_config c = walks(k);
    struct encoding e;
    char error[128];
    assert_true(rwse_compute(&c, b, &(struct encoding_options){.threads = threads}, &e, error, sizeof error));
    assert_int_equal(e.values.rows, b->adj.nodes);
    assert_int_equal(e.values.cols, k);
    assert_int_equal(e.values.ld, k);
    return e;
}

static double value(const struct encoding *e, int64_t i, int64_t k)
{
    return (double)((const float *)e->values.data)[i * e->values.ld + k - 1];
}

/* Relative to the true value. Without fused multiply-adds, as in the baseline of x86-64 and in sanitizers'
 * builds, each product is rounded too. */
static double allowed(int64_t steps)
{
    bool fused =
        !SANITIZED && backend_cpu_all()[1]; /* a better set than the baseline, which is the last one */
    if (steps <= 50)
        return fused ? 1e-6 : 2e-6;
    return fused ? 4e-6 : 1e-5;
}

/* Exactly 0 where the true value is 0. */
static void assert_close(double ours, double right, const char *what, int64_t i, int64_t k)
{
    if (!(fabs(ours - right) <= allowed(k) * right))
        fail_msg("%s, node %d, step %d: %.9g, but it is %.9g", what, (int)i, (int)k, ours, right);
}

/* --- closed forms */

/* The probability of being back at node i of n after k steps. */
typedef double closed_form(int64_t n, int64_t i, int64_t k);

struct family {
    const char *name;
    void (*build)(struct edge_buffer *l, int64_t n);
    closed_form *right;
};

static void build_cycle(struct edge_buffer *l, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        undirected(l, i, (i + 1) % n);
}

/* Eigenvalues cos(2 pi j / n); all eigenvectors have the same magnitude at each node. */
static double right_cycle(int64_t n, int64_t i, int64_t k)
{
    double sum = 0;
    (void)i;
    for (int64_t j = 0; j < n; j++)
        sum += pow(cos(2 * M_PI * (double)j / (double)n), (double)k);
    return sum < 1e-9 ? 0 : sum / (double)n;
}

static void build_path(struct edge_buffer *l, int64_t n)
{
    for (int64_t i = 0; i + 1 < n; i++)
        undirected(l, i, i + 1);
}

/*
 * Eigenvalues cos(pi j / (n - 1)); the vectors of S are the cosines of the positions, divided by sqrt(2) at
 * both ends.
 */
static double right_path(int64_t n, int64_t i, int64_t k)
{
    double sum = 0, m = (double)(n - 1);
    for (int64_t j = 0; j < n; j++) {
        double weight = (j == 0 || j == n - 1 ? 1 : 2) / m;
        double at = cos(M_PI * (double)(i * j) / m);
        sum +=
            weight * at * at * (i == 0 || i == n - 1 ? 0.5 : 1) * pow(cos(M_PI * (double)j / m), (double)k);
    }
    return fabs(sum) < 1e-9 ? 0 : sum;
}

static void build_complete(struct edge_buffer *l, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++)
            undirected(l, i, j);
}

/* Eigenvalues 1 and, n - 1 times, -1 / (n - 1). */
static double right_complete(int64_t n, int64_t i, int64_t k)
{
    (void)i;
    double m = (double)n - 1, sum = 1 + m * pow(-1 / m, (double)k);
    return k == 1 ? 0 : sum / (double)n;
}

/* Sides of 3 and n - 3 nodes. */
static void build_bipartite(struct edge_buffer *l, int64_t n)
{
    for (int64_t i = 0; i < 3; i++)
        for (int64_t j = 3; j < n; j++)
            undirected(l, i, j);
}

static double right_bipartite(int64_t n, int64_t i, int64_t k)
{
    return k % 2 ? 0 : i < 3 ? 1.0 / 3 : 1 / (double)(n - 3);
}

/* Node 0 is the centre. */
static void build_star(struct edge_buffer *l, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        undirected(l, 0, i);
}

static double right_star(int64_t n, int64_t i, int64_t k)
{
    return k % 2 ? 0 : i == 0 ? 1 : 1 / (double)(n - 1);
}

static void build_nothing(struct edge_buffer *l, int64_t n)
{
    (void)l, (void)n;
}

static double right_nothing(int64_t n, int64_t i, int64_t k)
{
    (void)n, (void)i, (void)k;
    return 0;
}

/* A loop at each node and no other edges. */
static void build_loops(struct edge_buffer *l, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        directed(l, i, i);
}

static double right_loops(int64_t n, int64_t i, int64_t k)
{
    (void)n, (void)i, (void)k;
    return 1;
}

/* A directed cycle. */
static void build_ring(struct edge_buffer *l, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        directed(l, i, (i + 1) % n);
}

static double right_ring(int64_t n, int64_t i, int64_t k)
{
    (void)i;
    return k % n == 0;
}

static void test_closed_form(void **state)
{
    static const int64_t sizes[] = {4, 5, 9, 16, 17, 40, 61};
    static struct edge_buffer l;
    const struct family *f = *state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int64_t k = 1; k <= 21; k += 5) {
            l.count = 0;
            f->build(&l, sizes[s]);
            struct batch b = batch_of(&l, sizes[s]);
            struct encoding e = computed(&b, k, 2);
            assert_string_equal(e.method, f->build == build_ring ? "full powers" : "half powers");
            for (int64_t i = 0; i < sizes[s]; i++)
                for (int64_t step = 1; step <= k; step++)
                    assert_close(value(&e, i, step), f->right(sizes[s], i, step), f->name, i, step);
            encoding_free(&e);
            batch_free(&b);
        }
}

/* --- dense powers in double */

/* right[k - 1] = diag(P^k). */
static void dense_powers(const struct batch *b, int64_t steps, double *right)
{
    int64_t n = b->adj.nodes;
    double *p = calloc((size_t)(n * n), sizeof *p), *power = calloc((size_t)(n * n), sizeof *power),
           *next = calloc((size_t)(n * n), sizeof *next);
    assert_true(p && power && next);
    for (int64_t i = 0; i < n; i++) {
        int64_t first = b->out.row_ptr[i], end = b->out.row_ptr[i + 1];
        for (int64_t e = first; e < end; e++)
            p[i * n + b->out.col[e]] += 1 / (double)(end - first);
        power[i * n + i] = 1;
    }
    for (int64_t k = 0; k < steps; k++) {
        memset(next, 0, (size_t)(n * n) * sizeof *next);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                for (int64_t m = 0; p[i * n + j] != 0 && m < n; m++)
                    next[i * n + m] += p[i * n + j] * power[j * n + m];
        for (int64_t i = 0; i < n; i++)
            right[k * n + i] = next[i * n + i];
        double *old = power;
        power = next;
        next = old;
    }
    free(p);
    free(power);
    free(next);
}

static void agrees_with_dense(struct batch b, const char *name)
{
    enum { STEPS = 19 };
    int64_t n = b.adj.nodes;
    double *right = malloc((size_t)(STEPS * n) * sizeof *right);
    assert_non_null(right);
    dense_powers(&b, STEPS, right);
    for (int64_t k = 1; k <= STEPS; k += k < 3 ? 1 : 8) {
        struct encoding e = computed(&b, k, 2);
        for (int64_t i = 0; i < n; i++)
            for (int64_t step = 1; step <= k; step++)
                assert_close(value(&e, i, step), right[(step - 1) * n + i], name, i, step);
        encoding_free(&e);
    }
    free(right);
    batch_free(&b);
}

static struct batch family_of(const char *family, int64_t nodes, int64_t graphs)
{
    struct graph_config c = {.family = family, .nodes = nodes, .degree = 5, .graphs = graphs, .seed = 3};
    struct batch b;
    char error[128];
    assert_true(batch_generate(&b, &c, error, sizeof error));
    return b;
}

static void test_dense_powers(void **state)
{
    (void)state;
    agrees_with_dense(family_of("er", 100, 1), "er");
    agrees_with_dense(family_of("grid", 100, 1), "grid");
    agrees_with_dense(family_of("ba", 150, 1), "ba");
    agrees_with_dense(family_of("rmat", 90, 1), "rmat"); /* duplicates and hubs */
    agrees_with_dense(family_of("er", 20, 5), "a batch");
    agrees_with_dense(batch_awkward(), "directed, with loops, duplicates and nodes that send nothing");
}

/* Each node sends to three others. */
static struct batch directed_random(void)
{
    static struct edge_buffer l;
    l.count = 0;
    for (int64_t i = 0; i < 100; i++)
        for (int64_t k = 1; k <= 3; k++)
            directed(&l, i, (i + k * k) % 100);
    return batch_of(&l, 100);
}

/* Rounding errors of float add up over the steps. */
static void test_many_steps(void **state)
{
    enum { STEPS = 300, FAMILIES = 4 };
    (void)state;
    static const char *const families[] = {"er", "grid", "ba", "regular"};
    double most[2] = {0};
    for (size_t f = 0; f <= FAMILIES; f++) {
        struct batch b = f < FAMILIES ? family_of(families[f], 100, 1) : directed_random();
        int64_t n = b.adj.nodes;
        double *right = malloc((size_t)(STEPS * n) * sizeof *right);
        assert_non_null(right);
        dense_powers(&b, STEPS, right);
        struct encoding e = computed(&b, STEPS, 1);
        for (int64_t step = 1; step <= STEPS; step++)
            for (int64_t i = 0; i < n; i++) {
                double truth = right[(step - 1) * n + i], off = fabs(value(&e, i, step) - truth);
                if (truth > 1e-30)
                    most[step > 50] = fmax(most[step > 50], off / truth);
            }
        encoding_free(&e);
        free(right);
        batch_free(&b);
    }
    assert_true(most[0] < allowed(50));
    assert_true(most[1] < allowed(STEPS));
}

/* --- properties */

/* A symmetric graph marked as directed, for full powers. */
static void test_half_powers_are_full_ones(void **state)
{
    (void)state;
    struct batch b = family_of("ba", 300, 1);
    struct encoding half = computed(&b, 20, 2);
    b.symmetric = false;
    struct encoding full = computed(&b, 20, 2);
    assert_string_equal(full.method, "full powers");
    for (int64_t i = 0; i < 300; i++)
        for (int64_t k = 1; k <= 20; k++)
            assert_close(value(&full, i, k), value(&half, i, k), "full powers", i, k);
    assert_true(half.cost.flops < full.cost.flops);
    encoding_free(&half);
    encoding_free(&full);
    batch_free(&b);
}

static void test_any_number_of_threads(void **state)
{
    (void)state;
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        struct batch b = family_of("er", 500, 1);
        b.symmetric = symmetric;
        struct encoding one = computed(&b, 9, 1);
        for (int threads = 2; threads <= 4; threads++) {
            struct encoding many = computed(&b, 9, threads);
            assert_memory_equal(one.values.data, many.values.data, (size_t)mat_bytes(one.values));
            assert_int_equal(one.cost.flops, many.cost.flops);
            encoding_free(&many);
        }
        encoding_free(&one);
        batch_free(&b);
    }
}

/* The graphs of a batch do not affect each other. */
static void test_batch_is_its_graphs(void **state)
{
    (void)state;
    struct batch b = family_of("er", 23, 8);
    struct encoding all = computed(&b, 16, 2);
    for (int64_t g = 0; g < b.graphs; g++) {
        static struct edge_buffer l;
        l.count = 0;
        for (int64_t i = b.offset[g]; i < b.offset[g + 1]; i++)
            for (int64_t e = b.adj.row_ptr[i]; e < b.adj.row_ptr[i + 1]; e++)
                directed(&l, b.adj.col[e] - b.offset[g], i - b.offset[g]);
        struct batch alone = batch_of(&l, b.offset[g + 1] - b.offset[g]);
        struct encoding own = computed(&alone, 16, 2);
        for (int64_t i = 0; i < alone.adj.nodes; i++)
            for (int64_t k = 1; k <= 16; k++)
                assert_close(value(&all, b.offset[g] + i, k), value(&own, i, k), "a batch", i, k);
        encoding_free(&own);
        batch_free(&alone);
    }
    encoding_free(&all);
    batch_free(&b);
}

/* Permuted labels give the same walks; and far fewer nodes are visited than in a graph of small diameter. */
static void test_labels_do_not_matter(void **state)
{
    (void)state;
    struct batch b = family_of("grid", 400, 1);
    int64_t *to = malloc((size_t)b.adj.nodes * sizeof *to);
    assert_non_null(to);
    for (int64_t i = 0; i < b.adj.nodes; i++)
        to[i] = i * 77 % b.adj.nodes;
    struct batch other = batch_relabelled(&b, to);
    other.symmetric = true;
    struct encoding e = computed(&b, 8, 2), moved = computed(&other, 8, 2);
    for (int64_t i = 0; i < b.adj.nodes; i++)
        for (int64_t k = 1; k <= 8; k++)
            assert_close(value(&moved, to[i], k), value(&e, i, k), "relabelled", i, k);
    free(to);
    encoding_free(&e);
    encoding_free(&moved);
    batch_free(&b);
    batch_free(&other);
}

/* Two nodes and an edge: in each of 2 steps an edge and 5 FLOPs for both nodes, and 4 quotients. */
static void test_what_it_cost(void **state)
{
    (void)state;
    static struct edge_buffer l;
    l.count = 0;
    undirected(&l, 0, 1);
    struct batch b = batch_of(&l, 2);
    struct encoding e = computed(&b, 4, 1);
    assert_int_equal(e.cost.flops, 2 * (2 * (2 + 5 * 2) + 4));
    assert_string_equal(e.flops_label, "executed ops");
    assert_true(e.cost.bytes > 0);
    struct encoding_config c = walks(4);
    assert_true(e.peak >= encoding_storage(&c, &b));
    assert_null(e.pairs);
    assert_false(mat_present(e.eigenvalues));
    encoding_free(&e);
    batch_free(&b);
}

int main(void)
{
    static struct family families[] = {
        {"cycle", build_cycle, right_cycle},
        {"path", build_path, right_path},
        {"complete", build_complete, right_complete},
        {"bipartite", build_bipartite, right_bipartite},
        {"star", build_star, right_star},
        {"isolated", build_nothing, right_nothing},
        {"loops", build_loops, right_loops},
        {"ring", build_ring, right_ring},
    };
    enum { FAMILIES = sizeof families / sizeof *families };
    struct CMUnitTest tests[FAMILIES + 7] = {
        [FAMILIES] = cmocka_unit_test(test_dense_powers),
        cmocka_unit_test(test_half_powers_are_full_ones),
        cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_batch_is_its_graphs),
        cmocka_unit_test(test_labels_do_not_matter),
        cmocka_unit_test(test_what_it_cost),
        cmocka_unit_test(test_many_steps),
    };
    for (int f = 0; f < FAMILIES; f++)
        tests[f] = (struct CMUnitTest){families[f].name, test_closed_form, NULL, NULL, &families[f]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
