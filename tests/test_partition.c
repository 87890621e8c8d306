/* METIS divides graphs evenly, with few edges between parts, within the limit of memory; without it, it says
 * so. */
#include "graphs/family.h"
#include "graphs/graph.h"
#include "graphs/partition.h"
#include "tests/test.h"

static struct batch generated(const char *family, int64_t nodes, double degree, int64_t graphs)
{
    struct graph_config c = {.family = family, .nodes = nodes, .degree = degree, .graphs = graphs, .seed = 7};
    struct batch b;
    char error[256];
    if (!batch_generate(&b, &c, error, sizeof error))
        fail_msg("%s", error);
    return b;
}

static struct partition made(struct batch *b, int parts)
{
    struct graph_config c = {.seed = 7};
    struct partition p;
    char error[256];
    if (!partition_make(&p, b, &c, parts, error, sizeof error))
        fail_msg("%s", error);
    return p;
}

static int part_of(const struct partition *p, int64_t node)
{
    int k = 0;
    while (p->number[node] >= p->first[k + 1])
        k++;
    return k;
}

/* The numbers are a permutation, in which the nodes of a part keep their order. */
static void check_numbers(const struct partition *p)
{
    int32_t *list = partition_list(p), last = -1;
    assert_non_null(list);
    assert_true(p->first[0] == 0 && p->first[p->parts] == p->nodes);
    for (int64_t i = 0, k = 0; i < p->nodes; i++, last = list[i - 1]) {
        assert_int_equal(p->number[list[i]], i);
        for (; i == p->first[k + 1]; k++)
            last = -1;
        assert_true(list[i] > last);
    }
    free(list);
}

static double share_cut(const struct batch *b, const struct partition *p)
{
    int64_t cut = 0;
    for (int64_t i = 0; i < b->adj.nodes; i++)
        for (int64_t e = b->adj.row_ptr[i]; e < b->adj.row_ptr[i + 1]; e++)
            cut += part_of(p, i) != part_of(p, b->adj.col[e]);
    return (double)cut / (double)b->adj.edges;
}

static double imbalance(const struct partition *p)
{
    int64_t most = 0;
    for (int k = 0; k < p->parts; k++)
        most = p->first[k + 1] - p->first[k] > most ? p->first[k + 1] - p->first[k] : most;
    return (double)(most * p->parts) / (double)p->nodes;
}

/* Neighbours in a plane, a torn one (star), pairs several times (rmat), and several graphs. */
TEST(test_metis)
{
    static const struct {
        const char *family;
        int64_t nodes, graphs;
        double cut;
    } cases[] = {{"superpixel", 4000, 1, 0.1}, {"grid", 3000, 1, 0.06}, {"rmat", 900, 1, 0.9},
                 {"er", 500, 4, 0.35},         {"star", 300, 1, 1},     {"path", 40, 1, 0.3}};
    if (!partition_possible())
        skip();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int parts = 2; parts <= 5; parts++) {
            struct batch b = generated(cases[k].family, cases[k].nodes, 6, cases[k].graphs);
            struct partition p = made(&b, parts), again = made(&b, parts);
            check_numbers(&p);
            assert_true(imbalance(&p) <= 1.1);
            assert_true(share_cut(&b, &p) <= cases[k].cut);
            assert_memory_equal(p.number, again.number, (size_t)p.nodes * sizeof *p.number);
            partition_free(&p);
            partition_free(&again);
            batch_free(&b);
        }
}

/* Fewer nodes than parts, and no edges: METIS is not asked. */
TEST(test_trivial)
{
    static const int64_t nodes[] = {1, 2, 3, 50};
    for (int k = 0; k < 4; k++) {
        struct batch b = generated("er", nodes[k], nodes[k] < 50 ? 3 : 0, 1);
        struct partition p = made(&b, 3);
        check_numbers(&p);
        for (int i = 0; i < 3; i++)
            assert_true(p.first[i + 1] - p.first[i] <= (nodes[k] + 2) / 3);
        partition_free(&p);
        batch_free(&b);
    }
}

static bool is_stopped(const void *context)
{
    (void)context;
    return true;
}

TEST(test_refusals)
{
    struct batch b = generated("er", 3000, 6, 1);
    struct graph_config c = {.seed = 7, .limits.memory = 1 << 20};
    struct partition p;
    char error[256];
    assert_false(partition_make(&p, &b, &c, 4, error, sizeof error));
    assert_true(b.peak > 1 << 20 && strstr(error, "building the graph needs 1 MiB"));
    c.limits = (struct graph_limits){.cancel = {is_stopped, NULL}};
    assert_false(partition_make(&p, &b, &c, 4, error, sizeof error));
    assert_non_null(strstr(error, "stopped while partitioning a graph of 3000 nodes"));
    batch_free(&b);
}

GROUP("partition", NULL, NULL)
