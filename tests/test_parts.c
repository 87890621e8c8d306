/*
 * Parts of batches that ranks have: parts of the graphs, and parts of the nodes, make up the whole; and parts
 * of the nodes that are drawn as such are the same as those that are cut from the whole, and have the shapes
 * that are planned. So with parts that are not consecutive.
 */
#include "graphs/family.h"
#include "graphs/graph.h"
#include "graphs/halo.h"
#include "graphs/part_shapes.h"
#include "graphs/partition.h"
#include "tests/test.h"

static struct batch generated(struct graph_config c)
{
    struct batch b;
    char error[256];
    if (!batch_generate(&b, &c, error, sizeof error))
        fail_msg("%s", error);
    return b;
}

static struct graph_config config_of(const char *family, int64_t nodes, double degree, int64_t graphs)
{
    return (struct graph_config){
        .family = family, .nodes = nodes, .degree = degree, .graphs = graphs, .seed = 7};
}

/* Whether a part has the graphs of the whole from its first on, with the same edges. */
static void assert_part(const struct batch *whole, const struct batch *part)
{
    int64_t first = part->part.node;
    for (int64_t g = 0; g <= part->graphs; g++)
        assert_int_equal(whole->offset[part->part.graph + g], first + part->offset[g]);
    for (int64_t i = 0; i <= part->adj.nodes; i++)
        assert_int_equal(whole->adj.row_ptr[first + i], part->part.edge + part->adj.row_ptr[i]);
    for (int64_t e = 0; e < part->adj.edges; e++)
        assert_int_equal(whole->adj.col[part->part.edge + e], first + part->adj.col[e]);
}

TEST(test_graphs)
{
    static const int64_t counts[] = {1, 2, 3, 9, 64};
    for (int k = 0; k < 5; k++) {
        struct graph_config c = config_of("er", 12, 2, counts[k]);
        struct batch whole = generated(c);
        for (int ranks = 1; ranks <= 5; ranks++) {
            int64_t graphs = 0, most = 0;
            for (int rank = 0; rank < ranks; rank++) {
                c.rank = rank;
                c.ranks = ranks;
                struct batch b = generated(c);
                assert_int_equal(b.part.graphs, whole.graphs);
                assert_int_equal(b.part.nodes, whole.adj.nodes);
                if (b.part.empty) {
                    assert_true(b.graphs == 1 && b.adj.nodes == 1 && b.adj.edges == 0);
                } else {
                    assert_int_equal(b.part.graph, graphs);
                    assert_part(&whole, &b);
                    graphs += b.graphs;
                    most = b.adj.nodes > most ? b.adj.nodes : most;
                }
                batch_free(&b);
            }
            assert_int_equal(graphs, whole.graphs);
            /* A rank has at most one graph of up to 18 nodes more than its share. */
            assert_true(most <= whole.adj.nodes / ranks + 18);
        }
        batch_free(&whole);
    }
}

/* The node of the batch that a row of a part is; -1: that of a halo node. */
static int64_t node_of(const struct halo *h, int rank, int64_t row)
{
    return row >= h->nodes ? -1 : h->node ? h->node[row] : h->first[rank] + row;
}

/* What rank `to` gets from `from` is what `from` sends it; returns the node of each halo node of `to`. */
static int64_t *halo_nodes_of(const struct batch *part, int ranks, int to)
{
    const struct halo *h = &part[to].halo;
    int64_t *node = calloc((size_t)h->halo_nodes + 1, sizeof *node);
    assert_non_null(node);
    for (int from = 0; from < ranks; from++) {
        const struct halo *other = &part[from].halo;
        int64_t count = h->get_at[from + 1] - h->get_at[from];
        assert_int_equal(count, other->send_at[to + 1] - other->send_at[to]);
        assert_true(from != to || count == 0);
        for (int64_t k = 0; k < count; k++)
            node[h->get_at[from] + k] = node_of(other, from, other->send[other->send_at[to] + k]);
    }
    assert_int_equal(h->get_at[ranks], h->halo_nodes);
    return node;
}

/* The edges of a part are those of the batch to its nodes, and `out` lists them by sender. */
static int64_t check_edges(const struct batch *whole, const struct batch *part, int rank, const int64_t *halo)
{
    const struct halo *h = &part->halo;
    int64_t seen = 0, cut = 0;
    for (int64_t i = 0; i < h->nodes; i++) {
        const int64_t *row = whole->adj.row_ptr + node_of(h, rank, i);
        int64_t from = row[0], edges = row[1] - from, begin = part->adj.row_ptr[i];
        assert_int_equal(part->adj.row_ptr[i + 1] - begin, edges);
        for (int64_t e = begin; e < part->adj.row_ptr[i + 1]; e++) {
            int64_t sender = part->adj.col[e], node = node_of(h, rank, sender);
            cut += node < 0;
            node = node < 0 ? halo[sender - part->adj.nodes] : node;
            bool sent = false;
            for (int64_t k = from; k < from + edges; k++)
                sent = sent || whole->adj.col[k] == node;
            assert_true(sent && (h->node || node == whole->adj.col[from + e - begin]));
            bool listed = false;
            for (int64_t o = part->out.row_ptr[sender]; o < part->out.row_ptr[sender + 1]; o++)
                listed = listed || part->out.col[o] == i;
            assert_true(listed);
            seen++;
        }
    }
    assert_int_equal(seen, part->adj.edges);
    assert_int_equal(part->out.row_ptr[part->out.nodes], seen);
    assert_int_equal(cut, h->cut);
    return seen;
}

/* The part of a rank, cut from the whole batch. */
static struct batch divided(struct graph_config c, int rank, int ranks)
{
    struct batch b = generated(c);
    char error[256];
    c.by_nodes = true;
    c.rank = rank;
    c.ranks = ranks;
    if (!batch_divide(&b, &c, error, sizeof error))
        fail_msg("%s", error);
    return b;
}

/* Which graph each own node is in. */
static void check_graphs(const struct batch *whole, const struct batch *part, int rank)
{
    for (int64_t g = 0; g < whole->graphs && !part->part.empty; g++)
        for (int64_t i = part->offset[g]; i < part->offset[g + 1]; i++) {
            int64_t node = node_of(&part->halo, rank, i);
            assert_true(node >= whole->offset[g] && node < whole->offset[g + 1]);
        }
}

/* Parts of any nodes, the last of which has none, and not in their order. */
static struct partition scattered(int64_t nodes, int parts)
{
    struct partition p;
    int32_t *part = calloc((size_t)nodes, sizeof *part);
    assert_non_null(part);
    for (int64_t i = 0; i < nodes; i++)
        part[i] = (int32_t)((i * i + i / 3) % (parts > 1 ? parts - 1 : 1));
    assert_true(partition_number(&p, part, nodes, parts));
    free(part);
    return p;
}

static void check_nodes(struct graph_config c, int ranks, const struct batch *whole)
{
    struct batch part[5];
    int64_t edges = 0, nodes = 0;
    for (int rank = 0; rank < ranks; rank++)
        part[rank] = divided(c, rank, ranks);
    for (int rank = 0; rank < ranks; rank++) {
        int64_t *halo = halo_nodes_of(part, ranks, rank);
        edges += check_edges(whole, &part[rank], rank, halo);
        check_graphs(whole, &part[rank], rank);
        nodes += part[rank].halo.nodes;
        assert_true(part[rank].part.empty == (part[rank].halo.nodes == 0));
        assert_int_equal(part[rank].out.nodes, part[rank].adj.nodes + part[rank].halo.halo_nodes);
        free(halo);
    }
    assert_int_equal(edges, whole->adj.edges);
    assert_int_equal(nodes, whole->adj.nodes);
    for (int rank = 0; rank < ranks; rank++)
        batch_free(&part[rank]);
}

TEST(test_nodes)
{
    static const struct {
        int64_t nodes, graphs;
        double degree;
    } cases[] = {{1, 1, 0}, {3, 1, 2}, {40, 1, 3}, {9, 5, 2}, {30, 1, 20}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int ranks = 1; ranks <= 5; ranks++) {
            struct graph_config c = config_of("er", cases[k].nodes, cases[k].degree, cases[k].graphs);
            struct batch whole = generated(c);
            struct partition p = scattered(whole.adj.nodes, ranks);
            check_nodes(c, ranks, &whole);
            c.partition = &p;
            check_nodes(c, ranks, &whole);
            partition_free(&p);
            batch_free(&whole);
        }
}

/* Whether two parts have the same place in the batch, and as much. */
static void assert_same_place(const struct batch *a, const struct batch *b)
{
    const struct halo *g = &a->halo, *h = &b->halo;
    size_t graphs = (size_t)(a->graphs + 1) * sizeof *a->offset;
    assert_true(a->graphs == b->graphs && a->pairs == b->pairs && a->clamped == b->clamped);
    assert_true(a->symmetric == b->symmetric && a->part.empty == b->part.empty);
    assert_true(a->part.node == b->part.node && a->part.edge == b->part.edge);
    assert_true(a->part.graph == b->part.graph && a->part.graphs == b->part.graphs);
    assert_true(a->part.nodes == b->part.nodes && g->ranks == h->ranks && g->nodes == h->nodes);
    assert_true(g->halo_nodes == h->halo_nodes && g->sends == h->sends && g->cut == h->cut);
    assert_memory_equal(g->first, h->first, (size_t)(g->ranks + 1) * sizeof *g->first);
    assert_memory_equal(g->offset, h->offset, graphs);
    assert_memory_equal(a->offset, b->offset, graphs);
}

/* Whether two parts are the same, bit for bit. */
static void assert_same(const struct batch *a, const struct batch *b)
{
    const struct halo *g = &a->halo, *h = &b->halo;
    size_t bounds = (size_t)(g->ranks + 1) * sizeof *g->get_at;
    assert_same_place(a, b);
    assert_true(csr_equal(&a->adj, &b->adj) && csr_equal(&a->out, &b->out));
    assert_memory_equal(g->get_at, h->get_at, bounds);
    assert_memory_equal(g->send_at, h->send_at, bounds);
    assert_memory_equal(g->send, h->send, (size_t)g->sends * sizeof *g->send);
    assert_true(!g->node == !h->node);
    if (g->node)
        assert_memory_equal(g->node, h->node, (size_t)g->nodes * sizeof *g->node);
}

/* Whether the shape of a part is that of the part. */
static void assert_shape(const struct batch *shape, const struct batch *b)
{
    const struct halo *g = &shape->halo;
    assert_true(!shape->adj.row_ptr && !shape->out.row_ptr && !g->send);
    assert_int_equal(shape->adj.nodes, b->adj.nodes);
    assert_int_equal(shape->adj.edges, b->adj.edges);
    assert_int_equal(shape->out.nodes, b->out.nodes);
    assert_int_equal(shape->out.edges, b->out.edges);
    assert_same_place(shape, b);
    assert_true(shape->peak >= csr_bytes(&b->adj) + csr_bytes(&b->out));
}

/* From edges that are drawn, and from those of a whole. */
static void check_shapes(struct graph_config c, int ranks)
{
    struct batch whole = generated(c), drawn[5], counted[5];
    char error[256];
    c.ranks = ranks;
    c.by_nodes = true;
    assert_true(batch_shape_parts(drawn, &c, NULL, error, sizeof error));
    assert_true(batch_shape_parts(counted, &c, &whole, error, sizeof error));
    for (c.rank = 0; c.rank < ranks; c.rank++) {
        struct batch b = generated(c);
        assert_shape(&drawn[c.rank], &b);
        assert_shape(&counted[c.rank], &b);
        batch_free(&b);
        batch_free(&drawn[c.rank]);
        batch_free(&counted[c.rank]);
    }
    batch_free(&whole);
}

static void check_divided(struct graph_config c, int ranks)
{
    check_shapes(c, ranks);
    for (int rank = 0; rank < ranks; rank++) {
        struct graph_config own = c;
        own.by_nodes = true;
        own.rank = rank;
        own.ranks = ranks;
        struct batch cut = divided(c, rank, ranks), drawn = generated(own);
        assert_same(&cut, &drawn);
        batch_free(&cut);
        batch_free(&drawn);
    }
}

/* By ranges, and scattered. */
static void check_parts(struct graph_config c)
{
    struct batch shape;
    char error[256];
    assert_true(batch_shape(&shape, &c, error, sizeof error));
    for (int ranks = 2; ranks <= 5; ranks++) {
        struct partition p = scattered(shape.adj.nodes, ranks);
        check_divided(c, ranks);
        c.partition = &p;
        check_divided(c, ranks);
        c.partition = NULL;
        partition_free(&p);
    }
    batch_free(&shape);
}

/* Every family: a rank without nodes, isolated nodes, graphs of different sizes that ranks share. */
TEST(test_drawn)
{
    static const struct {
        int64_t nodes, graphs;
        double degree;
    } cases[] = {{1, 1, 0}, {3, 1, 1}, {90, 1, 1}, {90, 1, 6}, {11, 7, 3}, {4, 2, 40}};
    for (const struct graph_family *f = graph_families; f->name; f++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
            check_parts(config_of(f->name, cases[k].nodes, cases[k].degree, cases[k].graphs));
    check_parts(config_of("er:giant", 60, 2, 1));
    check_parts(config_of("er:giant", 9, 2, 5));
    check_parts(config_of("zinc", 1, 0, 9));
}

/* A range of edges is that of the whole. */
TEST(test_ranges)
{
    for (const struct graph_family *f = graph_families; f->name; f++) {
        uint64_t whole[2000], range[2000];
        struct graph_spec s = {.first = 3, .nodes = 40, .degree = 5, .key = 9};
        for (int p = 0; p < graph_family_parameters(f); p++)
            s.value[p] = f->parameter[p].standard;
        int64_t pairs = f->edges(&s) / 2;
        assert_true(pairs > 7 && 2 * pairs <= 2000);
        if (!f->ranged)
            continue;
        assert_true(f->draw(whole, &s));
        for (; s.begin < pairs; s.begin = s.end) {
            s.end = s.begin + 7 < pairs ? s.begin + 7 : pairs;
            assert_true(f->draw(range + 2 * s.begin, &s));
        }
        assert_memory_equal(range, whole, (size_t)(2 * pairs) * sizeof *whole);
    }
}

/* More than one block of edges. */
TEST(test_blocks)
{
    static const char *const families[] = {"er", "rmat", "complete", "grid3d"};
    for (int i = 0; i < 4; i++) {
        struct graph_config c = config_of(families[i], i == 2 ? 900 : 100000, 6, 1);
        struct batch cut = divided(c, 1, 3);
        c.by_nodes = true;
        c.rank = 1;
        c.ranks = 3;
        struct batch drawn = generated(c);
        assert_same(&cut, &drawn);
        batch_free(&cut);
        batch_free(&drawn);
    }
}

/* The memory of a part is that of its own edges, and the limit holds for drawing and for dividing. */
TEST(test_memory)
{
    struct graph_config c = config_of("er", 300000, 16, 1);
    struct batch whole = generated(c), cut = divided(c, 1, 4), b;
    char error[256];
    c.by_nodes = true;
    c.rank = 1;
    c.ranks = 4;
    struct batch drawn = generated(c);
    assert_true(drawn.peak < whole.peak / 3 && cut.peak >= whole.peak);
    assert_true(drawn.peak >= csr_bytes(&drawn.adj) + csr_bytes(&drawn.out));
    c.limits.memory = drawn.peak;
    batch_free(&drawn);
    drawn = generated(c);
    for (; c.limits.memory > 1 << 10; c.limits.memory = c.limits.memory * 2 / 3 - 1) {
        c.limits.memory--;
        assert_false(batch_generate(&b, &c, error, sizeof error));
        assert_true(b.peak > c.limits.memory && strstr(error, "building the graph needs"));
    }
    batch_free(&whole);
    batch_free(&cut);
    batch_free(&drawn);
}

/* The limit holds for counting what ranks share, and for a giant component, which is made for that. */
TEST(test_shapes_memory)
{
    static const char *const families[] = {"er", "ba", "er:giant"};
    for (int i = 0; i < 3; i++) {
        struct graph_config c = config_of(families[i], 20000, 16, 1);
        struct batch part[4];
        char error[256];
        c.by_nodes = true;
        c.ranks = 4;
        for (c.limits.memory = 1 << 30; c.limits.memory > 1000; c.limits.memory /= 3) {
            bool made = batch_shape_parts(part, &c, NULL, error, sizeof error);
            assert_true(made || (part->peak > c.limits.memory && strstr(error, "the graph needs")));
            assert_true(made || c.limits.memory < 1 << 29);
            for (int r = 0; r < 4; r++)
                batch_free(&part[r]);
        }
        assert_false(batch_shape_parts(part, &c, NULL, error, sizeof error));
    }
}

GROUP("parts", NULL, NULL)
