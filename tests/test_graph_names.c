/* Names of graphs with their parameters, and shapes: sizes as published, structure of their families. */
#include <math.h>

#include "tests/graphs.h"
#include "tests/test.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { ERROR_SIZE = 512 };

/* A name and its canonical form. */
TEST(test_canonical)
{
    static const char *const names[][2] = {
        {"er", "er"},
        {"er:giant", "er:giant"},
        {"sbm:blocks=4", "sbm"},
        {"sbm:p_out=.010,blocks=4e0,p_in=1e-1", "sbm"},
        {"sbm:p_out=0.5,blocks=8", "sbm:blocks=8,p_out=0.5"},
        {"sbm:blocks=1000000:giant", "sbm:blocks=1000000:giant"},
        {"sbm:blocks=4:giant", "sbm:giant"},
        {"ws:beta=.3333333333333333", "ws:beta=0.3333333333333333"},
        {"ws:beta=1", "ws:beta=1"},
        {"ws:beta=0", "ws:beta=0"},
        {"zinc", "zinc"},
        {"pcqm-contact:giant", "pcqm-contact:giant"},
    };
    for (size_t i = 0; i < LENGTH(names); i++) {
        struct graph_name n;
        char error[ERROR_SIZE], text[GRAPH_NAME_TEXT];
        if (!graph_name_read(names[i][0], &n, error, sizeof error))
            fail_msg("%s: %s", names[i][0], error);
        graph_name_text(&n, text);
        assert_string_equal(text, names[i][1]);
        assert_true(graph_name_read(text, &n, error, sizeof error));
        graph_name_text(&n, text);
        assert_string_equal(text, names[i][1]);
    }
    for (const struct graph_shape *s = graph_shapes; s->name; s++) {
        struct graph_name n;
        char error[ERROR_SIZE], text[GRAPH_NAME_TEXT];
        assert_true(graph_name_read(s->graph, &n, error, sizeof error));
        graph_name_text(&n, text);
        assert_string_equal(text, s->graph);
        assert_null(graph_family_named(s->name));
    }
}

TEST(test_files)
{
    static const char *const files[] = {"file:x", "undirected:/a b/c.gz", "file:a=1:giant", "unique:x"};
    static const char *const unknown[] = {"",       "e",           "err",    "ER",         "file",
                                          "file:",  "undirected:", "File:x", "directed:x", "unique:",
                                          "unique", ":",           "giant"};
    struct graph_name n;
    char error[ERROR_SIZE];
    for (size_t i = 0; i < LENGTH(files); i++) {
        assert_true(graph_name_read(files[i], &n, error, sizeof error) && graph_is_file(files[i]));
        assert_true(!n.family && !n.shape && !n.giant);
    }
    for (size_t i = 0; i < LENGTH(unknown); i++) {
        assert_false(graph_name_read(unknown[i], &n, error, sizeof error));
        assert_null(n.family);
    }
    assert_null(graph_shape_of("er"));
    assert_null(graph_shape_of("zinc:x"));
    assert_string_equal(graph_shape_of("mnist:giant")->name, "mnist");
}

TEST(test_refusals)
{
    static const char *const refused[][2] = {
        {"er:", "'' is no parameter of er, which has none"},
        {"er:giant:giant", "'giant' is no parameter of er, which has none"},
        {"zinc:rings=1", "'rings=1' is no parameter of zinc, which has none"},
        {"sbm:blok=8", "'blok=8' is no parameter of sbm, which has blocks=4, p_in=0.1, p_out=0.01"},
        {"sbm:blocks", "'blocks' is no parameter of sbm, which has blocks=4, p_in=0.1, p_out=0.01"},
        {"ws:=1", "'=1' is no parameter of ws, which has beta=0.1"},
        {"ws:beta=.1,", "'' is no parameter of ws, which has beta=0.1"},
        {"ws:beta=", "beta is '', must be a number from 0 to 1"},
        {"ws:beta=1.01", "beta is '1.01', must be a number from 0 to 1"},
        {"ws:beta=-1", "beta is '-1', must be a number from 0 to 1"},
        {"ws:beta=nan", "beta is 'nan', must be a number from 0 to 1"},
        {"ws:beta=0x1", "beta is '0x1', must be a number from 0 to 1"},
        {"ws:beta=.1 ", "beta is '.1 ', must be a number from 0 to 1"},
        {"ws:beta=.1e", "beta is '.1e', must be a number from 0 to 1"},
        {"sbm:blocks=2.5", "blocks is '2.5', must be a whole number from 1 to 1000000"},
        {"sbm:blocks=0", "blocks is '0', must be a whole number from 1 to 1000000"},
        {"sbm:blocks=99999999999", "blocks is '99999999999', must be a whole number from 1 to 1000000"},
        {"sbm:blocks=8,blocks=8", "blocks is given twice"},
        {"sbm,blocks=8", "a colon begins the parameters: sbm:blocks=8"},
    };
    for (size_t i = 0; i < LENGTH(refused); i++) {
        struct graph_name n;
        char error[ERROR_SIZE] = "", cut[8];
        assert_false(graph_name_read(refused[i][0], &n, error, sizeof error));
        assert_string_equal(error, refused[i][1]);
        assert_non_null(n.family);
        assert_false(graph_name_read(refused[i][0], &n, cut, sizeof cut));
    }
}

/* Parameters reach the graph: other values are other graphs, the same ones in another form the same. */
TEST(test_parameters)
{
    static const char *const same[] = {"sbm:blocks=5,p_out=0.2", "sbm:p_out=.2,blocks=5,p_in=.1"};
    struct batch a = graph_generated(same[0], 60, 5, 3, 1), b = graph_generated(same[1], 60, 5, 3, 1),
                 c = graph_generated("sbm:blocks=5", 60, 5, 3, 1),
                 d = graph_generated("sbm:giant", 60, 5, 3, 1);
    assert_true(graph_checksum(&a) == graph_checksum(&b));
    assert_true(a.adj.edges > c.adj.edges && c.adj.edges > 0 && d.adj.nodes < 180);
    struct batch *all[] = {&a, &b, &c, &d};
    for (size_t i = 0; i < LENGTH(all); i++)
        batch_free(all[i]);
}

/*
 * The mean sizes of many graphs are the published ones: nodes up to rounding of the batch, edges within 1 %.
 * Sizes spread from half the mean to one and a half, whatever the configuration's own nodes and degree.
 */
TEST(test_shapes)
{
    enum { GRAPHS = 4001 };
    for (const struct graph_shape *s = graph_shapes; s->name; s++) {
        struct graph_config c = {.family = s->name, .nodes = 7, .degree = 3, .graphs = GRAPHS, .seed = 5};
        struct batch b;
        char error[ERROR_SIZE];
        int64_t least = INT64_MAX, most = 0;
        if (!batch_shape(&b, &c, error, sizeof error))
            fail_msg("%s", error);
        for (int64_t g = 0; g < GRAPHS; g++) {
            int64_t size = b.offset[g + 1] - b.offset[g];
            least = size < least ? size : least;
            most = size > most ? size : most;
        }
        assert_int_equal(b.adj.nodes, (int64_t)(s->nodes * GRAPHS));
        double edges = (double)b.adj.edges / GRAPHS;
        if (fabs(edges / s->edges - 1) > 0.01)
            fail_msg("%s has %g edges, not %g", s->name, edges, s->edges);
        assert_true(fabs((double)least - s->nodes / 2) < 0.05 * s->nodes + 1);
        assert_true(fabs((double)most - 1.5 * s->nodes) < 0.05 * s->nodes + 1);
        assert_false(b.clamped);
        batch_free(&b);
    }
}

/* One graph has the mean size, rounded down; batches are drawn like those of any family. */
TEST(test_batches_of_shapes)
{
    for (const struct graph_shape *s = graph_shapes; s->name; s++) {
        struct batch one = graph_generated(s->name, 1, 0, 1, 1), many = graph_generated(s->name, 1, 0, 9, 1);
        assert_int_equal(one.adj.nodes, (int64_t)s->nodes);
        assert_int_equal(many.adj.nodes, (int64_t)(9 * s->nodes));
        assert_simple(&one.adj);
        assert_simple(&many.adj);
        if (strncmp(s->graph, "molecule", 8) == 0)
            assert_true(csr_degrees(&many.adj).max <= 4 && csr_degrees(&many.adj).isolated == 0);
        batch_free(&one);
        batch_free(&many);
    }
}
