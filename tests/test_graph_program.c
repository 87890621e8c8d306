/* The program graph: what it says of files, files converted back and forth, refused lines, and files left
 * alone. */
#include <fcntl.h>
#include <unistd.h>

#include "tests/files.h"
#include "tests/graphs.h"
#include "tests/refusals.h"
#include "tests/test.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static int setup(void **state)
{
    return house_of(state, "graph");
}

static void put_file(const struct house *h, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", h->work, name);
    write_bytes(path, text, strlen(text));
}

static struct batch batch_in(const struct house *h, const char *name)
{
    char family[PATH_MAX];
    snprintf(family, sizeof family, "file:%s/%s", h->work, name);
    return graph_generated(family, 1, 0, 1, 0);
}

TEST_BETWEEN(files_are_described, setup, house_teardown)
{
    const struct house *h = *state;
    put_file(h, "e.txt", "graph 5\n0 1\n1 2\n1 2\n2 2\ngraph 1\n");
    put_file(h, "x.csv", "1,2\n3,4\n5,6\n7,8\n,\n-1e3,0\n");
    put_file(h, "y.csv", "1\n0\n");
    assert_ends(
        h, "describe e.txt", 0,
        "e.txt: edge list\n\n"
        "graphs             2, of 1 to 5 nodes, 3 on average\n"
        "nodes              6, 3 of them isolated\n"
        "edges              4 directed\n"
        "symmetric          no: some edges are in one direction only\n"
        "loops              1\n"
        "duplicates         1\n"
        "in-degrees         mean 0.6667, standard deviation 1.106; minimum 0, median 0, 99th percentile 3, "
        "maximum 3\n"
        "out-degrees        mean 0.6667, standard deviation 0.7454; minimum 0, median 0, 99th percentile 2, "
        "maximum 2\n"
        "weak components    4, the largest of 3 nodes\n"
        "memory             144 B as rows of both directions, ",
        "");
    assert_ends(
        h, "describe --undirected e.txt --data features=x.csv --data labels=y.csv", 0,
        "edges              7 directed, from 4 in the file\n"
        "symmetric          yes\n"
        "loops              1\n"
        "duplicates         2\n"
        "degrees            mean 1.167, standard deviation 1.344; minimum 0, median 0, 99th percentile 3, "
        "maximum 3\n"
        "components         4, the largest of 3 nodes\n"
        "memory             84 B as rows, ",
        "");
    assert_ends(h, "describe e.txt --data features=x.csv --data labels=y.csv", 0,
                "node features      6 x 2, text, from -1000 to 8, 2 missing\n"
                "labels             2 x 1, text, from 0 to 1\n",
                "");
}

/* Every format gives the batch back that was written; so do those that were made from one another. */
TEST_BETWEEN(conversions_lose_nothing, setup, house_teardown)
{
    static const char *const names[] = {"a.txt", "b.mtx", "c.graph.gz", "d.mtx.gz", "e.csv.gz", "f.metis"};
    const struct house *h = *state;
    char words[80];
    struct batch drawn = graph_generated("er", 300, 2, 1, 7);
    assert_ends(h, "generate er --nodes 300 --degree 2 --seed 7 a.txt", 0,
                "a.txt: edge list, 1 graph, 300 nodes, 600 directed edges\n", "");
    for (size_t i = 0; i < LENGTH(names); i++) {
        struct batch read = batch_in(h, names[i]);
        assert_int_equal(graph_checksum(&read), graph_checksum(&drawn));
        batch_free(&read);
        if (i + 1 == LENGTH(names))
            break;
        snprintf(words, sizeof words, "convert %s %s", names[i], names[i + 1]);
        assert_ends(h, words, 0, "300 nodes, 600 directed edges", "");
    }
    batch_free(&drawn);

    drawn = graph_generated("rmat", 30, 3, 40, 42);
    assert_ends(h, "generate rmat --nodes 30 --degree 3 --batch 40 b.txt.gz", 0, "40 graphs", "");
    assert_ends(h, "generate zinc --batch 40 z.txt.gz", 0, "40 graphs, 928 nodes", "");
    struct batch read = batch_in(h, "b.txt.gz");
    assert_int_equal(graph_checksum(&read), graph_checksum(&drawn));
    batch_free(&read);
    batch_free(&drawn);

    put_file(h, "one-way.txt", "graph 4\n0 1\n1 1\n0 1\n2 0\n");
    assert_ends(h, "convert one-way.txt one-way.mtx", 0, "Matrix Market, 1 graph, 4 nodes, 4 directed edges",
                "");
    drawn = batch_in(h, "one-way.txt");
    read = batch_in(h, "one-way.mtx");
    assert_true(csr_equal(&read.adj, &drawn.adj));
    batch_free(&read);
    batch_free(&drawn);
    put_file(h, "loop.txt", "0 0\n0 1\n1 0\n0 0\n");
    assert_ends(h, "convert loop.txt loop.mtx", 0, "4 directed edges", "");
    drawn = batch_in(h, "loop.txt");
    read = batch_in(h, "loop.mtx");
    assert_true(csr_equal(&read.adj, &drawn.adj));
    batch_free(&read);
    batch_free(&drawn);
}

TEST_BETWEEN(wrong_lines_are_refused, setup, house_teardown)
{
    static const char *const wrong[][3] = {
        {"", "needs a command: describe, convert or generate", "--help"},
        {"descripe e.txt", "descripe: describe, convert or generate", "did you mean describe?"},
        {"describe", "describe: needs FILE", NULL},
        {"convert e.txt", "convert: needs FILE OUT", NULL},
        {"generate er x.txt y.txt", "y.txt: more than a command and two names", NULL},
        {"describe none.txt", "none.txt: No such file", NULL},
        {"describe .", ".: is a directory without", NULL},
        {"describe bad.txt", "bad.txt:2: ", "the second node id is missing"},
        {"convert bad.txt x.mtx", "bad.txt:2: ", "the second node id is missing"},
        {"convert e.txt x.graph", "x.graph: a METIS file has every edge in both directions", "--undirected"},
        {"convert l.txt x.graph", "x.graph: a METIS file has no loops", NULL},
        {"convert b.txt x.mtx.gz", "x.mtx.gz: a Matrix Market file has one graph, and this is a batch", NULL},
        {"convert e.txt x.txt --mem-limit 1B", "e.txt: reading the graph needs at least", "MiB allowed"},
        {"describe e.txt --data features=bad.txt", "bad.txt:2: a row of 1, after rows of 2", NULL},
        {"describe e.txt --data features=e.txt", "e.txt: 1 rows for 2 nodes", NULL},
        {"describe e.txt --data edge-features=b.txt", "b.txt:1: 'graph' is not a number", NULL},
        {"describe e.txt --data edge-features=l.txt", "l.txt: 2 rows for 1 edge", NULL},
        {"describe e.txt --nodes 5", "--nodes, --degree, --batch, --seed: with generate only", NULL},
        {"describe e.txt --csv", "--csv: no such flag", NULL},
        {"convert e.txt x.txt --data labels=e.txt", "--data: with describe only", NULL},
        {"generate er x.txt --nodes 5 --undirected", "--undirected: not with generate", NULL},
        {"generate er x.txt", "generate: needs --nodes", NULL},
        {"generate zinc x.txt --nodes 5", "generate zinc --nodes: the stand-in determines it", NULL},
        {"generate zinc x.txt --degree 5", "generate zinc --degree: the stand-in determines it", NULL},
        {"generate ws:beta=2 x.txt --nodes 5", "beta is '2', must be a number from 0 to 1", NULL},
        {"generate err x.txt --nodes 5", "graph family 'err' is unknown; known are er,", NULL},
        {"generate file:e.txt x.txt --nodes 5", "generate file:e.txt: a family", NULL},
        {"generate er x.txt --nodes 0", "--nodes 0: a whole number from 1 to 2147483647", NULL},
        {"generate er x.txt --nodes 5 --seed 1.5", "--seed 1.5: a whole number from 0 to", NULL},
        {"generate er x.txt --nodes 5 --degree -1", "--degree -1: a number from 0 to", NULL},
        {"generate er x.txt --node 5", "--node: no such flag", "did you mean --nodes?"},
    };
    const struct house *h = *state;
    put_file(h, "e.txt", "0 1\n");
    put_file(h, "l.txt", "1 1\n2 2\n");
    put_file(h, "b.txt", "graph 1\ngraph 1\n");
    put_file(h, "bad.txt", "0 1\n2\n");
    for (size_t i = 0; i < LENGTH(wrong); i++)
        refuses(h, wrong[i][0], NULL, wrong[i][1], wrong[i][2]);
    assert_ends(h, "convert e.txt none/x.txt", 1, "", "none/x.txt: ");
    char *before = house_list(h);
    assert_ends(h, "generate er --nodes 3 /dev/null", 1, "", "/dev/null: is not a regular file");
    char *after = house_list(h);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

GROUP("graph", NULL, NULL)
