/* Edge lists: the meaning of lines, refused lines and their messages, compressed and damaged files. */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "tests/files.h"
#include "tests/graphs.h"
#include "tests/test.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { ERROR_SIZE = 400 };

/* What graph_shown says of a text. */
static const char *edges_of(const struct test_file *temp, const char *text, size_t size, bool undirected,
                            char shown[GRAPH_SHOWN])
{
    write_bytes(temp->path, text, size);
    return graph_shown(temp->path, undirected, shown);
}

TEST(lines_mean_edges)
{
    struct {
        const char *text;
        bool undirected;
        const char *edges;
    } good[] = {
        {"0 1\n", false, "2: 0>1"},
        {"0 1\n", true, "2: 0>1 1>0"},
        {"0 1", false, "2: 0>1"},
        {"5 5\n", true, "1: 0>0"},
        {"5 5\n", false, "1: 0>0"},
        {"0 1\n0 1\n1 0\n", false, "2: 0>1 0>1 1>0"},
        {"0 1\n1 0\n", true, "2: 0>1 1>0 1>0 0>1"},
        {"0\t1\n2,3\n  4 \t 5  \n6 , 7\n8,\t9\n", false, "10: 0>1 2>3 4>5 6>7 8>9"},
        {"0 1 5\n0 2 -.5\n0,3,+1.5e-3\n0\t4\t7.\n0 5 1E+300 \n", false, "6: 0>1 0>2 0>3 0>4 0>5"},
        {"# a\n% b c d\n\n \t\n  # 1 2\n#\n%\n3 4\n#", false, "2: 0>1"},
        {"1,2,4,1600000000.5\n1,5,2,1600000030.25\n2,5,-1,1600000060.75\n", false, "3: 0>1 0>2 1>2"},
        {"% sym unweighted\n% 4 3 3\n1 2 1 1217567877\n2 3 1 1217567878\n", false, "3: 0>1 1>2"},
        {"0 1 {}\n1 2 {'weight': 3.0, 'name': 'a, b'}\n2\t3\t1.5\t{\n0 3 1 2 {}", false,
         "4: 0>1 1>2 2>3 0>3"},
        {"0 1 # inline\n1 2 %\n2 3 .5 # 4\n3 4 1 2 # 5 6\n", false, "5: 0>1 1>2 2>3 3>4"},
        {"1 2 nan\n2 3 inf\n3 1 -Infinity 5\n1,3,,7\n3,2,NaN,\n2,1,\n", false, "3: 0>1 1>2 2>0 0>2 2>1 1>0"},
        {"\xef\xbb\xbf"
         "0,1\r\n1,2\r\n",
         false, "3: 0>1 1>2"},
        {"\xef\xbb\xbfgraph 3 # nodes\n0 1\n", false, "3: 0>1"},
        {"0 1\r\n# x\r\n\r\n1 2 0.5\r\n", false, "3: 0>1 1>2"},
        {"0 1\r", false, "2: 0>1"},
        {"source,target\n0,1\n1,2\n", false, "3: 0>1 1>2"},
        {"# a\n\"from\"\tto\tw (kg)\n0\t1\t.5\n", false, "2: 0>1"},
        {"70 3\n3 1000\n18446744073709551615 70\n", false, "4: 1>0 0>2 3>1"},
        {"18446744073709551615 0\n9223372036854775808 9223372036854775807\n", false, "4: 3>0 2>1"},
        {"007 7\n00000000000000000000000000 000000000000000000000000000001\n", false, "3: 2>2 0>1"},
        {"4294967296 0\n0 4294967297\n8589934592 1\n", false, "5: 2>0 0>3 4>1"},
        {"graph 3\n2 0\n", false, "3: 2>0"},
        {"graph 1\n", false, "1:"},
        {"graph 2\ngraph 5", true, "2+5:"},
        {"graph 2147483647\n2147483646 0\n", false, "2147483647: 2147483646>0"},
        {"# a\n\n \tgraph\t \t007 \r\n% b\n 6,0,.5\ngraph 2\n\n1 1\n", false, "7+2: 6>0 8>8"},
        {"graph 3\n0 1\n2 2\n0 1\ngraph 1\n0 0\ngraph 2\ngraph 2\n1 0\n0 1\n", false,
         "3+1+2+2: 0>1 2>2 0>1 3>3 7>6 6>7"},
        {"graph 3\n0 1\n2 2\ngraph 1\n0 0\ngraph 2\ngraph 2\n1 0\n", true,
         "3+1+2+2: 0>1 1>0 2>2 3>3 7>6 6>7"},
    };
    char shown[GRAPH_SHOWN];
    for (size_t i = 0; i < LENGTH(good); i++)
        assert_string_equal(edges_of(*state, good[i].text, strlen(good[i].text), good[i].undirected, shown),
                            good[i].edges);
}

TEST(bad_lines_are_named)
{
    struct {
        const char *text;
        size_t size;
        const char *error;
    } bad[] = {
        {BYTES("0 1\n# x\n7\n"), ":3: the second node id is missing"},
        {BYTES("7"), ":1: the second node id is missing"},
        {BYTES("7 \r\n"), ":1: the second node id is missing"},
        {BYTES("7,\n"), ":1: the second node id is missing"},
        {BYTES("7,,8\n"), ":1: the second node id is missing"},
        {BYTES(",7 8\n"), ":1: the first node id is missing"},
        {BYTES("0 1\n-5 1\n"), ":2: node id -5 is negative"},
        {BYTES("0 -1\n"), ":1: node id -1 is negative"},
        {BYTES("a 1\n"), ":1: 'a' is not a node id: a whole number, at least 0"},
        {BYTES("a b\n"), ": the file has no edges, but words; --graph names:PATH reads names"},
        {BYTES("a b\na c\n"),
         ":2: 'a' is not a node id: a whole number, at least 0; --graph names:PATH reads names"},
        {BYTES("0 1\na b\n"),
         ":2: 'a' is not a node id: a whole number, at least 0; --graph names:PATH reads names"},
        {BYTES("graph 2\na b\n"),
         ":2: 'a' is not a node id: a whole number, at least 0; --graph names:PATH reads names"},
        {BYTES("0 -\n"), ":1: '-' is not a node id: a whole number, at least 0"},
        {BYTES("0 +1\n"), ":1: '+1' is not a node id: a whole number, at least 0"},
        {BYTES("0 1.5\n"), ":1: '1.5' is not a node id: a whole number, at least 0"},
        {BYTES("0x1 2\n"), ":1: '0x1' is not a node id: a whole number, at least 0"},
        {BYTES("1e3 2\n"), ":1: '1e3' is not a node id: a whole number, at least 0"},
        {BYTES("0;1\n"), ":1: '0;1' is not a node id: a whole number, at least 0"},
        {BYTES("0 1#\n"), ":1: '1#' is not a node id: a whole number, at least 0"},
        {BYTES("0\v1\n"), ":1: '0?1' is not a node id: a whole number, at least 0"},
        {BYTES("0 1\r\r\n"), ":1: '1?' is not a node id: a whole number, at least 0"},
        {BYTES("0 1\n\xef\xbb\xbf"
               "0 1\n"),
         ":2: '???0' is not a node id: a whole number, at least 0"},
        {BYTES("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1\n"),
         ":1: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' is not a node id: a whole number, at least 0"},
        {BYTES("18446744073709551616 0\n"),
         ":1: node id 18446744073709551616 exceeds 64 bits: renumber the nodes from 0"},
        {BYTES("0 99999999999999999999\n"),
         ":1: node id 99999999999999999999 exceeds 64 bits: renumber the nodes from 0"},
        {BYTES("0 1844674407370955161500000000\n"),
         ":1: node id 1844674407370955161500000000 exceeds 64 bits: renumber the nodes from 0"},
        {BYTES("0 1 x\n"), ":1: 'x' is not a weight"},
        {BYTES("0 1 2x\n"), ":1: '2x' is not a weight"},
        {BYTES("0 1 .\n"), ":1: '.' is not a weight"},
        {BYTES("0 1 1e\n"), ":1: '1e' is not a weight"},
        {BYTES("0 1 nano\n"), ":1: 'nano' is not a weight"},
        {BYTES("0 1 nan5\n"), ":1: 'nan5' is not a weight"},
        {BYTES("0 1 2 x\n"), ":1: 'x' is not a time"},
        {BYTES("{0 1}\n"), ":1: '{0' is not a node id: a whole number, at least 0"},
        {BYTES("0 {1}\n"), ":1: '{1}' is not a node id: a whole number, at least 0"},
        {BYTES("0 # 1\n"), ":1: '#' is not a node id: a whole number, at least 0"},
        {BYTES("0 1 2 3 4\n"), ":1: unexpected '4' after two node ids, a weight and a time; write a list of "
                               "neighbours as an edge a line"},
        {BYTES("0 1,2,3,\n"), ":1: unexpected ',' after two node ids, a weight and a time; write a list of "
                              "neighbours as an edge a line"},
        {BYTES("0 1\n0 \0 1\n"), ":2: the line has a NUL byte: this is not a text file"},
        {BYTES("0 1\0\n"), ":1: the line has a NUL byte: this is not a text file"},
        {BYTES("0 1 2\0\n"), ":1: the line has a NUL byte: this is not a text file"},
        {BYTES("0 1 +\0\n"), ":1: the line has a NUL byte: this is not a text file"},
        {BYTES("0 1\n\n# \0\n"), ":3: the line has a NUL byte: this is not a text file"},
        {BYTES("\0"), ":1: the line has a NUL byte: this is not a text file"},
        {BYTES("graph\n"), ":1: the number of nodes is missing"},
        {BYTES("graph \r\n"), ":1: the number of nodes is missing"},
        {BYTES("graph 0\n"), ":1: '0' is not a number of nodes: a whole number from 1 to 2147483647"},
        {BYTES("graph -2\n"), ":1: '-2' is not a number of nodes: a whole number from 1 to 2147483647"},
        {BYTES("graph +2\n"), ":1: '+2' is not a number of nodes: a whole number from 1 to 2147483647"},
        {BYTES("graph 2.0\n"), ":1: '2.0' is not a number of nodes: a whole number from 1 to 2147483647"},
        {BYTES("graph x\n"), ":1: 'x' is not a number of nodes: a whole number from 1 to 2147483647"},
        {BYTES("graph,2\n"), ":1: 'graph' is not a node id: a whole number, at least 0"},
        {BYTES("graph 2147483648\n"),
         ":1: '2147483648' is not a number of nodes: a whole number from 1 to 2147483647"},
        {BYTES("graph 18446744073709551617\n"),
         ":1: '18446744073709551617' is not a number of nodes: a whole number from 1 to 2147483647"},
        {BYTES("graph 1\ngraph 2 3\n"), ":2: unexpected '3' after the number of nodes"},
        {BYTES("graph 2,\n"), ":1: unexpected ',' after the number of nodes"},
        {BYTES("graph 2 x # x\n"), ":1: unexpected 'x' after the number of nodes"},
        {BYTES("graph 2\0\n"), ":1: the line has a NUL byte: this is not a text file"},
        {BYTES("grap\n"), ":1: 'grap' is not a node id: a whole number, at least 0"},
        {BYTES("graph2\n"), ":1: 'graph2' is not a node id: a whole number, at least 0"},
        {BYTES("Graph 2\n"), ":1: 'Graph' is not a node id: a whole number, at least 0"},
        {BYTES("graph 2\n0 2\n"), ":2: node id 2 is above 1, the last of its graph"},
        {BYTES("graph 9\n8 8\ngraph 1\n# x\n1 0\n"), ":5: node id 1 is above 0, the last of its graph"},
        {BYTES("graph 2\n18446744073709551615 0\n"),
         ":2: node id 18446744073709551615 is above 1, the last of its graph"},
        {BYTES("graph 2\n0 18446744073709551616\n"),
         ":2: node id 18446744073709551616 exceeds 64 bits: renumber the nodes from 0"},
        {BYTES("graph 2\n0\n"), ":2: the second node id is missing"},
        {BYTES("0 1\ngraph 2\n0 1\n"), ":2: an edge comes before the first graph line"},
        {BYTES("# x\n5 5\n\ngraph 2\n"), ":4: an edge comes before the first graph line"},
        {BYTES("graph 2147483647\ngraph 1\n"), ":2: this graph makes more than 2147483647 nodes"},
        {BYTES("graph 1\ngraph 2147483646\n\ngraph 2147483647\n"),
         ":4: this graph makes more than 2147483647 nodes"},
        {BYTES(""), ": the file has no edges"},
        {BYTES("# 0 1\n\n"), ": the file has no edges"},
    };
    char shown[GRAPH_SHOWN];
    for (size_t i = 0; i < LENGTH(bad); i++)
        assert_string_equal(edges_of(*state, bad[i].text, bad[i].size, i % 2, shown), bad[i].error);
}

/* Nodes with names, in the order of their appearance; ids of any length are names, too. */
TEST(names_are_numbered)
{
    static const struct {
        const char *family, *text, *edges;
    } known[] = {
        {"names", "b a 1\n# x\na,c\n  c\tb {}\nb b\n", "3: 0>1 1>2 2>0 0>0"},
        {"undirected:names", "x y\ny z\n", "3: 0>1 1>0 1>2 2>1"},
        {"unique:names", "x y\nx y\n", "2: 0>1 1>0"},
        {"file:names", "100000000000000000001 5\n5 100000000000000000002\ngraph 5", "4: 0>1 1>2 3>1"},
        {"names", "a\n", ":1: a name is missing"},
        {"names", "a b c\n", ":1: 'c' is not a weight"},
        {"names", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n",
         ": names: is for edge lists, and this is Matrix Market"},
    };
    struct test_file *temp = *state;
    char family[PATH_MAX], error[ERROR_SIZE], shown[GRAPH_SHOWN];
    for (size_t i = 0; i < LENGTH(known); i++) {
        write_bytes(temp->path, known[i].text, strlen(known[i].text));
        snprintf(family, sizeof family, "%s:%s", known[i].family, temp->path);
        struct graph_config c = {.family = family, .nodes = 1, .graphs = 1};
        struct batch b;
        if (!batch_generate(&b, &c, error, sizeof error)) {
            assert_string_equal(error + strlen(temp->path), known[i].edges);
            continue;
        }
        int at = snprintf(shown, sizeof shown, "%d:", (int)b.adj.nodes);
        for (int64_t j = 0; j < b.out.nodes; j++)
            for (int64_t e = b.out.row_ptr[j]; e < b.out.row_ptr[j + 1]; e++)
                at += snprintf(shown + at, sizeof shown - (size_t)at, " %d>%d", (int)j, b.out.col[e]);
        batch_free(&b);
        /* sorted by the node from which edges come */
        assert_int_equal(strlen(shown), strlen(known[i].edges));
        for (const char *edge = strchr(known[i].edges, ' '); edge; edge = strchr(edge + 1, ' ')) {
            char one[8];
            snprintf(one, sizeof one, "%.4s", edge);
            assert_non_null(strstr(shown, one));
        }
    }
}

/* Many names, so that tables grow: every edge leads to the name after its own. */
TEST(many_names)
{
    enum { NAMES = 30000 };
    static char text[NAMES * 32];
    struct test_file *temp = *state;
    char family[PATH_MAX], error[ERROR_SIZE];
    size_t at = 0;
    for (int i = 0; i < NAMES; i++)
        at += (size_t)sprintf(text + at, "node%x node%x\n", i, (i + 1) % NAMES);
    write_bytes(temp->path, text, at);
    snprintf(family, sizeof family, "names:%s", temp->path);
    struct graph_config c = {.family = family, .nodes = 1, .graphs = 1};
    struct batch b;
    assert_true(batch_generate(&b, &c, error, sizeof error));
    assert_int_equal(b.adj.nodes, NAMES);
    for (int64_t j = 0; j < NAMES; j++)
        assert_int_equal(b.out.col[b.out.row_ptr[j]], (j + 1) % NAMES);
    batch_free(&b);
}

/* What the author of a file may not have meant is noted. */
TEST(files_have_notes)
{
    static const struct {
        const char *text;
        bool header, columns;
    } known[] = {{"0 1\n1 2\n", false, false},
                 {"a b\n0 1\n1 2\n", true, false},
                 {"a b\n0 1 2\n1 2\n", true, true},
                 {"0 1 2 3\n1 2 3\n2 3 0 1\n", false, true},
                 {"0 1 {}\n1 2\n# 1 2 3\n2 0 # 5\n", false, false}};
    struct test_file *temp = *state;
    char error[ERROR_SIZE];
    for (size_t i = 0; i < LENGTH(known); i++) {
        struct edge_list list;
        write_bytes(temp->path, known[i].text, strlen(known[i].text));
        assert_true(graph_list_read(&list, temp->path, false, error, sizeof error));
        assert_int_equal(list.notes.header != NULL, known[i].header);
        assert_int_equal(list.notes.columns != NULL, known[i].columns);
        edge_list_free(&list);
    }
}

/* Lines may span blocks; a line longer than a block is refused, even a comment. */
TEST(lines_may_be_long)
{
    enum { MIB = 1 << 20 };
    static char text[2 * MIB];
    char shown[GRAPH_SHOWN];
    memset(text, ' ', sizeof text);
    memcpy(text, "0 1\n#", 5);
    memcpy(text + MIB - 3, "\n3 1", 4);
    assert_string_equal(edges_of(*state, text, MIB + 1, false, shown), "3: 0>1 2>1");
    text[MIB - 3] = ' ';
    assert_string_equal(edges_of(*state, text, MIB + 5, false, shown), ":2: the line is longer than 1 MiB");
    for (int shift = 0; shift < 8; shift++) {
        int64_t lines = 0;
        size_t at = (size_t)shift;
        memset(text, '\n', at);
        for (; at + 8 <= sizeof text; at += 8, lines++)
            memcpy(text + at, "123 456\n", 8);
        struct test_file *temp = *state;
        struct edge_list list;
        write_bytes(temp->path, text, at);
        assert_true(graph_list_read(&list, temp->path, false, shown, sizeof shown));
        assert_int_equal(list.edges, lines);
        assert_int_equal(list.nodes, 2);
        edge_list_free(&list);
    }
}

static size_t repeat(char *text, size_t at, const char *line, int times)
{
    for (int i = 0; i < times; i++, at += strlen(line))
        memcpy(text + at, line, strlen(line));
    return at;
}

/* Edges are appended in batches of some hundred: a graph is refused both before and after the first batch. */
TEST(no_graph_follows_an_edge)
{
    static char text[4 * 600 + 8];
    char shown[GRAPH_SHOWN], want[80];
    for (int edges = 1; edges <= 600; edges++) {
        size_t size = repeat(text, repeat(text, 0, "0 1\n", edges), "graph 2\n", 1);
        snprintf(want, sizeof want, ":%d: an edge comes before the first graph line", edges + 1);
        assert_string_equal(edges_of(*state, text, size, edges % 2, shown), want);
    }
}

TEST(graphs_may_be_many)
{
    enum { GRAPHS = 200000 };
    static char text[8 * GRAPHS];
    struct test_file *temp = *state;
    struct edge_list list;
    char error[ERROR_SIZE];
    write_bytes(temp->path, text, repeat(text, 0, "graph 3\n", GRAPHS));
    assert_true(graph_list_read(&list, temp->path, false, error, sizeof error));
    assert_int_equal(list.graphs, GRAPHS);
    assert_int_equal(list.nodes, 3 * GRAPHS);
    for (int64_t g = 0; g <= GRAPHS; g++)
        assert_int_equal(list.offset[g], 3 * g);
    assert_true(list.peak >= (GRAPHS + 1) * (int64_t)sizeof *list.offset);
    edge_list_free(&list);
}

static void assert_refused(const char *path, const char *reason)
{
    struct edge_list list;
    char error[PATH_MAX + ERROR_SIZE], want[PATH_MAX + ERROR_SIZE];
    snprintf(want, sizeof want, "%s: %s", path, reason);
    assert_false(graph_list_read(&list, path, false, error, sizeof error));
    assert_string_equal(error, want);
    assert_null(list.edge);
    char cut[8];
    assert_false(graph_list_read(&list, path, false, cut, sizeof cut));
    assert_memory_equal(cut, want, sizeof cut - 1);
}

TEST(files_that_cannot_be_read_are_named)
{
    struct test_file *temp = *state;
    unlink(temp->path);
    assert_refused(temp->path, "No such file or directory");
    assert_refused(temp->root,
                   "is a directory without NAME_A.txt and NAME_graph_indicator.txt (TUDataset), or edge.csv, "
                   "num-node-list.csv and num-edge-list.csv (OGB; all also as .gz)");
    assert_int_equal(mkfifo(temp->path, 0600), 0);
    assert_refused(temp->path, "is not a regular file");
    unlink(temp->path);
    write_bytes(temp->path, BYTES("0 1\n"));
    if (geteuid() != 0) {
        assert_int_equal(chmod(temp->path, 0), 0);
        assert_refused(temp->path, "Permission denied");
    }
    unlink(temp->path);
}

/* A text whose compressed form is large enough to be truncated and damaged in many places. */
static size_t many_lines(char *text, size_t size)
{
    size_t length = 0;
    for (unsigned i = 0; length + 32 < size; i++)
        length += (size_t)sprintf(text + length, "%u %u\n", i * 2654435761u >> 8, i * 40503u >> 4);
    return length;
}

/* As a damaged file with gzip, in some line. */
static void assert_damaged(const char *path, const char *reason)
{
    char shown[GRAPH_SHOWN];
    const char *text = graph_shown(path, false, shown);
    assert_int_equal(*text, ':');
    size_t digits = strspn(text + 1, "0123456789");
    assert_true(digits > 0);
    assert_memory_equal(text + 1 + digits, ": ", 2);
    assert_string_equal(text + 1 + digits + 2, reason);
}

TEST(gzip_is_read_and_its_damage_found)
{
    struct test_file *temp = *state;
    static char text[100000], packed[100000];
    size_t length = many_lines(text, sizeof text);
    struct edge_list plain, gzip;
    char error[ERROR_SIZE] = "";
    write_bytes(temp->path, text, length);
    assert_true(graph_list_read(&plain, temp->path, true, error, sizeof error));
    write_gzip(temp->path, text, length);
    assert_true(graph_list_read(&gzip, temp->path, true, error, sizeof error));
    assert_int_equal(plain.nodes, gzip.nodes);
    assert_int_equal(plain.edges, gzip.edges);
    assert_memory_equal(plain.edge, gzip.edge, (size_t)plain.edges * sizeof *plain.edge);
    edge_list_free(&plain);
    edge_list_free(&gzip);

    FILE *file = fopen(temp->path, "rb");
    assert_non_null(file);
    size_t size = fread(packed, 1, sizeof packed, file);
    fclose(file);
    assert_between(size, 10000, sizeof packed - 1);
    for (size_t cut = 3; cut < size; cut += cut < 20 || cut > size - 20 ? 1 : 997) {
        write_bytes(temp->path, packed, cut);
        assert_damaged(temp->path, "unexpected end of file");
    }
    for (size_t at = 20; at < size; at += 997) {
        packed[at] ^= 0x10;
        write_bytes(temp->path, packed, size);
        assert_false(graph_list_read(&gzip, temp->path, false, error, sizeof error));
        assert_memory_equal(error, temp->path, strlen(temp->path));
        packed[at] ^= 0x10;
    }
    packed[size - 6] ^= 1; /* of the checksum */
    write_bytes(temp->path, packed, size);
    assert_damaged(temp->path, "incorrect data check");
}

GROUP("edge lists", test_file_open, test_file_close)
