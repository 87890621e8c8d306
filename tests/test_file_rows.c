/* Rows of graphs from files: what they say of edges, degree, tables and names. */
#include "analysis/record/row.h"
#include "tests/files.h"
#include "tests/records.h"
#include "tests/refusals.h"
#include "tests/test.h"

#define TINY "--hidden 8 --heads 1 --layers 1 --runs 2 --no-check "

static void put_file(const struct house *h, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", h->work, name);
    write_bytes(path, text, strlen(text));
}

/* The degree that is asked of a generator is not that of a file. */
TEST_BETWEEN(files_have_no_requested_degree, house_setup, house_teardown)
{
    const struct house *h = *state;
    put_file(h, "w.txt", "1 2 1\n1 3 1\n1 4 1\n");
    struct record *record = run_json(h, TINY "--graph file:w.txt", 0);
    const struct row *row = row_at(record, 0);
    assert_absent(row, "degree");
    assert_true(real_at(row, "graph.degree_mean") == 0.75);
    record_free(record);
    struct ended e = run_words(h, TINY "--graph file:w.txt --output w.json", 0);
    assert_null(strstr(e.out, "degree"));
    ended_free(&e);
    e = run_words(h, TINY "--graph file:w.txt --output d.json --dump d", 0);
    ended_free(&e);
    char path[PATH_MAX], error[MESSAGE_SIZE];
    snprintf(path, sizeof path, "%s/d/config.json", h->work);
    struct value *config = value_load(path, error);
    assert_non_null(config);
    const struct value *degree = value_get(config, "graph.degree");
    assert_true(degree && value_kind(degree) == VALUE_NULL);
    value_free(config);
    e = run_words(h, TINY "--graph er --nodes 9 --output er.json", 0);
    assert_non_null(strstr(e.out, "degree 5"));
    ended_free(&e);
}

/* Both directions are in the file: to add them again is said, and can be avoided. */
TEST_BETWEEN(both_directions_are_noted, house_setup, house_teardown)
{
    static const struct {
        const char *graph;
        int edges;
        bool noted;
    } runs[] = {{"file:both.txt", 4, false},
                {"undirected:both.txt", 8, true},
                {"unique:both.txt", 4, false},
                {"undirected:one.txt", 4, false}};
    const struct house *h = *state;
    char words[200];
    put_file(h, "both.txt", "0 1\n1 0\n1 2\n2 1\n");
    put_file(h, "one.txt", "0 1\n1 2\n");
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        snprintf(words, sizeof words, TINY "--graph %s --output %zu.json", runs[i].graph, i);
        struct ended e = run_words(h, words, 0);
        assert_true((strstr(e.err, "4 of 8 edges repeat another") != NULL) == runs[i].noted);
        assert_true((strstr(e.err, "unique:PATH") != NULL) == runs[i].noted);
        ended_free(&e);
        snprintf(words, sizeof words, TINY "--graph %s", runs[i].graph);
        struct record *record = run_json(h, words, 0);
        assert_int_equal(count_at(row_at(record, 0), "graph.edges"), runs[i].edges);
        record_free(record);
    }
}

/* A comma after a backslash is part of a name, in a list, too. */
TEST_BETWEEN(names_may_have_commas, house_setup, house_teardown)
{
    const struct house *h = *state;
    put_file(h, "a,b.txt", "1 2\n3 4\n5 6\n5 8\n6 10\n");
    put_file(h, "c,,d=1.txt", "1 2\n");
    struct record *record =
        run_json(h, TINY "--graph file:a\\,b.txt,file:c\\,\\,d=1.txt,undirected:a\\,b.txt", 0);
    static const char *const names[] = {"file:a,b.txt", "file:c,,d=1.txt", "undirected:a,b.txt"};
    assert_int_equal(row_count(record), 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(text_at(row_at(record, i), "graph.family"), names[i]);
    assert_int_equal(count_at(row_at(record, 2), "graph.edges"), 10);
    record_free(record);
    refuses(h, "--graph file:a,b.txt", NULL, "--graph file:a,b.txt: 'b.txt' is no graph",
            "a comma in a name needs quotes: 'file:a\\,b.txt'");
}

/* A table of a folder that cannot be read is not in the way of another in its place, or none. */
TEST_BETWEEN(tables_can_be_left_out, house_setup, house_teardown)
{
    static const struct {
        const char *flags, *inputs;
    } runs[] = {{"--data features=none", "edge_features targets"},
                {"--data features=x.csv", "features edge_features targets"},
                {"--data features=none --data edge-features=none", "targets"},
                {"--data features=none --data edge-features=none --data labels=none", ""}};
    const struct house *h = *state;
    char words[200], work[2][32];
    put_file(h, "X_A.txt", "1, 2\n2, 1\n3, 4\n4, 3\n");
    put_file(h, "X_graph_indicator.txt", "1\n1\n2\n2\n2\n");
    put_file(h, "X_graph_labels.txt", "1\n-1\n");
    put_file(h, "X_edge_labels.txt", "1\n0\n1\n0\n");
    put_file(h, "X_node_labels.txt", "0, 0\n0, 0, 3, 1\n0, 0\n0, 0\n0, 0, 5, 1\n");
    put_file(h, "x.csv", "1\n2\n3\n4\n5\n");
    refuses(h, "--graph file:.", NULL, "--graph file:.: ./X_node_labels.txt:2: a row of 4, after rows of 2",
            "; --data features=none leaves it out");
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        snprintf(words, sizeof words, TINY "--graph file:. --mpnn gine %s", runs[i].flags);
        struct record *record = run_json(h, words, 0);
        const struct row *row = row_at(record, 0);
        assert_int_equal(count_at(row, "graph.edges"), 4);
        const char *inputs = row->graph.inputs ? row->graph.inputs : "";
        assert_string_equal(inputs, runs[i].inputs);
        if (i % 2 == 0)
            snprintf(work[i / 2], sizeof work[0], "%s", text_at(row, "work"));
        record_free(record);
    }
    assert_string_not_equal(work[0], work[1]);
    refuses(h, "--data features=none", NULL, "--data features=none: ", "needs a graph from a file");
}

/* Features of nodes without an edge: the line says which, and what to do. */
TEST_BETWEEN(missing_nodes_are_named, house_setup, house_teardown)
{
    static const char *const files[][3] = {
        {"0 1\n1 2\n4 0\n", "4 nodes",
         ": node 3 has no edge; a first line 'graph 5' gives the number of nodes"},
        {"5 1\n1 2\n4 5\n", "4 nodes", ": node 3 has no edge"},
        {"0 1\n1 2\n3 0\n", "4 nodes", ": node 4 has no edge"},
    };
    const struct house *h = *state;
    char text[200];
    put_file(h, "five.txt", "1\n2\n3\n4\n5\n");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        put_file(h, "gap.txt", files[i][0]);
        snprintf(text, sizeof text, "five.txt: has 5 rows, for %s%s", files[i][1], files[i][2]);
        refuses(h, "--graph file:gap.txt --data features=five.txt", NULL, "--graph file:gap.txt: ", text);
    }
    static const char *const others[] = {"0 1\n1 2\n70 0\n9 3\n8 2\n", "graph 4\n0 1\n",
                                         "18446744073709551615 9\n"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        put_file(h, "gap.txt", others[i]);
        struct ended e = program_run(h, "--graph file:gap.txt --data features=five.txt", NULL);
        assert_int_equal(e.status, 2);
        assert_non_null(strstr(e.err, "has 5 rows"));
        assert_null(strstr(e.err, "has no edge"));
        ended_free(&e);
    }
    put_file(h, "gap.txt", "graph 5\n0 1\n1 2\n4 0\n");
    struct record *record = run_json(h, TINY "--graph file:gap.txt --data features=five.txt", 0);
    assert_string_equal(text_at(row_at(record, 0), "graph.inputs"), "features");
    record_free(record);
}

GROUP("rows of files", NULL, NULL)
