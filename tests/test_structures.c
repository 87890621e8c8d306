/* What graphs of each family look like: neighbours, blocks, degrees, triangles, components. */
#include <math.h>

#include "graphs/components.h"
#include "graphs/pairs.h"
#include "kernels/rng.h"
#include "tests/graphs.h"
#include "tests/test.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static int64_t degree_of(const struct csr *g, int64_t v)
{
    return g->row_ptr[v + 1] - g->row_ptr[v];
}

static int64_t components_of(const struct csr *g)
{
    int64_t *start = calloc((size_t)g->nodes + 1, sizeof *start);
    int32_t *node = calloc((size_t)g->nodes, sizeof *node);
    bool *seen = calloc((size_t)g->nodes, sizeof *seen);
    int64_t count = components_find(g, NULL, start, node, seen);
    free(start);
    free(node);
    free(seen);
    return count;
}

/* Of the pairs of neighbours of a node, the share that is joined; the mean over all nodes with two at least.
 */
static double clustering(const struct csr *g)
{
    double sum = 0, nodes = 0;
    for (int64_t v = 0; v < g->nodes; v++) {
        double joined = 0, d = (double)degree_of(g, v);
        for (int64_t e = g->row_ptr[v]; e < g->row_ptr[v + 1]; e++)
            for (int64_t f = g->row_ptr[v]; f < e; f++)
                joined += graph_has_edge(g, g->col[e], g->col[f]);
        sum += d > 1 ? joined / (d * (d - 1) / 2) : 0;
        nodes += d > 1;
    }
    return sum / nodes;
}

static void assert_neighbours(const char *family, int64_t nodes, const char *edges)
{
    struct batch b = graph_generated(family, nodes, 5, 1, 1);
    char text[256] = "";
    for (int64_t i = 0; i < nodes; i++)
        for (int64_t e = b.adj.row_ptr[i]; e < b.adj.row_ptr[i + 1] && b.adj.col[e] < i; e++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%d-%d ", (int)b.adj.col[e], (int)i);
    assert_string_equal(text, edges);
    batch_free(&b);
}

TEST(test_closed_forms)
{
    const char *one[] = {"path", "cycle", "star", "complete", "tree", "molecule", "peptide", "sbm", "grid3d"};
    for (size_t i = 0; i < LENGTH(one); i++)
        assert_neighbours(one[i], 1, "");
    assert_neighbours("path", 4, "0-1 1-2 2-3 ");
    assert_neighbours("cycle", 2, "0-1 ");
    assert_neighbours("cycle", 3, "0-1 0-2 1-2 ");
    assert_neighbours("cycle", 5, "0-1 1-2 2-3 0-4 3-4 ");
    assert_neighbours("star", 4, "0-1 0-2 0-3 ");
    assert_neighbours("complete", 4, "0-1 0-2 1-2 0-3 1-3 2-3 ");
    assert_neighbours("tree", 6, "0-1 0-2 1-3 1-4 2-5 ");
    assert_neighbours("tree:children=3", 6, "0-1 0-2 0-3 1-4 1-5 ");
    assert_neighbours("tree:children=1", 4, "0-1 1-2 2-3 ");
    assert_neighbours("grid3d", 6, "0-1 0-2 1-3 2-3 0-4 1-5 4-5 ");
}

/* The lattice itself: node v is joined to v + 1 and v + 2, and the first nodes to v + 3 too. */
TEST(test_ring_lattice)
{
    enum { NODES = 41, MORE = 10 };
    struct batch b = graph_generated("ws:beta=0", NODES, 4 + 2.0 * MORE / NODES, 1, 3);
    for (int64_t v = 0; v < NODES; v++)
        for (int64_t ahead = 1; ahead <= NODES / 2; ahead++)
            assert_int_equal(graph_has_edge(&b.adj, v, (v + ahead) % NODES),
                             ahead <= 2 || (ahead == 3 && v < MORE));
    batch_free(&b);
}

/* No rewired edge is a loop, or repeats another or one of the lattice. */
TEST(test_rewired_edges_differ)
{
    for (int64_t nodes = 1; nodes <= 40; nodes++)
        for (double degree = 1; degree < 12; degree += 1.7) {
            struct batch b = graph_generated("ws:beta=0.5", nodes, degree, 1, 5);
            assert_simple(&b.adj);
            batch_free(&b);
        }
}

/*
 * A lattice of degree K has the clustering C = 3 (K - 2) / (4 (K - 1)), and with a share beta of the edges
 * rewired about C (1 - beta)^3 (Barrat and Weigt, 2000). Each node keeps the K / 2 edges that begin at it.
 */
TEST(test_small_worlds)
{
    static const double betas[] = {0, 0.1, 0.5, 1};
    enum { NODES = 5000, K = 10 };
    for (size_t i = 0; i < LENGTH(betas); i++) {
        char family[32];
        snprintf(family, sizeof family, "ws:beta=%g", betas[i]);
        struct batch b = graph_generated(family, NODES, K, 1, 11);
        double want = 3.0 * (K - 2) / (4 * (K - 1)) * pow(1 - betas[i], 3), kept = 0;
        assert_true(fabs(clustering(&b.adj) - want) < 0.02);
        for (int64_t v = 0; v < NODES; v++)
            for (int64_t ahead = 1; ahead <= K / 2; ahead++)
                kept += graph_has_edge(&b.adj, v, (v + ahead) % NODES);
        assert_true(fabs(kept / (NODES * K / 2) - (1 - betas[i])) < 0.01);
        assert_true(csr_degrees(&b.adj).min >= K / 2);
        assert_int_equal(components_of(&b.adj), 1);
        batch_free(&b);
    }
}

/* The block of a node: the first nodes % blocks have one node more. */
static int64_t block_of(int64_t v, int64_t nodes, int64_t blocks)
{
    int64_t size = nodes / blocks, large = nodes % blocks, border = large * (size + 1);
    return v < border ? v / (size + 1) : large + (v - border) / size;
}

/* With all pairs within blocks or all between them, the graph is known; with shares, the two numbers of
 * edges. */
TEST(test_blocks)
{
    for (int64_t nodes = 1; nodes <= 23; nodes++)
        for (int blocks = 1; blocks <= 9; blocks++)
            for (int within = 0; within <= 1; within++) {
                char family[64];
                snprintf(family, sizeof family, "sbm:blocks=%d,p_in=%d,p_out=%d", blocks, within, !within);
                struct batch b = graph_generated(family, nodes, 5, 1, 2);
                for (int64_t v = 0; v < nodes; v++)
                    for (int64_t w = 0; w < nodes; w++) {
                        bool same = block_of(v, nodes, blocks) == block_of(w, nodes, blocks);
                        assert_int_equal(graph_has_edge(&b.adj, v, w), v != w && same == within);
                    }
                batch_free(&b);
            }
    struct batch b = graph_generated("sbm:blocks=3,p_in=0.5,p_out=0.125", 100, 5, 1, 2);
    int64_t within = 0;
    for (int64_t v = 0; v < 100; v++)
        for (int64_t e = b.adj.row_ptr[v]; e < b.adj.row_ptr[v + 1]; e++)
            within += block_of(v, 100, 3) == block_of(b.adj.col[e], 100, 3);
    int64_t pairs_in = 34 * 33 / 2 + 2 * 33 * 32 / 2, pairs_out = 4950 - pairs_in;
    assert_int_equal(within, 2 * ((pairs_in + 1) / 2));
    assert_int_equal(b.adj.edges - within, 2 * ((pairs_out + 4) / 8));
    batch_free(&b);
}

/* Sparse ones, dense ones as complements, and those that need most switches. */
TEST(test_regular)
{
    for (int64_t nodes = 1; nodes <= 24; nodes++)
        for (int64_t degree = 0; degree < nodes; degree++)
            for (uint64_t seed = 0; seed < 5; seed++) {
                struct batch b = graph_generated("regular", nodes, (double)degree, 1, seed);
                int64_t want = degree - (nodes * degree % 2);
                assert_simple(&b.adj);
                for (int64_t v = 0; v < nodes; v++)
                    assert_int_equal(degree_of(&b.adj, v), want);
                batch_free(&b);
            }
    struct batch b = graph_generated("regular", 3000, 4, 1, 1);
    assert_true(clustering(&b.adj) < 0.01);
    assert_int_equal(components_of(&b.adj), 1);
    batch_free(&b);
}

/* Each of the 15 perfect matchings of 6 nodes, and of the 70 graphs of degree 2, occurs equally often. */
TEST(test_regular_is_uniform)
{
    static const struct {
        double degree;
        int graphs;
    } of[] = {{1, 15}, {2, 70}};
    enum { SEEDS = 14000, SETS = 1 << 15 };
    for (size_t i = 0; i < LENGTH(of); i++) {
        int *count = calloc(SETS, sizeof *count), graphs = 0;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct batch b = graph_generated("regular", 6, of[i].degree, 1, seed);
            unsigned set = 0;
            for (uint64_t pair = 0; pair < 15; pair++) {
                struct node_pair p = node_pair_at(pair);
                set |= (unsigned)graph_has_edge(&b.adj, p.low, p.high) << pair;
            }
            count[set]++;
            batch_free(&b);
        }
        for (int set = 0; set < SETS; set++) {
            graphs += count[set] > 0;
            double mean = (double)SEEDS / of[i].graphs;
            assert_true(count[set] == 0 || fabs(count[set] - mean) < 0.5 * mean);
        }
        assert_int_equal(graphs, of[i].graphs);
        free(count);
    }
}

struct near_pair {
    int64_t rank, low, high, apart;
};

static int by_apart(const void *a, const void *b)
{
    const struct near_pair *x = a, *y = b;
    return x->apart != y->apart ? (x->apart > y->apart) - (x->apart < y->apart)
                                : (x->high > y->high) - (x->high < y->high);
}

/* The rank of w among the nodes in the order of their distance from v. */
static void rank_from(const int64_t (*place)[2], int64_t nodes, int64_t v, int64_t *rank)
{
    struct near_pair *near = calloc((size_t)nodes, sizeof *near);
    for (int64_t w = 0; w < nodes; w++) {
        int64_t x = place[v][0] - place[w][0], y = place[v][1] - place[w][1];
        near[w] = (struct near_pair){.high = w, .apart = w == v ? -1 : x * x + y * y};
    }
    qsort(near, (size_t)nodes, sizeof *near, by_apart);
    for (int64_t r = 0; r < nodes; r++)
        rank[near[r].high] = r;
    free(near);
}

/* Superpixels against a search of all pairs: every pair of a smaller rank than the last is joined, no larger
 * one. */
static void check_superpixel(int64_t nodes, double degree, uint64_t seed)
{
    struct batch b = graph_generated("superpixel", nodes, degree, 1, seed);
    uint64_t key = rng_bits(rng_key(seed, "graph"), 0);
    int64_t(*place)[2] = calloc((size_t)nodes, sizeof *place),
    *rank = calloc((size_t)(nodes * nodes), sizeof *rank);
    for (int64_t v = 0; v < nodes; v++) {
        place[v][0] = (int64_t)(rng_bits(key, (uint64_t)v) >> 48);
        place[v][1] = (int64_t)(rng_bits(key, (uint64_t)v) >> 32 & 0xffff);
    }
    for (int64_t v = 0; v < nodes; v++)
        rank_from((const int64_t(*)[2])place, nodes, v, rank + v * nodes);
    int64_t joined = 0, not_joined = nodes;
    for (int64_t v = 0; v < nodes; v++)
        for (int64_t w = 0; w < v; w++) {
            int64_t r = rank[v * nodes + w] < rank[w * nodes + v] ? rank[v * nodes + w] : rank[w * nodes + v];
            if (graph_has_edge(&b.adj, w, v))
                joined = r > joined ? r : joined;
            else
                not_joined = r < not_joined ? r : not_joined;
        }
    if (joined > not_joined)
        fail_msg("superpixel of %d nodes, degree %g: rank %d is joined, %d is not", (int)nodes, degree,
                 (int)joined, (int)not_joined);
    free(place);
    free(rank);
    batch_free(&b);
}

TEST(test_superpixels)
{
    static const int64_t nodes[] = {2, 3, 4, 9, 33, 150, 400};
    static const double degrees[] = {0.5, 1, 2.5, 5.654, 8, 31};
    for (size_t n = 0; n < LENGTH(nodes); n++)
        for (size_t d = 0; d < LENGTH(degrees); d++)
            check_superpixel(nodes[n], degrees[d], n + d);
    struct batch b = graph_generated("superpixel", 5000, 8, 1, 1);
    double share = clustering(&b.adj);
    assert_true(share > 0.5 && share < 0.7);
    assert_true(csr_degrees(&b.adj).min >= 4 && csr_degrees(&b.adj).max <= 20);
    batch_free(&b);
}

/* The number of edges on the longest of the shortest paths from node 0. */
static int64_t depth_of(const struct csr *g)
{
    int64_t *depth = calloc((size_t)g->nodes, sizeof *depth),
            *queue = calloc((size_t)g->nodes, sizeof *queue);
    int64_t last = 0, count = 1;
    for (int64_t i = 0; i < count; i++) {
        last = depth[queue[i]];
        for (int64_t e = g->row_ptr[queue[i]]; e < g->row_ptr[queue[i] + 1]; e++)
            if (g->col[e] != 0 && depth[g->col[e]] == 0) {
                depth[g->col[e]] = last + 1;
                queue[count++] = g->col[e];
            }
    }
    free(depth);
    free(queue);
    return last;
}

/* Connected, with few bonds an atom, n - 1 bonds and one for each ring, and long. */
static void check_molecule(const char *family, int64_t nodes, int64_t rings, int64_t bonds)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct batch b = graph_generated(family, nodes, 5, 1, seed);
        assert_int_equal(b.adj.edges, 2 * (nodes - 1 + rings));
        assert_simple(&b.adj);
        assert_int_equal(components_of(&b.adj), 1);
        int64_t most = csr_degrees(&b.adj).max;
        if (most > bonds)
            fail_msg("%s of %d atoms, seed %d: an atom has %d bonds", family, (int)nodes, (int)seed,
                     (int)most);
        assert_true(depth_of(&b.adj) >= nodes / 6);
        batch_free(&b);
    }
}

TEST(test_molecules)
{
    for (int64_t nodes = 1; nodes < 60; nodes++) {
        check_molecule("molecule:rings=0", nodes, 0, 4);
        check_molecule("molecule:rings=0.16", nodes,
                       (int64_t)fmin(floor(0.16 * (double)nodes + 0.5), floor((double)nodes / 6)), 4);
        check_molecule("peptide:rings=0", nodes, 0, 3);
        check_molecule("peptide:rings=0.09", nodes,
                       (int64_t)fmin(floor(0.09 * (double)nodes + 0.5), floor((double)nodes / 11)), 3);
    }
    check_molecule("molecule", 3000, 330, 4);
    check_molecule("peptide", 3000, 75, 3);
}
