/* Compressed sparse rows: construction, refusals, and validation. */
#include <math.h>
#include <omp.h>

#include "graphs/csr.h"
#include "graphs/degrees.h"
#include "kernels/rng.h"
#include "tests/test.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { ERROR_SIZE = 200 };

TEST(build_keeps_duplicates_and_loops)
{
    uint64_t edge[] = {csr_edge(2, 1), csr_edge(0, 1), csr_edge(3, 3), csr_edge(0, 1), csr_edge(1, 0)};
    int64_t row_ptr[] = {0, 1, 4, 4, 5};
    int32_t col[] = {1, 0, 0, 2, 3};
    char error[ERROR_SIZE];
    struct csr g;
    assert_true(csr_build(&g, 4, edge, 5, NEVER_CANCELLED, error, sizeof error));
    assert_int_equal(g.nodes, 4);
    assert_int_equal(g.edges, 5);
    assert_memory_equal(g.row_ptr, row_ptr, sizeof row_ptr);
    assert_memory_equal(g.col, col, sizeof col);
    assert_int_equal(csr_bytes(&g), 5 * 8 + 5 * 4);
    csr_free(&g);
    assert_null(g.row_ptr);
    csr_free(&g);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Compared with qsort, for sizes that need no, one, two and three digits per node and several threads. */
TEST(build_sorts_for_any_number_of_threads)
{
    enum { EDGES = 40000 };
    int64_t nodes[] = {1, 50, 2048, 2049, 5000000};
    static uint64_t edge[EDGES], sorted[EDGES];
    for (size_t n = 0; n < LENGTH(nodes); n++)
        for (int threads = 1; threads <= 3; threads++) {
            for (uint64_t e = 0; e < EDGES; e++)
                edge[e] = csr_edge((int64_t)(rng_bits(1, e) % (uint64_t)nodes[n]),
                                   (int64_t)(rng_bits(2, e) % (uint64_t)nodes[n]));
            memcpy(sorted, edge, sizeof edge);
            qsort(sorted, EDGES, sizeof *sorted, by_value);
            struct csr g;
            char error[ERROR_SIZE];
            omp_set_num_threads(threads);
            assert_true(csr_build(&g, nodes[n], edge, EDGES, NEVER_CANCELLED, error, sizeof error));
            assert_memory_equal(edge, sorted, sizeof edge);
            assert_true(csr_validate(&g, error, sizeof error));
            for (int64_t i = 0; i < g.nodes; i++)
                for (int64_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; e++)
                    assert_true(sorted[e] == csr_edge(g.col[e], i));
            csr_free(&g);
        }
}

TEST(build_refuses_what_is_no_graph)
{
    char error[ERROR_SIZE];
    struct csr g;
    uint64_t edge[] = {csr_edge(0, 1), csr_edge(1, 3), csr_edge(9, 0)};
    assert_false(csr_build(&g, 3, edge, 3, NEVER_CANCELLED, error, sizeof error));
    assert_string_equal(error, "edge 1 goes from 1 to 3, but there are 3 nodes");
    assert_null(g.row_ptr);
    assert_false(csr_build(&g, INT64_C(1) << 31, edge, 3, NEVER_CANCELLED, error, sizeof error));
    assert_string_equal(error, "a graph cannot have 2147483648 nodes and 3 edges");
    assert_false(csr_build(&g, 3, edge, INT64_C(1) << 31, NEVER_CANCELLED, error, sizeof error));
    assert_string_equal(error, "a graph cannot have 3 nodes and 2147483648 edges");
    assert_false(csr_build(&g, 0, edge, 1, NEVER_CANCELLED, error, sizeof error));
    assert_true(csr_build(&g, 0, edge, 0, NEVER_CANCELLED, error, sizeof error));
    assert_true(csr_validate(&g, error, sizeof error));
    csr_free(&g);
}

static struct csr build(int64_t nodes, uint64_t *edge, int64_t edges)
{
    struct csr g;
    char error[ERROR_SIZE] = "";
    if (!csr_build(&g, nodes, edge, edges, NEVER_CANCELLED, error, sizeof error))
        fail_msg("%s", error);
    return g;
}

static struct csr transpose(const struct csr *g)
{
    struct csr t;
    char error[ERROR_SIZE] = "";
    if (!csr_transpose(&t, g, NEVER_CANCELLED, error, sizeof error) || !csr_validate(&t, error, sizeof error))
        fail_msg("%s", error);
    return t;
}

TEST(transpose_reverses_each_edge)
{
    uint64_t edge[] = {csr_edge(2, 1), csr_edge(0, 1), csr_edge(3, 3), csr_edge(0, 1), csr_edge(1, 0)};
    uint64_t reversed[] = {csr_edge(1, 2), csr_edge(1, 0), csr_edge(3, 3), csr_edge(1, 0), csr_edge(0, 1)};
    struct csr g = build(4, edge, 5), want = build(4, reversed, 5), t = transpose(&g), back = transpose(&t);
    assert_true(csr_equal(&t, &want));
    assert_true(csr_equal(&back, &g));
    assert_false(csr_equal(&t, &g));
    want.col[0]++;
    assert_false(csr_equal(&t, &want));
    struct csr none = build(0, edge, 0), none_too = transpose(&none);
    assert_true(csr_equal(&none, &none_too));
    struct csr *all[] = {&g, &want, &t, &back, &none, &none_too};
    for (size_t i = 0; i < LENGTH(all); i++)
        csr_free(all[i]);
}

/* Compared with construction from reversed edges: directed, with loops and, for few nodes, duplicates. */
TEST(transpose_is_the_same_for_any_number_of_threads)
{
    enum { EDGES = 40000 };
    int64_t nodes[] = {1, 50, 2049, 5000000};
    static uint64_t edge[EDGES], reversed[EDGES];
    for (size_t n = 0; n < LENGTH(nodes); n++)
        for (int threads = 1; threads <= 4; threads++) {
            for (uint64_t e = 0; e < EDGES; e++) {
                int64_t a = (int64_t)(rng_bits(1, e) % (uint64_t)nodes[n]);
                int64_t b = (int64_t)(rng_bits(2, e) % (uint64_t)(nodes[n] / 2 + 1));
                edge[e] = csr_edge(a, b);
                reversed[e] = csr_edge(b, a);
            }
            omp_set_num_threads(threads);
            struct csr g = build(nodes[n], edge, EDGES), want = build(nodes[n], reversed, EDGES);
            struct csr t = transpose(&g);
            assert_true(csr_equal(&t, &want));
            assert_int_equal(csr_equal(&t, &g), nodes[n] == 1);
            csr_free(&g);
            csr_free(&want);
            csr_free(&t);
        }
}

/* Each edge of the transpose has the number of one edge between the same nodes, and equal edges keep their
 * order. */
TEST(transposed_edges_are_numbered)
{
    enum { EDGES = 500 };
    for (int64_t nodes = 1; nodes < 400; nodes = 3 * nodes + 1) {
        uint64_t edge[EDGES];
        bool seen[EDGES] = {false};
        for (uint64_t e = 0; e < EDGES; e++)
            edge[e] = csr_edge((int64_t)(rng_bits(1, e) % (uint64_t)nodes),
                               (int64_t)(rng_bits(2, e) % (uint64_t)(nodes / 2 + 1)));
        struct csr g = build(nodes, edge, EDGES), t = transpose(&g);
        int32_t *number = csr_number_transpose(&t, &g);
        for (int64_t j = 0; j < nodes; j++)
            for (int64_t k = t.row_ptr[j]; k < t.row_ptr[j + 1]; k++) {
                int64_t e = number[k], i = t.col[k];
                assert_true(g.row_ptr[i] <= e && e < g.row_ptr[i + 1]);
                assert_int_equal(g.col[e], j);
                assert_false(seen[e]);
                assert_true(k == t.row_ptr[j] || number[k - 1] < e);
                seen[e] = true;
            }
        free(number);
        csr_free(&g);
        csr_free(&t);
    }
}

TEST(degrees_of_a_small_graph)
{
    /* In-degrees 1, 5, 0, 2: a loop twice, and edge 0 -> 1 three times. */
    uint64_t edge[] = {csr_edge(1, 0), csr_edge(0, 1), csr_edge(0, 1), csr_edge(0, 1),
                       csr_edge(2, 1), csr_edge(3, 1), csr_edge(3, 3), csr_edge(3, 3)};
    struct csr g = build(4, edge, 8);
    struct degrees d = csr_degrees(&g);
    assert_int_equal(d.min, 0);
    assert_int_equal(d.max, 5);
    assert_true(d.mean == 2);
    assert_true(fabs(d.std - sqrt(3.5)) < 1e-15);
    assert_int_equal(d.median, 1);
    assert_int_equal(d.p99, 5);
    assert_int_equal(d.isolated, 1);
    assert_int_equal(d.self_loops, 2);
    assert_int_equal(d.duplicates, 3);
    csr_free(&g);
    struct csr alone = build(1, edge, 0);
    d = csr_degrees(&alone);
    assert_true(d.min == 0 && d.max == 0 && d.mean == 0 && d.std == 0 && d.median == 0 && d.p99 == 0);
    assert_int_equal(d.isolated, 1);
    csr_free(&alone);
}

/*
 * Degrees 0, 7, 14, ... in scattered order, so that the sorted degrees are known; some need two histograms.
 */
TEST(quantiles_are_those_of_the_sorted_degrees)
{
    for (int64_t n = 1; n <= 700; n = n * 5 / 4 + 1) {
        int64_t edges = 0;
        uint64_t *edge = malloc((size_t)(7 * n * n + 1) * sizeof *edge);
        assert_non_null(edge);
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = 0; k < 7 * i; k++)
                edge[edges++] = csr_edge(k % n, i * 701 % n);
        struct csr g = build(n, edge, edges);
        struct degrees d = csr_degrees(&g);
        assert_int_equal(d.max, 7 * (n - 1));
        assert_int_equal(d.median, 7 * ((n + 1) / 2 - 1));
        assert_int_equal(d.p99, 7 * ((int64_t)ceil(0.99 * (double)n) - 1));
        assert_true(fabs(d.std - 7 * sqrt((double)(n * n - 1) / 12)) <= 1e-12 * d.std);
        csr_free(&g);
        free(edge);
    }
}

/* A valid graph with one number changed: positions 0 to 4 are row_ptr, 5 to 9 col, 10 nodes, 11 edges. */
TEST(validation_names_each_damage)
{
    struct {
        int place;
        int64_t value;
        const char *error;
    } damage[] = {
        {0, 1, "row_ptr[0] is 1, not 0"},
        {2, 1, "row_ptr decreases from 2 to 1 after row 1"},
        {3, 1, "row_ptr decreases from 2 to 1 after row 2"},
        {4, 6, "row_ptr ends at 6, but there are 5 edges"},
        {5, -1, "row 0 holds column -1, but there are 4 nodes"},
        {9, 4, "row 3 holds column 4, but there are 4 nodes"},
        {6, 1, "row 0 is not sorted: column 1 follows 2"},
        {10, -1, "a graph cannot have -1 nodes and 5 edges"},
        {10, INT64_C(1) << 31, "a graph cannot have 2147483648 nodes and 5 edges"},
        {11, 6, "row_ptr ends at 5, but there are 6 edges"},
        {11, -5, "a graph cannot have 4 nodes and -5 edges"},
    };
    char error[ERROR_SIZE];
    for (size_t i = 0; i < LENGTH(damage); i++) {
        int64_t row_ptr[] = {0, 2, 2, 3, 5};
        int32_t col[] = {2, 3, 0, 1, 1};
        struct csr g = {4, 5, row_ptr, col};
        assert_true(csr_validate(&g, error, sizeof error));
        if (damage[i].place < 5)
            row_ptr[damage[i].place] = damage[i].value;
        else if (damage[i].place < 10)
            col[damage[i].place - 5] = (int32_t)damage[i].value;
        else
            *(damage[i].place == 10 ? &g.nodes : &g.edges) = damage[i].value;
        assert_false(csr_validate(&g, error, sizeof error));
        assert_string_equal(error, damage[i].error);
    }
    struct csr bare = {4, 5, NULL, NULL};
    assert_false(csr_validate(&bare, error, sizeof error));
    assert_string_equal(error, "row_ptr is missing");
    bare.row_ptr = (int64_t[]){0, 0, 0, 0, 5};
    assert_false(csr_validate(&bare, error, sizeof error));
    assert_string_equal(error, "col is missing");
}

GROUP("csr", NULL, NULL)
