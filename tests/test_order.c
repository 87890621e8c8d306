/* Orders of nodes: the same graphs, with all that belongs to their nodes and edges, under other numbers. */
#include <math.h>
#include <omp.h>

#include "graphs/batching.h"
#include "graphs/order.h"
#include "graphs/permutation.h"
#include "models/layers/features.h"
#include "models/layers/model.h"
#include "tests/batches.h"
#include "tests/graphs.h"
#include "tests/records.h"
#include "tests/test.h"

enum { ERROR_SIZE = 200, FEATURES_OF_NODE = 3 };

static void *array(int64_t count, size_t size)
{
    void *at = calloc((size_t)count + 1, size);
    assert_non_null(at);
    return at;
}

/* Gives nodes and edges values that tell them apart: the first feature is the number, and so is the label. */
static struct batch marked(struct batch b)
{
    struct batch_inputs *in = &b.inputs;
    free(b.out_edge);
    b.out_edge = NULL;
    in->features =
        (struct batch_table){array(b.adj.nodes * FEATURES_OF_NODE, sizeof(float)), FEATURES_OF_NODE, 0};
    in->edge_features = (struct batch_table){array(b.adj.edges, sizeof(float)), 1, 0};
    in->label = array(b.adj.nodes, sizeof *in->label);
    in->classes = b.adj.nodes;
    for (int64_t i = 0; i < b.adj.nodes; i++) {
        in->label[i] = i;
        for (int64_t k = 0; k < FEATURES_OF_NODE; k++)
            in->features.value[i * FEATURES_OF_NODE + k] = (float)(k ? cos((double)(k + i)) : (double)i);
    }
    for (int64_t e = 0; e < b.adj.edges; e++)
        in->edge_features.value[e] = (float)e;
    return b;
}

static void order(struct batch *b, enum order way)
{
    static const struct graph_config any = {0};
    char error[ERROR_SIZE] = "";
    if (!batch_order(b, way, &any, error, sizeof error))
        fail_msg("%s", error);
}

/* A family with its nodes in a random order. */
static struct batch shuffled(const char *family, int64_t nodes, int64_t graphs)
{
    struct batch b = graph_generated(family, nodes, 4, graphs, 1);
    int64_t *to = array(b.adj.nodes, sizeof *to);
    for (int64_t g = 0; g < b.graphs; g++) {
        struct permutation p = permutation_make((uint64_t)g, (uint64_t)batch_size(&b, g));
        for (int64_t i = 0; i < batch_size(&b, g); i++)
            to[b.offset[g] + i] = b.offset[g] + (int64_t)permutation_at(&p, (uint64_t)i);
    }
    struct batch s = batch_relabelled(&b, to);
    free(to);
    batch_free(&b);
    return marked(s);
}

/* --- the same graph */

/* Checks the numbers, which the labels tell, and that features have moved likewise; number[old] = new. */
static int64_t *check_numbers(const struct batch *b)
{
    int64_t *number = array(b->adj.nodes, sizeof *number);
    bool *seen = array(b->adj.nodes, sizeof *seen);
    for (int64_t i = 0, g = 0; i < b->adj.nodes; i++) {
        int64_t old = b->inputs.label[i];
        g += i == b->offset[g + 1];
        assert_true(old >= b->offset[g] && old < b->offset[g + 1] && !seen[old]);
        assert_true(old == i || i - b->offset[g] < batch_size(b, g)); /* padding stays */
        seen[old] = true;
        number[old] = i;
        assert_true(b->inputs.features.value[i * FEATURES_OF_NODE] == (float)old);
        assert_true(b->inputs.features.value[i * FEATURES_OF_NODE + 2] == (float)cos((double)(2 + old)));
    }
    free(seen);
    return number;
}

/* Each edge has the value of its own; parallel edges keep their order. */
static void check_edges(const struct batch *before, const struct batch *after, const int64_t *number)
{
    bool *seen = array(before->adj.edges, sizeof *seen);
    for (int64_t i = 0; i < before->adj.nodes; i++)
        for (int64_t e = after->adj.row_ptr[i]; e < after->adj.row_ptr[i + 1]; e++) {
            int64_t old = (int64_t)after->inputs.edge_features.value[e], receiver = after->inputs.label[i];
            assert_false(seen[old]);
            seen[old] = true;
            assert_true(old >= before->adj.row_ptr[receiver] && old < before->adj.row_ptr[receiver + 1]);
            assert_int_equal(after->adj.col[e], number[before->adj.col[old]]);
            if (e > after->adj.row_ptr[i] && after->adj.col[e] == after->adj.col[e - 1])
                assert_true((int64_t)after->inputs.edge_features.value[e - 1] < old);
        }
    free(seen);
}

/* `make` gives the same batch each time. */
static void check_graph(struct batch (*make)(void), enum order way)
{
    struct batch before = make(), after = make(), again = make();
    char error[ERROR_SIZE];
    order(&after, way);
    int64_t *number = check_numbers(&after);
    struct batch want = batch_relabelled(&before, number);
    assert_true(csr_validate(&after.adj, error, sizeof error));
    assert_true(csr_equal(&after.adj, &want.adj) && csr_equal(&after.out, &want.out));
    check_edges(&before, &after, number);
    omp_set_num_threads(3);
    order(&again, way);
    omp_set_num_threads(1);
    assert_true(csr_equal(&again.adj, &after.adj));
    free(number);
    batch_free(&want);
    batch_free(&before);
    batch_free(&after);
    batch_free(&again);
}

static struct batch awkward(void)
{
    return marked(batch_awkward());
}

static struct batch several(void)
{
    return marked(batch_er(20, 7));
}

static struct batch padded(void)
{
    struct graph_config c = {
        .family = "rmat", .nodes = 20, .degree = 3, .graphs = 7, .seed = 1, .batching = BATCHING_PADDED};
    struct batch b;
    char error[ERROR_SIZE];
    assert_true(batch_generate(&b, &c, error, sizeof error));
    return marked(b);
}

TEST(test_same_graph)
{
    for (enum order way = ORDER_NONE; way < ORDERS; way++) {
        check_graph(awkward, way);
        check_graph(several, way);
        check_graph(padded, way);
    }
}

/* --- what the orders are */

TEST(test_degrees)
{
    struct batch b = marked(graph_generated("ba", 300, 5, 1, 1));
    (void)state;
    order(&b, ORDER_DEGREE);
    for (int64_t i = 1; i < b.adj.nodes; i++) {
        const int64_t *row = b.adj.row_ptr + i;
        int64_t before = row[0] - row[-1], own = row[1] - row[0];
        assert_true(own < before || (own == before && b.inputs.label[i - 1] < b.inputs.label[i]));
    }
    batch_free(&b);
}

/* The widths are known: 1 of paths, the shorter side of a grid, and 2 of a cycle. */
TEST(test_bandwidths)
{
    static const struct {
        const char *family;
        int64_t nodes, graphs, most;
    } cases[] = {{"path", 1000, 1, 1}, {"path", 40, 9, 1}, {"cycle", 1000, 1, 2}, {"grid", 900, 1, 30}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (enum order way = ORDER_BFS; way <= ORDER_RCM; way++) {
            struct batch b = shuffled(cases[i].family, cases[i].nodes, cases[i].graphs);
            assert_true(csr_bandwidth(&b.adj) > 4 * cases[i].most);
            order(&b, way);
            if (way == ORDER_RCM)
                assert_int_equal(csr_bandwidth(&b.adj), cases[i].most);
            else
                assert_true(csr_bandwidth(&b.adj) <= 2 * cases[i].most);
            batch_free(&b);
        }
}

/* --- limits */

struct countdown {
    int *left;
};

static bool is_spent(const void *context)
{
    const struct countdown *c = context;
    return (*c->left)-- <= 0;
}

/* Whenever it is cancelled, there is a line, and nothing is left. */
TEST(test_cancelled)
{
    int asks = 0, checks;
    (void)state;
    do {
        int left = asks;
        struct countdown c = {&left};
        struct graph_config config = {.limits.cancel = {is_spent, &c}};
        struct batch b = several();
        char error[ERROR_SIZE] = "";
        bool done = batch_order(&b, ORDER_RCM, &config, error, sizeof error);
        checks = asks - left;
        assert_int_equal(done, left >= 0);
        assert_int_equal(b.offset != NULL, done);
        assert_int_equal(strstr(error, "stopped while ordering a graph of 140 nodes") != NULL, !done);
        batch_free(&b);
        asks += 7;
    } while (checks > asks - 7);
    assert_true(asks > 100);
}

/* Of a shape, only the memory is known, and it is the same. */
TEST(test_memory)
{
    struct graph_config c = {.family = "er", .nodes = 500, .degree = 5, .graphs = 1, .seed = 1};
    struct batch shape, b;
    char error[ERROR_SIZE];
    (void)state;
    assert_true(batch_shape(&shape, &c, error, sizeof error) &&
                batch_order(&shape, ORDER_RCM, &c, error, sizeof error));
    assert_true(batch_generate(&b, &c, error, sizeof error) &&
                batch_order(&b, ORDER_RCM, &c, error, sizeof error));
    assert_int_equal(shape.peak, b.peak);
    assert_true(b.peak > 2 * csr_bytes(&b.adj) + 8 * b.adj.edges);
    batch_free(&shape);
    c.limits.memory = b.peak - 1;
    batch_free(&b);
    assert_true(batch_generate(&b, &c, error, sizeof error));
    assert_false(batch_order(&b, ORDER_RCM, &c, error, sizeof error));
    assert_non_null(strstr(error, "building the graph needs"));
    assert_int_equal(b.peak, c.limits.memory + 1);
    assert_null(b.offset);
}

TEST(test_too_many_edges)
{
    struct batch b = graph_generated("er", 10, 2, 1, 1);
    static const struct graph_config any = {0};
    char error[ERROR_SIZE];
    (void)state;
    b.adj.edges = (int64_t)UINT32_MAX + 1;
    assert_false(batch_order(&b, ORDER_RCM, &any, error, sizeof error));
    assert_string_equal(error, "nodes of graphs of more than 4294967295 edges cannot be ordered");
    assert_null(b.offset);
}

/* --- models */

static struct recording forward(const struct batch *b, enum task_kind task)
{
    struct model_config c = {.layers = 2, .hidden = 12, .heads = 3, .ffn = 24, .task = task};
    c.attention = ATTENTION_SPARSE;
    c.mpnn = MPNN_GINE;
    model_take_inputs(&c, &b->inputs);
    struct tape_config tape = {.backend = &backend_ref, .dtype = F64, .threads = 1, .seed = 3};
    struct recording r = program_record(PROGRAM_FORWARD, &c, b, NULL, tape);
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    tape_run(r.tape);
    return r;
}

/* A model gives a graph the same output, and a node its own, whatever their numbers. */
TEST(test_models)
{
    static const enum task_kind tasks[] = {TASK_GRAPH, TASK_NODE};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct batch before = awkward(), after = awkward();
        order(&after, ORDER_RCM);
        struct recording one = forward(&before, tasks[i]), other = forward(&after, tasks[i]);
        struct mat want = tape_view(one.tape, one.output), have = tape_view(other.tape, other.output);
        assert_int_equal(have.rows, want.rows);
        for (int64_t row = 0; row < want.rows; row++)
            for (int64_t k = 0; k < want.cols; k++) {
                int64_t old = tasks[i] == TASK_NODE ? after.inputs.label[row] : row;
                double right = mat_get(want, old, k);
                assert_true(fabs(mat_get(have, row, k) - right) <= 1e-6 * (1 + fabs(right)));
            }
        tape_free(one.tape);
        tape_free(other.tape);
        batch_free(&before);
        batch_free(&after);
    }
}

/* --- rows */

static int setup(void **state)
{
    return house_of(state, "bench_node_scaling");
}

TEST(test_rows)
{
    struct record *r = run_json(*state,
                                "--order none,degree,bfs,rcm --nodes 90 --graph grid --model gps_sparse "
                                "--hidden 16 --heads 2 --layers 1 --runs 2 --threads 1 --output x.json",
                                0);
    const struct row *none = row_at(r, 0);
    assert_int_equal(row_count(r), ORDERS);
    assert_int_equal(count_at(none, "graph.bandwidth"), 10);
    for (int i = 0; i < ORDERS; i++) {
        const struct row *row = row_at(r, (size_t)i);
        assert_string_equal(text_at(row, "status"), "ok");
        assert_string_equal(text_at(row, "checked"), "whole");
        assert_string_equal(text_at(row, "graph.order"), order_name(i));
        if (i == ORDER_NONE)
            assert_absent(row, "graph.order_seconds");
        else
            assert_true(real_at(row, "graph.order_seconds") > 0);
        assert_int_equal(strcmp(text_at(row, "work"), text_at(none, "work")) == 0, i == ORDER_NONE);
        assert_int_equal(count_at(row, "step.flops.analytic"), count_at(none, "step.flops.analytic"));
    }
    assert_int_equal(count_at(row_at(r, ORDER_RCM), "graph.bandwidth"), 9);
    record_free(r);
}

GROUP("tests", setup, house_teardown)
