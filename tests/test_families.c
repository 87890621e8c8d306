/* Every family of graphs: size by its formula, structure, distribution, bits. */
#include <math.h>
#include <omp.h>

#include "graphs/components.h"
#include "tests/graphs.h"
#include "tests/test.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { ERROR_SIZE = 200 };

/* Directed edges of a grid, counted from its neighbours. */
static int64_t count_grid(int64_t nodes)
{
    int64_t columns = (int64_t)ceil(sqrt((double)nodes)), edges = 0;
    for (int64_t v = 0; v < nodes; v++)
        edges += (v % columns > 0) + (v >= columns);
    return 2 * edges;
}

/* Directed edges of a preferential attachment graph, counted node by node. */
static int64_t count_ba(int64_t nodes, double degree)
{
    double edges = 0;
    for (double i = 0; i < (double)nodes; i++)
        edges += fmin(floor((i + 1) * degree / 2) - floor(i * degree / 2), i);
    return 2 * (int64_t)edges;
}

/* Directed edges of a grid of three dimensions, counted from its neighbours. */
static int64_t count_grid3d(int64_t nodes)
{
    int64_t side = 1, edges = 0;
    while (side * side * side < nodes)
        side++;
    for (int64_t v = 0; v < nodes; v++)
        edges += (v % side > 0) + (v / side % side > 0) + (v / side / side > 0);
    return 2 * edges;
}

static int64_t rounded(double x)
{
    return (int64_t)floor(x + 0.5);
}

/* Four blocks; a tenth of the pairs within, a hundredth of those between. */
static int64_t count_sbm(int64_t nodes)
{
    double within = 0, all = (double)nodes * (double)(nodes - 1) / 2;
    for (int64_t b = 0; b < 4; b++) {
        double size = floor((double)(nodes + b) / 4);
        within += size * (size - 1) / 2;
    }
    return 2 * (rounded(within * 0.1) + rounded((all - within) * 0.01));
}

static int64_t count_regular(int64_t nodes, double degree)
{
    int64_t d = (int64_t)fmin((double)rounded(degree), (double)(nodes - 1));
    return nodes * d % 2 ? nodes * (d - 1) : nodes * d;
}

static int64_t edges_wanted(const char *family, int64_t nodes, double degree)
{
    double all = (double)nodes * (double)(nodes - 1) / 2, n = (double)nodes;
    int64_t asked = rounded(fmin(floor(n * degree / 2 + 0.5), all));
    struct {
        const char *family;
        int64_t edges;
    } want[] = {
        {"er", 2 * asked},
        {"grid", count_grid(nodes)},
        {"ba", count_ba(nodes, degree)},
        {"rmat", nodes > 1 ? 2 * (int64_t)floor(n * degree / 2 + 0.5) : 0},
        {"ws", 2 * asked},
        {"sbm", count_sbm(nodes)},
        {"regular", count_regular(nodes, degree)},
        {"superpixel", 2 * asked},
        {"molecule", 2 * (nodes - 1 + (int64_t)fmin(floor(0.11 * n + 0.5), floor(n / 6)))},
        {"peptide", 2 * (nodes - 1 + (int64_t)fmin(floor(0.025 * n + 0.5), floor(n / 11)))},
        {"path", 2 * (nodes - 1)},
        {"cycle", nodes > 2 ? 2 * nodes : 2 * (nodes - 1)},
        {"star", 2 * (nodes - 1)},
        {"complete", nodes * (nodes - 1)},
        {"tree", 2 * (nodes - 1)},
        {"grid3d", count_grid3d(nodes)},
    };
    for (size_t i = 0; i < LENGTH(want); i++)
        if (strcmp(family, want[i].family) == 0)
            return want[i].edges;
    fail_msg("%s: how many edges?", family);
    return 0;
}

/* The edges that a family says it has, with its default parameters. */
static int64_t edges_of(const struct graph_family *f, int64_t nodes, double degree)
{
    struct graph_spec s = {.nodes = nodes, .degree = degree};
    for (int i = 0; i < graph_family_parameters(f); i++)
        s.value[i] = f->parameter[i].standard;
    return f->edges(&s);
}

static void assert_graph(const struct graph_family *f, int64_t nodes, double degree)
{
    struct batch b = graph_generated(f->name, nodes, degree, 1, 42);
    assert_int_equal(b.adj.nodes, nodes);
    assert_int_equal(b.adj.edges, edges_wanted(f->name, nodes, degree));
    (f->simple ? assert_simple : assert_undirected)(&b.adj);
    assert_int_equal(csr_degrees(&b.adj).self_loops, 0);
    bool clamped = f->uses_degree && degree > (double)(nodes - 1) && (f->simple || nodes == 1);
    assert_int_equal(b.clamped, clamped);

    struct csr transpose;
    char error[ERROR_SIZE];
    assert_true(csr_transpose(&transpose, &b.adj, NEVER_CANCELLED, error, sizeof error));
    assert_true(csr_equal(&transpose, &b.adj));
    assert_true(b.symmetric);
    assert_ptr_equal(b.out.row_ptr, b.adj.row_ptr);
    assert_ptr_equal(b.out.col, b.adj.col);
    assert_int_equal(b.out.nodes, nodes);
    assert_int_equal(b.out.edges, b.adj.edges);
    csr_free(&transpose);
    batch_free(&b);
}

TEST(sizes_and_structure)
{
    int64_t nodes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 17, 63, 64, 65, 1000};
    double degrees[] = {0,   0.1, 0.3, 0.7,  1,  1.5, 2, 2.9, 3, 4, 5, 5.9999999999999991,
                        6.4, 7,   12,  15.5, 31, 200};
    for (const struct graph_family *f = graph_families; f->name; f++)
        for (size_t n = 0; n < LENGTH(nodes); n++)
            for (size_t d = 0; d < (f->uses_degree ? LENGTH(degrees) : 1); d++)
                assert_graph(f, nodes[n], degrees[d]);
}

/* The formula of ba for degrees on both sides of rounding steps; no graph is generated. */
TEST(ba_counts_what_its_nodes_attach)
{
    const struct graph_family *ba = graph_family_named("ba");
    for (double degree = 0; degree < 42; degree += 0.3)
        for (int64_t nodes = 1; nodes < 300; nodes += 7) {
            double near[] = {nextafter(degree, 0), degree, nextafter(degree, 50)};
            for (size_t i = 0; i < LENGTH(near); i++)
                assert_int_equal(edges_of(ba, nodes, near[i]), count_ba(nodes, near[i]));
        }
    assert_int_equal(edges_of(ba, CSR_MAX_NODES, 1e300), CSR_MAX_NODES * (CSR_MAX_NODES - 1));
}

/* The node at (x, y, z) has number x + side (y + side z). */
TEST(grid3d_joins_neighbours)
{
    for (int64_t nodes = 1; nodes <= 70; nodes++) {
        struct batch b = graph_generated("grid3d", nodes, 99, 1, 7);
        int64_t side = (int64_t)ceil(cbrt((double)nodes) - 1e-9);
        for (int64_t i = 0; i < nodes; i++)
            for (int64_t j = 0; j < nodes; j++) {
                int64_t apart = llabs(i / side / side - j / side / side) +
                                llabs(i / side % side - j / side % side) + llabs(i % side - j % side);
                assert_int_equal(graph_has_edge(&b.adj, j, i), apart == 1);
            }
        batch_free(&b);
    }
}

TEST(grid_joins_neighbours)
{
    for (int64_t nodes = 1; nodes <= 60; nodes++) {
        struct batch b = graph_generated("grid", nodes, 99, 1, 7);
        int64_t columns = (int64_t)ceil(sqrt((double)nodes));
        for (int64_t i = 0; i < nodes; i++)
            for (int64_t j = 0; j < nodes; j++) {
                int64_t apart = llabs(i / columns - j / columns) + llabs(i % columns - j % columns);
                assert_int_equal(graph_has_edge(&b.adj, j, i), apart == 1);
            }
        batch_free(&b);
    }
    /* 0 1 2
       3 4   */
    struct batch b = graph_generated("grid", 5, 0, 1, 0);
    int64_t row_ptr[] = {0, 2, 5, 6, 8, 10};
    int32_t col[] = {1, 3, 0, 2, 4, 1, 0, 4, 1, 3};
    assert_int_equal(b.adj.edges, 10);
    assert_memory_equal(b.adj.row_ptr, row_ptr, sizeof row_ptr);
    assert_memory_equal(b.adj.col, col, sizeof col);
    batch_free(&b);
}

/* One large graph, whose edges are divided among threads, and many small ones, which are distributed. */
TEST(bits_do_not_depend_on_threads)
{
    for (const struct graph_family *f = graph_families; f->name; f++) {
        int64_t nodes = 30000;
        while (edges_of(f, nodes, 5) > 160000)
            nodes /= 2;
        omp_set_num_threads(1);
        struct batch large = graph_generated(f->name, nodes, 5, 1, 42),
                     small = graph_generated(f->name, 20, 5, 300, 42);
        for (int threads = 2; threads <= 4; threads++) {
            omp_set_num_threads(threads);
            struct batch l = graph_generated(f->name, nodes, 5, 1, 42),
                         s = graph_generated(f->name, 20, 5, 300, 42);
            assert_true(csr_equal(&large.adj, &l.adj));
            assert_true(csr_equal(&small.adj, &s.adj));
            batch_free(&l);
            batch_free(&s);
        }
        batch_free(&large);
        batch_free(&small);
    }
}

TEST(batches_are_block_diagonal)
{
    for (const struct graph_family *f = graph_families; f->name; f++) {
        struct batch b = graph_generated(f->name, 20, 4.5, 60, 3);
        assert_undirected(&b.adj);
        for (int64_t g = 0; g < b.graphs; g++) {
            int64_t first = b.offset[g], end = b.offset[g + 1];
            assert_int_equal(b.adj.row_ptr[end] - b.adj.row_ptr[first], edges_of(f, end - first, 4.5));
            for (int64_t e = b.adj.row_ptr[first]; e < b.adj.row_ptr[end]; e++)
                assert_true(b.adj.col[e] >= first && b.adj.col[e] < end);
        }
        batch_free(&b);
    }
}

static int64_t count_components(const struct csr *g)
{
    int64_t *start = calloc((size_t)g->nodes + 1, sizeof *start);
    int32_t *node = calloc((size_t)g->nodes, sizeof *node);
    bool *seen = calloc((size_t)g->nodes, sizeof *seen);
    int64_t count = components_find(g, NULL, start, node, seen);
    for (int64_t c = 0; c < count; c++)
        for (int64_t i = start[c]; i < start[c + 1]; i++)
            assert_true(node[i] >= node[start[c]]);
    free(start);
    free(node);
    free(seen);
    return count;
}

/* For each graph one component, with all edges of its nodes; a connected graph is its own giant component. */
TEST(giant_components_are_connected)
{
    struct batch all = graph_generated("er", 400, 2, 3, 5), giant = graph_generated("er:giant", 400, 2, 3, 5);
    assert_true(count_components(&all.adj) > 30);
    assert_int_equal(giant.graphs, 3);
    assert_int_equal(count_components(&giant.adj), 3);
    assert_undirected(&giant.adj);
    assert_ptr_equal(giant.out.col, giant.adj.col);
    int64_t pairs = 0;
    for (int64_t g = 0; g < 3; g++) {
        int64_t size = giant.offset[g + 1] - giant.offset[g], whole = all.offset[g + 1] - all.offset[g];
        assert_true(size > whole / 2 && size < whole);
        pairs += size * size;
    }
    assert_int_equal(giant.pairs, pairs);
    assert_int_equal(giant.offset[3], giant.adj.nodes);
    struct batch grid = graph_generated("grid", 30, 0, 2, 5),
                 same = graph_generated("grid:giant", 30, 0, 2, 5);
    assert_true(csr_equal(&grid.adj, &same.adj));
    struct batch *generated[] = {&all, &giant, &grid, &same};
    for (size_t i = 0; i < LENGTH(generated); i++)
        batch_free(generated[i]);
}

/* Which is found without the edges of the batch, by one thread or several. */
TEST(shapes_of_giant_components)
{
    static const char *const families[] = {"er:giant", "rmat:giant", "sbm:giant", "ba:giant", "hiv:giant"};
    static const int64_t sizes[][2] = {{400, 3}, {1, 1}, {9, 40}, {2, 5}};
    (void)state;
    for (size_t i = 0; i < LENGTH(families) * LENGTH(sizes); i++) {
        const int64_t *size = sizes[i / LENGTH(families)];
        struct graph_config c = {.family = families[i % LENGTH(families)],
                                 .nodes = size[0],
                                 .degree = 2,
                                 .graphs = size[1],
                                 .seed = 5};
        struct batch made, shape;
        char error[256];
        assert_true(batch_generate(&made, &c, error, sizeof error));
        assert_true(batch_shape(&shape, &c, error, sizeof error));
        assert_null(shape.adj.col);
        assert_int_equal(shape.adj.nodes, made.adj.nodes);
        assert_int_equal(shape.adj.edges, made.adj.edges);
        assert_int_equal(shape.pairs, made.pairs);
        assert_int_equal(shape.peak, made.peak);
        assert_int_equal(shape.clamped, made.clamped);
        assert_memory_equal(shape.offset, made.offset, (size_t)(made.graphs + 1) * sizeof *made.offset);
        batch_free(&made);
        batch_free(&shape);
    }
}

/* Results of all versions and machines are for the same graphs. A family without a row here is not pinned. */
TEST(bits_are_pinned)
{
    struct {
        const char *family;
        uint64_t one, batch, other_seed;
    } want[] = {
        {"er", UINT64_C(0x9186b3da7c70745a), UINT64_C(0xbf490183e9c2ce0b), UINT64_C(0xd2310b9d450c3563)},
        {"grid", UINT64_C(0x8fe5caad53607390), UINT64_C(0x371b4cc12e222928), UINT64_C(0x8fe5caad53607390)},
        {"ba", UINT64_C(0x130c9f756c1154c8), UINT64_C(0xc2bb089a656dc897), UINT64_C(0xce2649e4cb0d99e0)},
        {"rmat", UINT64_C(0x415c6228f8a517a7), UINT64_C(0x174a8cf20db8cf0b), UINT64_C(0x548ed9388f68a325)},
        {"ws", UINT64_C(0x1c80d0fa39bf8c94), UINT64_C(0xf9545f471d54bca3), UINT64_C(0x5e0219d52ae40f80)},
        {"sbm", UINT64_C(0x94dbfde07a98c2e1), UINT64_C(0xe0975febd4e7aca2), UINT64_C(0xfd55a1da4bd207ef)},
        {"regular", UINT64_C(0x14ef3a6560e239af), UINT64_C(0x96dc93fe64a07aca), UINT64_C(0x8570356ec0e41655)},
        {"superpixel", UINT64_C(0x065edff81bec40e7), UINT64_C(0x401359b16cad5393),
         UINT64_C(0xd54bc50ec7821a58)},
        {"molecule", UINT64_C(0xa0e55fca3f5825f3), UINT64_C(0x7c0c699e95282d92),
         UINT64_C(0xd1bfd3773479c3cd)},
        {"peptide", UINT64_C(0x596c304b8458fae9), UINT64_C(0x03e2f9c702cf9484), UINT64_C(0xbb0efb5ba54bee7d)},
        {"path", UINT64_C(0x30f097e291c5de44), UINT64_C(0xc5d52c69cdcbfe5a), UINT64_C(0x30f097e291c5de44)},
        {"cycle", UINT64_C(0x947eb35a08bc91da), UINT64_C(0xa5859c2d02e3b4da), UINT64_C(0x947eb35a08bc91da)},
        {"star", UINT64_C(0xf72c206a1d320dc1), UINT64_C(0xe34e6eac6dac8d2f), UINT64_C(0xf72c206a1d320dc1)},
        {"complete", UINT64_C(0xd4d313791fa9388f), UINT64_C(0x705aac24a1cf93c0),
         UINT64_C(0xd4d313791fa9388f)},
        {"tree", UINT64_C(0xc75d07eef8e32384), UINT64_C(0xd4fb1d305360de3c), UINT64_C(0xc75d07eef8e32384)},
        {"grid3d", UINT64_C(0xc2534638288b1013), UINT64_C(0x01c0d4b30baa1153), UINT64_C(0xc2534638288b1013)},
    };
    for (size_t i = 0; i < LENGTH(want); i++) {
        struct batch b[] = {graph_generated(want[i].family, 500, 5, 1, 42),
                            graph_generated(want[i].family, 32, 5, 9, 42),
                            graph_generated(want[i].family, 500, 5, 1, 43)};
        uint64_t wanted[] = {want[i].one, want[i].batch, want[i].other_seed};
        assert_string_equal(want[i].family, graph_families[i].name);
        for (int k = 0; k < 3; k++) {
            if (graph_checksum(&b[k]) != wanted[k])
                fail_msg("%s: graph %d has the checksum 0x%016llx", want[i].family, k,
                         (unsigned long long)graph_checksum(&b[k]));
            batch_free(&b[k]);
        }
    }
    assert_null(graph_families[LENGTH(want)].name);
}

static double share_from(const struct csr *g, int64_t degree)
{
    int64_t nodes = 0;
    for (int64_t i = 0; i < g->nodes; i++)
        nodes += g->row_ptr[i + 1] - g->row_ptr[i] >= degree;
    return (double)nodes / (double)g->nodes;
}

/*
 * In a large graph with m edges per node, a share m (m + 1) / (k (k + 1)) of the nodes has degree k or more
 * (Bollobas, Riordan, Spencer and Tusnady, 2001), up to chance and the removal of parallel edges; a uniform
 * graph has none of degree 40.
 */
TEST(ba_has_the_tail_of_a_power_law)
{
    struct batch ba = graph_generated("ba", 100000, 4, 1, 42), er = graph_generated("er", 100000, 4, 1, 42);
    for (int64_t k = 3; k <= 96; k *= 2) {
        double want = 6.0 / (double)(k * (k + 1)), got = share_from(&ba.adj, k);
        if (fabs(got - want) > 0.03 * want + 4 * sqrt(want / 100000))
            fail_msg("a share of %g has degree %d or more, not %g", got, (int)k, want);
    }
    assert_true(share_from(&er.adj, 40) == 0);
    struct degrees b = csr_degrees(&ba.adj), e = csr_degrees(&er.adj);
    assert_int_equal(b.min, 2);
    assert_true(b.max > 10 * e.max && b.p99 > e.p99 && b.median < e.median);
    batch_free(&ba);
    batch_free(&er);
}

/*
 * Half-integer degrees: the nodes of degree 2.5 join with one edge or two, three of them with five in total.
 */
TEST(ba_meets_fractional_degrees)
{
    double degrees[] = {0.5, 1, 2.5, 3, 7.3};
    for (size_t i = 0; i < LENGTH(degrees); i++) {
        struct batch b = graph_generated("ba", 20000, degrees[i], 1, 9);
        assert_true(fabs(csr_degrees(&b.adj).mean - degrees[i]) < 2e-3);
        for (int64_t v = 0; v < b.adj.nodes; v++) {
            int64_t older = 0;
            for (int64_t e = b.adj.row_ptr[v]; e < b.adj.row_ptr[v + 1]; e++)
                older += b.adj.col[e] < v;
            double joins = floor((double)(v + 1) * degrees[i] / 2) - floor((double)v * degrees[i] / 2);
            assert_int_equal(older, (int64_t)fmin(joins, (double)v));
        }
        batch_free(&b);
    }
}

/*
 * Each end of an edge has each bit 1 with probability .24, so two ends are the same node with probability
 * (.76^2 + .24^2)^k. This gives the sum of squared degrees; the two ends of an edge differ, an effect of
 * order 1 / m for the 2 m ends. The diagonal, .62^k, changes it by less than a hundredth.
 */
TEST(rmat_has_the_moments_of_its_model)
{
    struct batch b = graph_generated("rmat", 1024, 32, 1, 42);
    struct degrees d = csr_degrees(&b.adj);
    double edges = (double)b.adj.edges, squares = (d.std * d.std + d.mean * d.mean) * 1024;
    double same = pow(0.76 * 0.76 + 0.24 * 0.24, 10);
    double want = edges * edges * same + edges;
    if (fabs(squares / want - 1) > 0.04)
        fail_msg("the squared degrees sum to %g of what they should", squares / want);
    assert_true((double)d.max > 15 * d.mean);
    assert_true(d.duplicates > 100);
    batch_free(&b);
}

/* Without scrambling, the lower half would have .76 of the ends, and node 0 would be the largest hub. */
TEST(rmat_scrambles_its_labels)
{
    double low = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct batch b = graph_generated("rmat", 1000, 10, 1, seed);
        low += (double)b.adj.row_ptr[500] / (double)b.adj.edges / 40;
        assert_true((double)csr_degrees(&b.adj).max > 10 * csr_degrees(&b.adj).mean);
        batch_free(&b);
    }
    assert_true(fabs(low - 0.5) < 0.05);
}

GROUP("families", NULL, NULL)
