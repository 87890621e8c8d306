/*
 * Features and labels of a data set's folder: where they are in a batch, what is refused, and rows of models
 * that compute with them, which the oracle checks.
 */
#include <sys/stat.h>

#include "graphs/graph.h"
#include "graphs/inputs.h"
#include "models/layers/config.h"
#include "tests/files.h"
#include "tests/records.h"
#include "tests/refusals.h"
#include "tests/test.h"
#include "tests/values.h"

#define TINY "--hidden 16 --heads 2 --layers 2 --runs 2 --warmup 1 --output x.json "

/* Two graphs of 3 and 2 nodes; the feature of an edge from node i to j of graph g is 100 g + 10 i + j. */
static const char *const files[][2] = {
    {"num-node-list.csv", "3\n2\n"},
    {"num-edge-list.csv", "5\n2\n"},
    {"edge.csv", "2,1\n0,1\n1,0\n2,1\n2,2\n1,0\n0,1\n"},
    {"edge-feat.csv", "21,1\n1,2\n10,3\n21,4\n22,5\n110,6\n101,7\n"},
    {"node-feat.csv", "0.5,1,2\n1.5,1,2\n2.5,1,2\n3.5,1,2\n4.5,-1,1e2\n"},
    {"node-label.csv", "0\n3\n1\n2\n3\n"},
    {"graph-label.csv", "0.25,1\n-0.5,2\n"},
};

static const struct graph_tables none;

enum { FILES = sizeof files / sizeof *files };

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_bytes(path, text, strlen(text));
}

static void write_files(const char *folder, const char *const (*texts)[2], int count)
{
    mkdir(folder, 0700);
    for (int i = 0; i < count; i++)
        write_file(folder, texts[i][0], texts[i][1]);
}

static const char *folder_of(const struct house *h, char text[PATH_MAX])
{
    snprintf(text, PATH_MAX, "%s/set", h->root);
    write_files(text, files, FILES);
    return text;
}

static struct batch batch_of(const char *direction, const char *folder)
{
    char family[PATH_MAX + 16], error[256];
    snprintf(family, sizeof family, "%s:%s", direction, folder);
    struct graph_config g = {.family = family, .graphs = 1};
    struct batch b;
    if (!batch_generate(&b, &g, error, sizeof error) ||
        !batch_read_inputs(&b, &g, &none, error, sizeof error))
        fail_msg("%s", error);
    return b;
}

/* Whether every edge has the row of its own; in an undirected file of one of both directions. */
TEST(test_edges_keep_their_rows)
{
    char folder[PATH_MAX];
    folder_of(*state, folder);
    for (int undirected = 0; undirected < 2; undirected++) {
        struct batch b = batch_of(undirected ? "undirected" : "file", folder);
        const struct batch_table *t = &b.inputs.edge_features;
        double sum = 0;
        assert_int_equal(b.adj.edges, undirected ? 13 : 7);
        assert_int_equal(t->cols, 2);
        for (int64_t to = 0; to < b.adj.nodes; to++)
            for (int64_t e = b.adj.row_ptr[to]; e < b.adj.row_ptr[to + 1]; e++) {
                int64_t first = to < 3 ? 0 : 3, graph = to < 3 ? 0 : 100;
                int64_t i = b.adj.col[e] - first, j = to - first;
                double value = t->value[2 * e];
                assert_true(value == (double)(graph + 10 * i + j) ||
                            (undirected && value == (double)(graph + 10 * j + i)));
                sum += t->value[2 * e + 1];
            }
        assert_true(sum ==
                    (undirected ? 2 * 28 - 5 : 28)); /* each once, or in both directions but the loop */
        batch_free(&b);
    }
}

/* Each edge once: with the row of the first of the file, which is also that of the edge back. */
TEST(test_unique_edges_keep_the_first_row)
{
    char folder[PATH_MAX];
    struct batch b = batch_of("unique", folder_of(*state, folder));
    static const float rows[] = {1, 1, 21, 21, 22, 110, 110}; /* 1>0 0>1 2>1 1>2 2>2 4>3 3>4 */
    assert_true(b.symmetric);
    assert_int_equal(b.adj.edges, 7);
    assert_int_equal(b.entries, 7);
    for (int64_t e = 0; e < 7; e++)
        assert_true(b.inputs.edge_features.value[2 * e] == rows[e]);
    batch_free(&b);
}

TEST(test_values)
{
    char folder[PATH_MAX];
    struct batch b = batch_of("file", folder_of(*state, folder));
    static const int64_t labels[] = {0, 3, 1, 2, 3};
    assert_int_equal(b.inputs.features.cols, 3);
    assert_true(b.inputs.features.value[3 * 4] == 4.5F && b.inputs.features.value[3 * 4 + 2] == 100);
    assert_int_equal(b.inputs.classes, 4);
    assert_memory_equal(b.inputs.label, labels, sizeof labels);
    assert_int_equal(b.inputs.targets.cols, 2);
    assert_true(b.inputs.targets.value[2] == -0.5F);
    batch_free(&b);
}

/* Rows are right, and have the parameters of these widths. */
TEST(test_rows)
{
    static const struct {
        const char *flags, *inputs;
        int64_t features, edges, outputs; /* columns; 0: no edge state */
    } rows[] = {
        {"--mpnn gatv2-edge --task node", "features edge_features labels", 3, 2, 4},
        {"--mpnn gine --attention sparse", "features edge_features targets", 3, 2, 2},
        {"--mpnn gin --task edge", "features", 3, 0, 16},
    };
    char folder[PATH_MAX], words[PATH_MAX + 200];
    folder_of(*state, folder);
    for (int i = 0; i < 3; i++) {
        snprintf(words, sizeof words, TINY "--graph file:%s %s", folder, rows[i].flags);
        struct record *record = run_json(*state, words, 0);
        const struct row *row = row_at(record, 0);
        assert_string_equal(text_at(row, "status"), "ok");
        assert_string_equal(text_at(row, "checked"), "whole");
        assert_string_equal(text_at(row, "graph.inputs"), rows[i].inputs);
        struct model_config c = {.layers = 2, .hidden = 16, .heads = 2, .ffn = 32};
        c.mpnn = i == 0 ? MPNN_GATV2_EDGE : i == 1 ? MPNN_GINE : MPNN_GIN;
        c.attention = i == 1 ? ATTENTION_SPARSE : ATTENTION_DENSE;
        c.task = i == 0 ? TASK_NODE : i == 1 ? TASK_GRAPH : TASK_EDGE;
        c.features.numbers = rows[i].features;
        c.edge_features.numbers = rows[i].edges;
        c.head.outputs = rows[i].outputs;
        assert_int_equal(count_at(row, "parameters"), model_parameters(&c));
        record_free(record);
    }
}

/* Tables given by name, beside a file; their bytes are part of the work. */
TEST(test_given)
{
    static const struct {
        const char *flags, *inputs;
        int64_t features, edges, outputs;
    } rows[] = {
        {"--data features=x.csv --data edge-features=e.csv --data labels=y.csv --task node --mpnn gine",
         "features edge_features labels", 2, 1, 3},
        {"--data features=x.csv --data labels=t.csv --mpnn gine", "features targets", 2, 0, 2},
        {"--data features=z.csv --mpnn gine", "features", 2, 0, 1},
    };
    const struct house *h = *state;
    const char *folder = h->work;
    char words[400], work[3][32];
    write_file(folder, "edges.txt", "0 1\n1 2\n2 3\n3 0\n");
    write_file(folder, "x.csv", "1,2\n3,4\n5,6\n7,8\n");
    write_file(folder, "z.csv", "1,2\n3,4\n5,6\n7,9\n");
    write_file(folder, "e.csv", "1\n2\n3\n4\n");
    write_file(folder, "y.csv", "0\n2\n1\n0\n");
    write_file(folder, "t.csv", "0.5 -1\n");
    for (int i = 0; i < 3; i++) {
        snprintf(words, sizeof words, TINY "--graph file:edges.txt %s", rows[i].flags);
        struct record *record = run_json(h, words, 0);
        const struct row *row = row_at(record, 0);
        assert_string_equal(text_at(row, "status"), "ok");
        assert_string_equal(text_at(row, "graph.inputs"), rows[i].inputs);
        struct model_config c = {.layers = 2, .hidden = 16, .heads = 2, .ffn = 32, .mpnn = MPNN_GINE};
        c.attention = ATTENTION_DENSE;
        c.task = i == 0 ? TASK_NODE : TASK_GRAPH;
        c.features.numbers = rows[i].features;
        c.edge_features.numbers = rows[i].edges;
        c.head.outputs = rows[i].outputs;
        assert_int_equal(count_at(row, "parameters"), model_parameters(&c));
        snprintf(work[i], sizeof work[i], "%s", text_at(row, "work"));
        record_free(record);
    }
    assert_string_not_equal(work[1], work[2]);
    static const char *const bad[][2] = {
        {"--data features=y.txt", "y.txt: "},
        {"--data features=t.csv", "t.csv: has 1 rows, for 4 nodes"},
        {"--data edge-features=t.csv", "t.csv: has 1 rows, for 4 edges"},
        {"--data labels=x.csv", "x.csv: has several columns"},
        {"--data labels=gap.csv", "gap.csv: has 1 missing values"},
    };
    write_file(folder, "gap.csv", "0\nnan\n1\n0\n");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(words, sizeof words, "--graph file:edges.txt %s", bad[i][0]);
        refuses(h, words, NULL, "--graph file:edges.txt: ", bad[i][1]);
    }
    refuses(h, "--data labels=y.csv", NULL, "--data labels=y.csv: ", "needs a graph from a file");
    static const char *const others[][2] = {
        {"--preset zinc --data features=x.csv",
         "--data features=x.csv: the model (--preset) has other features"},
        {"--mpnn gin --data edge-features=e.csv",
         "--data edge-features=e.csv: the model (--mpnn, --preset) has no"},
        {"--task edge --data labels=t.csv",
         "--data labels=t.csv: the model (--task, --preset) has no such labels"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(words, sizeof words, "--graph file:edges.txt %s", others[i][0]);
        refuses(h, words, NULL, others[i][1], "");
    }
    record_free(run_json(h, TINY "--graph file:edges.txt --mpnn gin,gine --data edge-features=e.csv", 0));
}

/* Labels of nodes and edges in a folder of TUDataset: from 3 to 5, and 0 or 1. */
TEST(test_types)
{
    static const char *const texts[][2] = {{"X_A.txt", "1, 2\n2, 1\n3, 4\n"},
                                           {"X_graph_indicator.txt", "1\n1\n2\n2\n"},
                                           {"X_node_labels.txt", "3\n5\n5\n4\n"},
                                           {"X_edge_labels.txt", "1\n0\n1\n"}};
    const struct house *h = *state;
    char folder[PATH_MAX], words[PATH_MAX + 200];
    snprintf(folder, sizeof folder, "%s/tu", h->root);
    write_files(folder, texts, 4);
    struct batch b = batch_of("file", folder);
    static const float types[] = {0, 2, 2, 1};
    assert_int_equal(b.inputs.features.types, 3);
    assert_memory_equal(b.inputs.features.value, types, sizeof types);
    batch_free(&b);
    static const char *const flags[] = {"--mpnn gine --order degree", "--mpnn gine --bias spd:4:2",
                                        "--mpnn none --bias spd:4:2"};
    for (int i = 0; i < 3; i++) {
        snprintf(words, sizeof words, TINY "--graph file:%s %s", folder, flags[i]);
        struct record *record = run_json(h, words, 0);
        const struct row *row = row_at(record, 0);
        assert_string_equal(text_at(row, "status"), "ok");
        assert_string_equal(text_at(row, "graph.inputs"), "features edge_features");
        struct model_config c = {.layers = 2, .hidden = 16, .heads = 2, .ffn = 32};
        c.mpnn = i < 2 ? MPNN_GINE : MPNN_NONE;
        c.attention = ATTENTION_DENSE;
        c.pe = (struct encoding_config){.buckets = i ? 4 : 0, .hops = i ? 2 : 0};
        c.features = (struct feature_config){.tables = 1, .types = {3}};
        c.edge_features = (struct feature_config){.tables = 1, .types = {2}};
        assert_int_equal(count_at(row, "parameters"), model_parameters(&c));
        record_free(record);
    }
    static const char *const none_there[][2] = {{"X_node_labels.txt", "0.5\n1\n1\n2\n"}};
    write_files(folder, none_there, 1);
    b = batch_of("file", folder);
    assert_int_equal(b.inputs.features.cols, 0);
    batch_free(&b);
}

/* The rows of a padded batch that are no node's are zeros. */
TEST(test_padded)
{
    char folder[PATH_MAX], words[PATH_MAX + 200], family[PATH_MAX + 16], error[256];
    snprintf(family, sizeof family, "file:%s", folder_of(*state, folder));
    struct graph_config g = {.family = family, .graphs = 1, .batching = BATCHING_PADDED};
    struct batch b;
    assert_true(batch_generate(&b, &g, error, sizeof error) &&
                batch_read_inputs(&b, &g, &none, error, sizeof error));
    assert_int_equal(b.adj.nodes, 6);
    static const float first[] = {0.5F, 1.5F, 2.5F, 3.5F, 4.5F, 0};
    for (int i = 0; i < 6; i++)
        assert_true(b.inputs.features.value[3 * i] == first[i]);
    batch_free(&b);
    snprintf(words, sizeof words, TINY "--graph %s --batching padded", family);
    struct record *record = run_json(*state, words, 0);
    assert_string_equal(text_at(row_at(record, 0), "status"), "ok");
    assert_string_equal(text_at(row_at(record, 0), "graph.inputs"), "features targets");
    record_free(record);
}

/* Labels and targets with gaps are drawn, with one output or 16 as without them. */
TEST(test_missing_labels)
{
    static const struct {
        const char *file, *text, *task;
    } gaps[] = {
        {"graph-label.csv", "0.25,\n-0.5,2\n", "graph"},
        {"graph-label.csv", "nan\n1\n", "graph"},
        {"node-label.csv", "0\n3\nnan\n2\n3\n", "node"},
    };
    char folder[PATH_MAX], words[PATH_MAX + 200];
    for (int i = 0; i < 3; i++) {
        write_file(folder_of(*state, folder), gaps[i].file, gaps[i].text);
        snprintf(words, sizeof words, TINY "--graph file:%s --mpnn gine --task %s", folder, gaps[i].task);
        struct record *record = run_json(*state, words, 0);
        const struct row *row = row_at(record, 0);
        assert_string_equal(text_at(row, "status"), "ok");
        assert_string_equal(text_at(row, "graph.inputs"), "features edge_features");
        struct model_config c = {.layers = 2, .hidden = 16, .heads = 2, .ffn = 32, .mpnn = MPNN_GINE};
        c.attention = ATTENTION_DENSE;
        c.features.numbers = 3;
        c.edge_features.numbers = 2;
        c.head.outputs = i < 2 ? 1 : 16;
        assert_int_equal(count_at(row, "parameters"), model_parameters(&c));
        record_free(record);
    }
}

TEST(test_refusals)
{
    static const struct {
        const char *file, *text, *why;
    } bad[] = {
        {"node-feat.csv", "1\n2\n3\n4\n", "node-feat.csv: has 4 rows, for 5 nodes"},
        {"edge-feat.csv", "1\n", "edge-feat.csv: has 1 rows, for 7 edges"},
        {"graph-label.csv", "1\n2\n3\n", "graph-label.csv: has 3 rows, for 2 graphs"},
        {"node-feat.csv", "1\nnan\n3\n4\n5\n", "node-feat.csv: has 1 missing values"},
        {"node-feat.csv", "1\n2\n\"\n4\n5\n", "node-feat.csv:3: "},
        {"node-label.csv", "0\n1\n-1\n2\n3\n", "has a label that is no whole number from 0 to 65535"},
        {"node-label.csv", "0\n1\n0.5\n2\n3\n", "has a label that is no whole number from 0 to 65535"},
    };
    char folder[PATH_MAX], words[PATH_MAX + 200];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file(folder_of(*state, folder), bad[i].file, bad[i].text);
        snprintf(words, sizeof words, "--graph file:%s", folder);
        refuses(*state, words, NULL, "--graph file:", bad[i].why);
    }
}

GROUP("tests", house_setup, house_teardown)
