/* Random graphs and batches of them. */
#include <math.h>
#include <omp.h>
#include <sys/resource.h>

#include "graphs/er.h"
#include "graphs/pairs.h"
#include "tests/graphs.h"
#include "tests/sanitized.h"
#include "tests/test.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { ERROR_SIZE = 512 };

/*
 * Out of memory must be reported under AddressSanitizer too, which needs more address space than any limit.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=4096";
}

#define CONFIG(FAMILY, NODES, DEGREE, GRAPHS, SEED)                                                          \
    {                                                                                                        \
        .family = FAMILY, .nodes = NODES, .degree = DEGREE, .graphs = GRAPHS, .seed = SEED                   \
    }
static int64_t edges_of(int64_t nodes, double degree)
{
    return er_edges(&(struct graph_spec){.nodes = nodes, .degree = degree});
}

static struct batch generate(int64_t nodes, double degree, int64_t graphs, uint64_t seed)
{
    return graph_generated("er", nodes, degree, graphs, seed);
}

TEST(er_has_the_edges_that_its_definition_says)
{
    struct {
        int64_t nodes;
        double degree;
        int64_t edges;
        bool clamped;
    } want[] = {
        {500, 5, 2500, false},   {100, 2.5, 250, false},   {3, 1, 4, false},   {7, 2.9, 20, false},
        {1, 0, 0, false},        {1, 5, 0, true},          {2, 0.4, 0, false}, {2, 0.5, 2, false},
        {2, 1, 2, false},        {2, 7, 2, true},          {40, 0, 0, false},  {60, 59, 60 * 59, false},
        {60, 1e300, 3540, true}, {60, 59.001, 3540, true},
    };
    for (size_t i = 0; i < LENGTH(want); i++) {
        struct batch b = generate(want[i].nodes, want[i].degree, 1, 42);
        assert_int_equal(b.adj.nodes, want[i].nodes);
        assert_int_equal(b.adj.edges, want[i].edges);
        assert_int_equal(b.clamped, want[i].clamped);
        assert_int_equal(b.pairs, want[i].nodes * want[i].nodes);
        assert_simple(&b.adj);
        batch_free(&b);
    }
    assert_true(edges_of(CSR_MAX_NODES, 1e300) == CSR_MAX_NODES * (CSR_MAX_NODES - 1));
}

TEST(er_is_the_same_for_any_number_of_threads)
{
    omp_set_num_threads(1);
    struct batch one = generate(30000, 5, 1, 42), other_seed = generate(30000, 5, 1, 43);
    assert_simple(&one.adj);
    assert_false(csr_equal(&one.adj, &other_seed.adj));
    for (int threads = 2; threads <= 3; threads++) {
        omp_set_num_threads(threads);
        struct batch many = generate(30000, 5, 1, 42);
        assert_true(csr_equal(&one.adj, &many.adj));
        batch_free(&many);
    }
    batch_free(&one);
    batch_free(&other_seed);
}

/*
 * Pearson's statistic of counts with equal expectations, minus its mean and divided by its standard
 * deviation.
 */
static double excess(const int64_t *count, int cells, double variance_share)
{
    double total = 0, statistic = 0, freedom = cells - 1;
    for (int c = 0; c < cells; c++)
        total += (double)count[c];
    for (int c = 0; c < cells; c++) {
        double off = (double)count[c] - total / cells;
        statistic += off * off / (total / cells * variance_share);
    }
    return (statistic - freedom) / sqrt(2 * freedom);
}

/*
 * Each pair of 24 nodes is an edge equally often. Edges of a graph exclude each other, hence the smaller
 * variance.
 */
TEST(every_pair_is_equally_likely)
{
    enum { NODES = 24, PAIRS = NODES * (NODES - 1) / 2, SEEDS = 4000 };
    int64_t count[PAIRS] = {0}, edges = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct batch b = generate(NODES, 5, 1, seed);
        edges = b.adj.edges / 2;
        for (int64_t i = 0; i < NODES; i++)
            for (int64_t e = b.adj.row_ptr[i]; e < b.adj.row_ptr[i + 1] && b.adj.col[e] < i; e++)
                count[i * (i - 1) / 2 + b.adj.col[e]]++;
        batch_free(&b);
    }
    double z = excess(count, PAIRS, (double)(PAIRS - edges) / (PAIRS - 1));
    if (z < -4 || z > 4)
        fail_msg("chi-square over pairs is %.1f deviations off", z);
}

/*
 * Each of the 20 graphs with 4 nodes and 3 edges is generated equally often: the hardest size for a
 * permutation.
 */
TEST(every_graph_is_equally_likely)
{
    enum { SEEDS = 20000 };
    int64_t by_set[64] = {0}, count[20];
    int cells = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct batch b = generate(4, 1.5, 1, seed);
        int set = 0;
        for (uint64_t pair = 0; pair < 6; pair++) {
            struct node_pair p = node_pair_at(pair);
            set |= graph_has_edge(&b.adj, p.low, p.high) << pair;
        }
        by_set[set]++;
        batch_free(&b);
    }
    for (int set = 0; set < 64; set++)
        if (by_set[set] > 0) {
            assert_int_equal(__builtin_popcount((unsigned)set), 3);
            count[cells++] = by_set[set];
        }
    assert_int_equal(cells, 20);
    double z = excess(count, cells, 1);
    if (z < -3 || z > 4)
        fail_msg("chi-square over graphs is %.1f deviations off", z);
}

TEST(batches_keep_their_sum_and_bounds)
{
    struct {
        int64_t nodes, graphs;
    } of[] = {{32, 64}, {32, 7}, {33, 8}, {1, 5}, {2, 6}, {3, 9}, {500, 2}, {1000, 1}};
    for (size_t c = 0; c < LENGTH(of); c++) {
        struct batch b = generate(of[c].nodes, 5, of[c].graphs, 11);
        int64_t pairs = 0, edges = 0;
        assert_int_equal(b.graphs, of[c].graphs);
        assert_int_equal(b.offset[0], 0);
        assert_int_equal(b.offset[b.graphs], of[c].nodes * of[c].graphs);
        assert_int_equal(b.adj.nodes, of[c].nodes * of[c].graphs);
        assert_simple(&b.adj);
        for (int64_t g = 0; g < b.graphs; g++) {
            int64_t first = b.offset[g], end = b.offset[g + 1], size = end - first;
            assert_true(size >= 1 && 2 * size >= of[c].nodes && 2 * size <= 3 * of[c].nodes);
            pairs += size * size;
            edges += edges_of(size, 5);
            assert_int_equal(b.adj.row_ptr[end], edges);
            for (int64_t e = b.adj.row_ptr[first]; e < b.adj.row_ptr[end]; e++)
                assert_true(b.adj.col[e] >= first && b.adj.col[e] < end);
        }
        assert_int_equal(b.pairs, pairs);
        batch_free(&b);
        assert_null(b.offset);
        batch_free(&b);
    }
}

/* Sizes 4 to 12 for mean 8, equally often, and different ones with another seed. */
TEST(sizes_are_uniform)
{
    enum { GRAPHS = 18000 };
    struct batch b = generate(8, 0, GRAPHS, 5), other = generate(8, 0, GRAPHS, 6);
    int64_t count[9] = {0};
    for (int64_t g = 0; g < GRAPHS; g++)
        count[b.offset[g + 1] - b.offset[g] - 4]++;
    for (int size = 0; size < 9; size++)
        assert_between(count[size], 1800, 2200);
    assert_memory_not_equal(b.offset, other.offset, (GRAPHS + 1) * sizeof *b.offset);
    batch_free(&b);
    batch_free(&other);
}

static bool same_block(const struct batch *b, int64_t g, int64_t h)
{
    int64_t g_first = b->offset[g], h_first = b->offset[h], size = b->offset[g + 1] - g_first;
    if (b->offset[h + 1] - h_first != size)
        return false;
    for (int64_t to = 0; to < size; to++)
        for (int64_t from = 0; from < size; from++)
            if (graph_has_edge(&b->adj, g_first + from, g_first + to) !=
                graph_has_edge(&b->adj, h_first + from, h_first + to))
                return false;
    return true;
}

TEST(graphs_of_a_batch_differ)
{
    struct batch b = generate(20, 5, 50, 42);
    for (int64_t g = 0; g < b.graphs; g++)
        for (int64_t h = 0; h < g; h++)
            assert_false(same_block(&b, g, h));
    assert_true(same_block(&b, 3, 3));
    batch_free(&b);
}

TEST(shapes_are_known_without_a_graph)
{
    struct graph_config c = CONFIG("er", 32, 5, 65, 3);
    struct batch shape, generated;
    char error[ERROR_SIZE];
    assert_true(batch_shape(&shape, &c, error, sizeof error));
    assert_true(batch_generate(&generated, &c, error, sizeof error));
    assert_null(shape.adj.row_ptr);
    assert_null(shape.adj.col);
    assert_null(shape.out.row_ptr);
    assert_null(shape.out.col);
    assert_true(shape.symmetric && generated.symmetric);
    assert_int_equal(shape.out.nodes, generated.adj.nodes);
    assert_int_equal(shape.out.edges, generated.adj.edges);
    assert_int_equal(batch_scratch(&shape), batch_scratch(&generated));
    assert_int_equal(shape.adj.nodes, generated.adj.nodes);
    assert_int_equal(shape.adj.edges, generated.adj.edges);
    assert_int_equal(shape.pairs, generated.pairs);
    assert_memory_equal(shape.offset, generated.offset, 66 * sizeof *shape.offset);
    batch_free(&shape);
    batch_free(&generated);

    struct graph_config large = CONFIG("er", CSR_MAX_NODES, 0.9, 1, 42);
    assert_true(batch_shape(&shape, &large, error, sizeof error));
    assert_true(shape.pairs == CSR_MAX_NODES * CSR_MAX_NODES);
    assert_int_equal(shape.adj.edges, 1932735282);
    batch_free(&shape);
}

/* The numbers of a symmetric graph's edges are those of the edges back; their memory is planned and limited.
 */
TEST(edges_are_numbered)
{
    struct graph_config c = CONFIG("er", 40, 0.5, 3, 3);
    struct batch shape, b;
    char error[ERROR_SIZE];
    assert_true(batch_shape(&shape, &c, error, sizeof error) &&
                batch_number_edges(&shape, &c, error, sizeof error));
    assert_true(batch_generate(&b, &c, error, sizeof error));
    assert_null(b.out_edge);
    assert_true(batch_number_edges(&b, &c, error, sizeof error));
    for (int64_t i = 0; i < b.adj.nodes; i++)
        for (int64_t e = b.adj.row_ptr[i]; e < b.adj.row_ptr[i + 1]; e++) {
            assert_int_equal(b.adj.col[b.out_edge[e]], i);
            assert_int_equal(b.out_edge[b.out_edge[e]], e);
        }
    assert_int_equal(batch_scratch(&shape), batch_scratch(&b));
    assert_int_equal(batch_scratch(&b), 4 * (b.adj.edges + b.adj.nodes)); /* more than building took */
    batch_free(&shape);
    c.limits.memory = b.peak - 1;
    batch_free(&b);
    assert_true(batch_generate(&b, &c, error, sizeof error));
    assert_false(batch_number_edges(&b, &c, error, sizeof error));
    assert_non_null(strstr(error, "building the graph needs"));
    assert_int_equal(b.peak, c.limits.memory + 1);
    assert_null(b.offset);
}

TEST(bad_configurations_are_named)
{
    char unknown[ERROR_SIZE] = "graph family 'nope' is unknown; known are ";
    for (const struct graph_family *f = graph_families; f->name; f++)
        strcat(strcat(unknown, f->name), ", ");
    for (const struct graph_shape *s = graph_shapes; s->name; s++)
        strcat(strcat(unknown, s->name), ", ");
    strcat(unknown, "each also as NAME:giant, file:PATH, undirected:PATH, unique:PATH and names:PATH");
    struct {
        struct graph_config config;
        const char *error;
    } bad[] = {
        {CONFIG("nope", 500, 5, 1, 42), unknown},
        {CONFIG("er", 0, 5, 1, 42), "nodes is 0, must be from 1 to 2147483647"},
        {CONFIG("er", INT64_C(1) << 31, 5, 1, 42), "nodes is 2147483648, must be from 1 to 2147483647"},
        {CONFIG("er", 500, -1, 1, 42), "degree is -1, must be a number, at least 0"},
        {CONFIG("er", 500, INFINITY, 1, 42), "degree is inf, must be a number, at least 0"},
        {CONFIG("er", 500, 5, 0, 42), "graphs is 0, must be from 1 to 4294967 for 500 nodes each"},
        {CONFIG("er", 500, 5, 4294968, 42),
         "graphs is 4294968, must be from 1 to 4294967 for 500 nodes each"},
        {CONFIG("er", CSR_MAX_NODES, 1.01, 1, 42),
         "1 graph of 2147483647 nodes and degree 1.01: more than 2147483647 edges"},
        {CONFIG("er", CSR_MAX_NODES, CSR_MAX_NODES, 1, 42),
         "1 graph of 2147483647 nodes and degree 2.14748e+09: more than 2147483647 edges"},
        {CONFIG("rmat", 2, 1e300, 1, 42), "1 graph of 2 nodes and degree 1e+300: more than 2147483647 edges"},
        {CONFIG("ba", 1 << 17, 1 << 15, 2, 42),
         "2 graphs of 131072 nodes and degree 32768: more than 2147483647 edges"},
        {CONFIG("grid", CSR_MAX_NODES, 0, 1, 42),
         "1 graph of 2147483647 nodes and degree 0: more than 2147483647 edges"},
    };
    for (size_t i = 0; i < LENGTH(bad); i++) {
        char error[ERROR_SIZE] = "", cut[8] = "";
        struct batch b;
        assert_false(batch_generate(&b, &bad[i].config, error, sizeof error));
        assert_string_equal(error, bad[i].error);
        assert_null(b.offset);
        assert_false(batch_generate(&b, &bad[i].config, cut, sizeof cut));
        assert_memory_equal(cut, error, sizeof cut - 1);
    }
}

/* No memory for the list of edges; then memory for it, but not for the nodes' data in ba. */
TEST(too_little_memory_is_a_line)
{
    if (env_set("GTMARK_FOREIGN"))
        skip(); /* qemu sets no limit to the address space */
    struct graph_config large[] = {CONFIG("er", CSR_MAX_NODES, 0.9, 1, 42),
                                   CONFIG("ba", CSR_MAX_NODES, 0.1, 1, 42)};
    const char *lines[] = {"no memory to draw a graph of 2147483647 nodes and 1932735282 edges",
                           "no memory to draw a graph of 2147483647 nodes and 214748364 edges"};
    struct rlimit before, little;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    little = before;
    little.rlim_cur = (rlim_t)4 << 30;
    if (!SANITIZED)
        assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
    for (size_t i = 0; i < LENGTH(large); i++) {
        char error[ERROR_SIZE] = "";
        struct batch b;
        assert_false(batch_generate(&b, &large[i], error, sizeof error));
        assert_string_equal(error, lines[i]);
        assert_null(b.offset);
    }
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
}

GROUP("graphs", NULL, NULL)
