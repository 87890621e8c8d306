/*
 * Distances of pairs, and attention biased by them: graphs whose distances can be counted by hand, brute
 * force on random ones, symmetric and not; the check; a model whose layers share a table;
 * refusals.
 */
#include <math.h>

#include "models/encodings/check.h"
#include "models/encodings/compute.h"
#include "models/layers/model.h"
#include "tests/batches.h"
#include "tests/records.h"
#include "tests/refusals.h"
#include "tests/tapes.h"
#include "tests/test.h"

static struct batch graph_of(int64_t nodes, const int (*arcs)[2], int count, bool symmetric)
{
    struct batch b = {.graphs = 1, .pairs = nodes * nodes, .symmetric = symmetric};
    uint64_t edge[64];
    int edges = 0;
    char error[128];
    for (int e = 0; e < count; e++) {
        edge[edges++] = csr_edge(arcs[e][0], arcs[e][1]);
        if (symmetric)
            edge[edges++] = csr_edge(arcs[e][1], arcs[e][0]);
    }
    b.offset = calloc(2, sizeof *b.offset);
    assert_non_null(b.offset);
    b.offset[1] = nodes;
    assert_true(csr_build(&b.adj, nodes, edge, edges, NEVER_CANCELLED, error, sizeof error));
    b.out = b.adj;
    if (!symmetric)
        assert_true(csr_transpose(&b.out, &b.adj, NEVER_CANCELLED, error, sizeof error));
    return b;
}

static struct encoding_config buckets(int64_t k)
{
    return (struct encoding_config){.buckets = k};
}

static struct encoding distances_of(const struct batch *b, int64_t k, int threads)
{
    struct encoding_config c = buckets(k);
    struct encoding e;
    char error[128] = "";
    if (!encoding_compute(&c, b, &(struct encoding_options){.threads = threads}, &e, error, sizeof error))
        fail_msg("%s", error);
    assert_int_equal(e.distances.rows, b->pairs);
    return e;
}

/* 0-1, 1-2, 2-3, 1-4, 2-4, and node 5 alone: a truncated search must tell node 3 from node 5. */
TEST(test_undirected)
{
    static const int arcs[][2] = {{0, 1}, {1, 2}, {2, 3}, {1, 4}, {2, 4}};
    static const int occur[2][5] = {{6, 10, 8, 2, 10}, {6, 20, 10, 0, 0}};
    for (int symmetric = 0; symmetric < 2; symmetric++)
        for (int cut = 0; cut < 2; cut++) {
            int both[10][2], times[5] = {0};
            for (int e = 0; e < 10; e++) {
                both[e][0] = arcs[e / 2][e % 2];
                both[e][1] = arcs[e / 2][1 - e % 2];
            }
            struct batch b = symmetric ? graph_of(6, arcs, 5, true) : graph_of(6, both, 10, false);
            struct encoding e = distances_of(&b, cut ? 2 : 4, 2);
            for (int64_t pair = 0; pair < b.pairs; pair++)
                times[(int)mat_get(e.distances, pair, 0)]++;
            assert_memory_equal(times, occur[cut], sizeof times);
            encoding_free(&e);
            batch_free(&b);
        }
}

/* 0>1, 1>2, 2>0, 2>3: rows are where a path begins, and from node 3 none does. */
TEST(test_directed)
{
    static const int arcs[][2] = {{0, 1}, {1, 2}, {2, 0}, {2, 3}};
    static const int first[] = {0, 1, 2, 3}, last[] = {9, 9, 9, 0};
    struct batch b = graph_of(4, arcs, 4, false);
    struct encoding e = distances_of(&b, 9, 1);
    for (int j = 0; j < 4; j++) {
        assert_int_equal((int)mat_get(e.distances, j, 0), first[j]);
        assert_int_equal((int)mat_get(e.distances, 12 + j, 0), last[j]);
    }
    encoding_free(&e);
    batch_free(&b);
}

/* Fewest edges by relaxing all of them, n times. */
static void relax(const struct batch *b, int64_t g, int64_t i, int64_t *d)
{
    int64_t first = b->offset[g], n = b->offset[g + 1] - first;
    for (int64_t j = 0; j < n; j++)
        d[j] = j == i ? 0 : INT32_MAX;
    for (int64_t step = 0; step < n; step++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t e = b->adj.row_ptr[first + j]; e < b->adj.row_ptr[first + j + 1]; e++)
                d[j] = d[b->adj.col[e] - first] + 1 < d[j] ? d[b->adj.col[e] - first] + 1 : d[j];
}

static void assert_relaxed(const struct batch *b, int64_t k)
{
    struct encoding e = distances_of(b, k, 3);
    int64_t d[64];
    for (int64_t g = 0, pair = 0; g < b->graphs; g++) {
        int64_t n = b->offset[g + 1] - b->offset[g];
        for (int64_t i = 0; i < n; i++) {
            relax(b, g, i, d);
            for (int64_t j = 0; j < n; j++, pair++) {
                int64_t want = d[j] == INT32_MAX ? k : d[j] < k ? d[j] : k - 1;
                assert_int_equal((int64_t)mat_get(e.distances, pair, 0), want);
            }
        }
    }
    encoding_free(&e);
}

/* A graph of a single node, one without edges, loops and duplicates; and paths longer than all buckets. */
TEST(test_random)
{
    struct batch awkward = batch_awkward(), er = batch_er(20, 5);
    assert_true(er.symmetric);
    for (int64_t k = 1; k <= 9; k += 2) {
        assert_relaxed(&awkward, k);
        assert_relaxed(&er, k);
    }
    batch_free(&awkward);
    batch_free(&er);
}

/* Of distances that are right, and of those with one that is not. */
TEST(test_check)
{
    static const int arcs[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};
    struct encoding_config c = buckets(4);
    struct batch b = graph_of(6, arcs, 4, true);
    struct encoding e = distances_of(&b, 4, 1);
    const struct encoding_check_options o = {.seed = 1, .threads = 1};
    assert_string_equal(encoding_check(&c, &b, &e, &o).wrong, "");
    int64_t *d = e.distances.data;
    for (int64_t pair = 0; pair < b.pairs; pair++)
        for (int64_t wrong = -1; wrong <= 5; wrong++) {
            int64_t right = d[pair];
            d[pair] = wrong;
            bool found = *encoding_check(&c, &b, &e, &o).wrong;
            if (found != (wrong != right))
                fail_msg("pair %d: %d for %d is %sfound", (int)pair, (int)wrong, (int)right,
                         found ? "" : "not ");
            d[pair] = right;
        }
    encoding_free(&e);
    batch_free(&b);
}

/* --- paths */

static struct encoding paths_of(const struct batch *b, int64_t k, int64_t hops, int threads)
{
    const struct encoding_config c = {.buckets = k, .hops = hops};
    struct encoding e;
    char error[128] = "";
    if (!encoding_compute(&c, b, &(struct encoding_options){.threads = threads}, &e, error, sizeof error))
        fail_msg("%s", error);
    assert_int_equal(e.paths.rows, b->pairs);
    assert_int_equal(e.paths.cols, hops);
    return e;
}

static int32_t edge_at(const struct encoding *e, int64_t pair, int64_t hop)
{
    return ((const int32_t *)e->paths.data)[pair * e->paths.cols + hop];
}

/* The edge, of those from node i to node j the first. */
static int64_t edge_of(const struct batch *b, int64_t i, int64_t j)
{
    int64_t e = b->adj.row_ptr[j];
    while (b->adj.col[e] != i)
        e++;
    assert_true(e < b->adj.row_ptr[j + 1]);
    return e;
}

/* Two ways around a square, 0-1-3 and 0-2-3, and on to 4: the one by node 1, and back from 4 that by node 1,
 * too. */
TEST(test_equal_paths)
{
    static const int arcs[][2] = {{0, 1}, {0, 2}, {2, 3}, {1, 3}, {3, 4}};
    static const int there[] = {0, 1, 3, 4}, back[] = {4, 3, 1, 0};
    struct batch b = graph_of(6, arcs, 5, true);
    for (int64_t hops = 1; hops <= 4; hops++) {
        struct encoding e = paths_of(&b, 3, hops, 1);
        for (int64_t hop = 0; hop < hops; hop++) {
            int64_t one = hop < 3 ? edge_of(&b, there[hop], there[hop + 1]) : -1;
            int64_t other = hop < 3 ? edge_of(&b, back[hop], back[hop + 1]) : -1;
            assert_int_equal(edge_at(&e, 0 * 6 + 4, hop), one);
            assert_int_equal(edge_at(&e, 4 * 6 + 0, hop), other);
            assert_int_equal(edge_at(&e, 4 * 6 + 5, hop), -1); /* no path */
            assert_int_equal(edge_at(&e, 2 * 6 + 2, hop), -1); /* nor an edge */
        }
        encoding_free(&e);
    }
    batch_free(&b);
}

/* Backwards from each node, over the edges of the whole graph; distances are those without paths. */
static void assert_followed(const struct batch *b, int64_t k, int64_t hops)
{
    struct encoding e = paths_of(b, k, hops, 3), plain = distances_of(b, k, 1);
    assert_memory_equal(e.distances.data, plain.distances.data, (size_t)b->pairs * 8);
    int64_t d[64], pair = 0;
    for (int64_t g = 0; g < b->graphs; g++)
        for (int64_t first = b->offset[g], n = b->offset[g + 1] - first, i = 0; i < n; i++) {
            relax(b, g, i, d);
            for (int64_t j = 0; j < n; j++, pair++) {
                int64_t length = d[j] == INT32_MAX ? 0 : d[j], node = first + j;
                for (int64_t hop = length; hop < hops; hop++)
                    assert_int_equal(edge_at(&e, pair, hop), -1);
                for (int64_t hop = length - 1; hop >= 0; hop--) {
                    int64_t from = first;
                    bool found = false;
                    for (; !found; from += !found)
                        for (int64_t at = b->adj.row_ptr[node]; at < b->adj.row_ptr[node + 1]; at++)
                            found |= b->adj.col[at] == from && d[from - first] == hop;
                    if (hop < hops)
                        assert_int_equal(edge_at(&e, pair, hop), edge_of(b, from, node));
                    node = from;
                }
                assert_int_equal(length ? node : first + i, first + i);
            }
        }
    encoding_free(&e);
    encoding_free(&plain);
}

TEST(test_random_paths)
{
    struct batch awkward = batch_awkward(), er = batch_er(20, 5);
    for (int64_t hops = 1; hops <= 9; hops += 4) {
        assert_followed(&awkward, 10 - hops, hops);
        assert_followed(&er, 10 - hops, hops);
    }
    batch_free(&awkward);
    batch_free(&er);
}

/* Of paths that are right, and of those with an edge that is not there, or is another. */
TEST(test_check_of_paths)
{
    static const int arcs[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};
    const struct encoding_config c = {.buckets = 6, .hops = 4};
    const struct encoding_check_options o = {.seed = 1, .threads = 1};
    struct batch b = graph_of(6, arcs, 4, true);
    struct encoding e = paths_of(&b, 6, 4, 1);
    assert_string_equal(encoding_check(&c, &b, &e, &o).wrong, "");
    int32_t *path = e.paths.data;
    for (int64_t at = 0; at < b.pairs * 4; at++)
        for (int32_t wrong = -1; wrong < 8; wrong++) {
            int32_t right = path[at];
            path[at] = wrong;
            bool first = at % 4 == 0 || path[at - 1] >= 0; /* what follows -1 is not read */
            if (*encoding_check(&c, &b, &e, &o).wrong != '\0' && wrong == right)
                fail_msg("edge %d of pair %d is right", (int)(at % 4), (int)(at / 4));
            if (!*encoding_check(&c, &b, &e, &o).wrong && wrong != right && first)
                fail_msg("edge %d of pair %d: %d for %d is not found", (int)(at % 4), (int)(at / 4),
                         (int)wrong, (int)right);
            path[at] = right;
        }
    encoding_free(&e);
    batch_free(&b);
}

/* --- attention by distance */

enum { PATH_NODES = 3, PATH_WIDTH = 2, PATH_HEADS = 2, PATH_BUCKETS = 2 /* and a third row */ };

static const double path_x[] = {1, .5, 0, -1, 2, 1}, path_table[] = {.1, -.2, .3, .4, -.5, .6};

/* Attention, `times` over the same bias; the loss is the sum of y. */
static struct tape *biased(struct encoding *e, const struct batch *b, int times, struct mat *y,
                           struct mat *table)
{
    static const double ones[] = {1, 1, 1, 1, 1, 1};
    struct tape *t = tape_new_in_double();
    int64_t at[] = {0, PATH_NODES};
    struct offsets graphs = {input_copy(t, "graphs", I64, 2, 1, memcpy(b->offset, at, sizeof at)), b->pairs};
    struct mat q = param(t, "q", PATH_NODES, PATH_WIDTH, 1), k = param(t, "k", PATH_NODES, PATH_WIDTH, 1),
               v = param(t, "v", PATH_NODES, PATH_WIDTH, 1);
    struct mat one = input_copy(t, "one", F64, PATH_NODES, PATH_WIDTH, ones), loss = {0};
    *table = param(t, "table", PATH_BUCKETS + 1, PATH_HEADS, 1);
    struct mat index = input_encoding_index(t, "distances", b->pairs, 1, e->distances.data);
    struct mat bias = op(t, embedding, .table = *table, .index = index)->y;
    for (int n = 0; n < times; n++) {
        *y = op(t, attention, .q = q, .k = k, .v = v, .bias = bias, .graphs = graphs, .heads = PATH_HEADS)->y;
        struct mat rows = op(t, row_dot, .a = *y, .b = one)->y;
        struct mat sum = op(t, sum_pool, .x = rows, .graphs = graphs)->y;
        loss = n ? op(t, add, .a = loss, .b = sum)->y : sum;
    }
    tape_keep(t, *y);
    tape_make_ready(t, loss);
    memcpy(tape_view(t, q).data, path_x, sizeof path_x);
    memcpy(tape_view(t, k).data, path_x, sizeof path_x);
    memcpy(tape_view(t, v).data, path_x, sizeof path_x);
    memcpy(tape_view(t, *table).data, path_table, sizeof path_table);
    tape_run(t);
    return t;
}

/* A path of three nodes, whose ends are two edges apart: values of two independent programs. */
TEST(test_path)
{
    static const int arcs[][2] = {{0, 1}, {1, 2}};
    static const double y0[] = {1.3544512982, 0.5291973526},
                        slope[] = {-.3306918814, -.2365260918, .0636316215,
                                   -.0225625546, .2670602598,  .2590886464};
    struct batch b = graph_of(PATH_NODES, arcs, 2, true);
    struct encoding e = distances_of(&b, 3, 1);
    /* 0, 1 and 2 are told apart by three buckets, of which the last stands for more: a table of three rows.
     */
    struct mat y, table;
    for (int times = 1; times <= 3; times += 2) {
        struct tape *t = biased(&e, &b, times, &y, &table);
        for (int64_t c = 0; c < PATH_WIDTH; c++)
            assert_true(fabs(mat_get(tape_view(t, y), 0, c) - y0[c]) < 1e-10);
        for (int64_t i = 0; i < 6; i++)
            assert_true(fabs(mat_get(tape_gradient(t, table), i / 2, i % 2) - times * slope[i]) < 3e-10);
        tape_free(t);
    }
    encoding_free(&e);
    batch_free(&b);
}

#define TINY                                                                                                 \
    "--nodes 50 --hidden 16 --heads 2 --layers 2 --runs 2 --repetitions 1 --warmup 0 --threads 1 --output "  \
    "x.json "

TEST(test_rows)
{
    struct record *record = run_json(*state, TINY "--bias none,spd:4,spd:4:3", 0);
    const struct row *none = row_at(record, 0), *row = row_at(record, 1), *paths = row_at(record, 2);
    assert_string_equal(text_at(paths, "bias"), "spd:4:3");
    assert_string_equal(text_at(paths, "status"), "ok");
    assert_string_equal(text_at(paths, "checked"), "whole");
    assert_string_not_equal(text_at(row, "work"), text_at(paths, "work"));
    assert_int_equal(count_at(paths, "parameters"), count_at(row, "parameters") + 4 * 2 + 3 * 2 * 2);
    assert_int_equal(count_at(paths, "encoding.storage"), (8 + 4 * 3) * 50 * 50);
    assert_int_equal(count_at(paths, "step.memory.encodings"), (8 + 8 * 3 + 4) * 50 * 50);
    assert_int_equal(count_at(paths, "step.flops.counted"), count_at(paths, "step.flops.analytic"));
    assert_true(strstr(text_at(paths, "encoding.checked"), "distances and paths from up to 16") != NULL);
    assert_string_equal(text_at(none, "bias"), "none");
    assert_string_equal(text_at(row, "bias"), "spd:4");
    assert_string_equal(text_at(row, "status"), "ok");
    assert_string_equal(text_at(row, "checked"), "whole");
    assert_string_not_equal(text_at(row, "work"), text_at(none, "work"));
    assert_int_equal(count_at(row, "parameters"), count_at(none, "parameters") + 5 * 2);
    assert_int_equal(count_at(row, "encoding.storage"), 8 * 50 * 50);
    assert_int_equal(count_at(row, "step.memory.encodings"), 8 * 50 * 50);
    assert_int_equal(count_at(row, "step.flops.counted"), count_at(row, "step.flops.analytic"));
    assert_true(real_at(row, "encoding.time.median") > 0 && count_at(row, "encoding.break_even_step") > 0);
    assert_true(strstr(text_at(row, "encoding.checked"), "distances from up to 16 nodes") != NULL);
    record_free(record);
}

/* Beside an encoding of the nodes, in batches, ragged and padded, and of a directed graph in inference. */
TEST(test_combinations)
{
    static const char *const words[] = {"--bias spd:3 --pe rwse:4:8 --batch 3 --attention-dropout 0.2",
                                        "--bias spd:3 --batch 3 --batching padded",
                                        "--bias spd:3 --precision bf16 --mpnn gine --task node",
                                        "--bias spd:3 --checkpoint layer --precision tf32",
                                        "--bias spd:3:2 --batch 3 --batching padded --precision bf16",
                                        "--bias spd:3:2 --mpnn gatedgcn --checkpoint layer --precision tf32"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char all[256];
        snprintf(all, sizeof all, TINY "%s", words[i]);
        struct record *record = run_json(*state, all, 0);
        assert_string_equal(text_at(row_at(record, 0), "status"), "ok");
        record_free(record);
    }
}

TEST(test_refusals)
{
    static const char *const bad[] = {"spd:0",  "spd:1025", "spd",      "spd:4x",   "spd:-1",
                                      "hops:3", "spd:4:0",  "spd:4:65", "spd:4:2:1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char names[64];
        snprintf(names, sizeof names, "--bias %s", bad[i]);
        refuses(*state, "", MORE("--bias", bad[i]), names, "spd:20");
    }
    static const char *const attentions[] = {"sparse", "unfused", "performer", "none"};
    for (size_t i = 0; i < sizeof attentions / sizeof *attentions; i++) {
        char names[64];
        snprintf(names, sizeof names, "--attention %s", attentions[i]);
        refuses(*state, "--bias spd:4", MORE("--attention", attentions[i]), names,
                "a bias needs dense attention");
    }
    /* 8 bytes of a distance, 8 heads of 4 bytes, and as many of the gradient, for each of 10^10 pairs */
    refuses(*state, "--bias spd:4 --nodes 100000 --mem-limit 100GiB --degree 2", NULL,
            "--bias spd:4 --nodes 100000", "the pairs need 67");
    refuses(*state, "--bias spd:4 --ranks 2 --parallel ulysses --device meta", NULL, "--parallel ulysses",
            "--bias");
    refuses(*state, "--bias spd:4 --ranks 2 --parallel ring --device meta", NULL, "--parallel ring",
            "--bias");
}

GROUP("tests", house_setup, house_teardown)
