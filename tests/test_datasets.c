/* Folders of TUDataset and OGB, and tables of numbers: what they mean, and what is refused. */
#include <sys/stat.h>
#include <unistd.h>

#include "graphs/dataset.h"
#include "graphs/table.h"
#include "tests/files.h"
#include "tests/graphs.h"
#include "tests/test.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { FILES = 3 };

/* The files of a folder: names, and texts or null. */
struct folder {
    const char *text[FILES];
    bool undirected;
    const char *shown;
};

static const char *const tu[FILES] = {"X_A.txt", "X_graph_indicator.txt", NULL};
static const char *const ogb[FILES] = {"edge.csv.gz", "num-node-list.csv.gz", "num-edge-list.csv.gz"};

static void in_folder(const struct test_file *temp, const char *name, char path[128])
{
    snprintf(path, 128, "%s/%s", temp->root, name);
}

static void remove_all(const struct test_file *temp, const char *const names[FILES])
{
    char path[128];
    for (int i = 0; i < FILES && names[i]; i++) {
        in_folder(temp, names[i], path);
        unlink(path);
    }
}

static void check(const struct test_file *temp, const char *const names[FILES], const struct folder *f,
                  size_t count)
{
    char path[128], shown[GRAPH_SHOWN];
    for (; count > 0; f++, count--) {
        remove_all(temp, names);
        for (int i = 0; i < FILES && f->text[i]; i++) {
            in_folder(temp, names[i], path);
            (strstr(path, ".gz") ? write_gzip : write_bytes)(path, f->text[i], strlen(f->text[i]));
        }
        assert_string_equal(graph_shown(temp->root, f->undirected, shown), f->shown);
    }
    remove_all(temp, names);
}

#define NUMBERED ": number the graphs from 1 in the order of their nodes, without gaps"

TEST(folders_of_tudataset)
{
    static const struct folder folders[] = {
        {{"1, 2\n2,1\n4\t4\n6, 5\n", "1\n1\n1\n2\n3\n3\n"}, false, "3+1+2: 0>1 1>0 3>3 5>4"},
        {{"6 5\r\n\n1 3\r\n", "1\r\n1\n1\n2\n3\n3"}, true, "3+1+2: 5>4 4>5 0>2 2>0"},
        {{"", "1\n2\n\n"}, false, "1+1:"},
        {{"1, 2\n", ""}, false, "/X_graph_indicator.txt: the file has no nodes"},
        {{"1, 2\n", "1\n2\n"}, false, "/X_A.txt:1: nodes 1 and 2 are in two graphs"},
        {{"1, 1\n2, 1\n", "1\n2\n"}, false, "/X_A.txt:2: nodes 2 and 1 are in two graphs"},
        {{"1, 3\n", "1\n1\n"}, false, "/X_A.txt:1: '3' is not a node: a whole number from 1 to 2"},
        {{"0, 1\n", "1\n1\n"}, false, "/X_A.txt:1: '0' is not a node: a whole number from 1 to 2"},
        {{"1, -1\n", "1\n1\n"}, false, "/X_A.txt:1: '-1' is not a node: a whole number from 1 to 2"},
        {{"1\n", "1\n1\n"}, false, "/X_A.txt:1: the node is missing"},
        {{"1, 2, 3\n", "1\n1\n"}, false, "/X_A.txt:1: unexpected ',' after the two nodes"},
        {{"1, 2\n", "2\n"}, false, "/X_graph_indicator.txt:1: graph 2 where graph 1 is expected" NUMBERED},
        {{"1, 2\n", "1\n3\n"},
         false,
         "/X_graph_indicator.txt:2: graph 3 where graph 1 or 2 is expected" NUMBERED},
        {{"1, 2\n", "1\n2\n1\n"},
         false,
         "/X_graph_indicator.txt:3: graph 1 where graph 2 or 3 is expected" NUMBERED},
        {{"1, 2\n", "1\nx\n"},
         false,
         "/X_graph_indicator.txt:2: 'x' is not a graph: a whole number from 1 to 2147483647"},
        {{"1, 2\n", "1 1\n"}, false, "/X_graph_indicator.txt:1: unexpected '1' after the graph"},
        {{"1, 2\n", NULL},
         false,
         " is a directory without NAME_A.txt and NAME_graph_indicator.txt (TUDataset), or edge.csv, "
         "num-node-list.csv and num-edge-list.csv (OGB; all also as .gz)"},
    };
    check(*state, tu, folders, LENGTH(folders) - 1);
    struct folder last = folders[LENGTH(folders) - 1];
    char shown[GRAPH_SHOWN];
    snprintf(shown, sizeof shown, ":%s", last.shown);
    last.shown = shown;
    check(*state, tu, &last, 1);
}

TEST(folders_of_ogb)
{
    static const struct folder folders[] = {
        {{"0,1\n1,2\n0,0\n", "3\n2\n1\n", "2\n0\n1\n"}, false, "3+2+1: 0>1 1>2 5>5"},
        {{"0,1\n1,2\n0,0\n", "3\n2\n1\n", "2\n0\n1\n"}, true, "3+2+1: 0>1 1>0 1>2 2>1 5>5"},
        {{"", "1\r\n4", "0\r\n0"}, false, "1+4:"},
        {{"", "", ""}, false, "/num-node-list.csv.gz: the file has no graphs"},
        {{"", "0\n", "0\n"},
         false,
         "/num-node-list.csv.gz:1: '0' is not a number of nodes: a whole number from 1 to 2147483647"},
        {{"", "2147483647\n1\n", ""},
         false,
         "/num-node-list.csv.gz:2: this graph makes more than 2147483647 nodes"},
        {{"", "1\n1\n", "0\n"}, false, "/num-edge-list.csv.gz:1: the file ends after 1 of 2 graphs"},
        {{"", "1\n", "0\n0\n"},
         false,
         "/num-edge-list.csv.gz:2: more than the 1 graphs of the list of nodes"},
        {{"", "1\n", "-1\n"},
         false,
         "/num-edge-list.csv.gz:1: '-1' is not a number of edges: a whole number from 0 to 2147483647"},
        {{"0,1\n", "2\n", "2\n"}, false, "/edge.csv.gz:1: the file ends after 1 of the 2 edges of graph 0"},
        {{"0,1\n1,0\n", "2\n", "1\n"}, false, "/edge.csv.gz:2: more edges than the graphs have together"},
        {{"0,2\n", "2\n1\n", "1\n0\n"},
         false,
         "/edge.csv.gz:1: '2' is not a node: a whole number from 0 to 1"},
        {{"0;1\n", "2\n", "1\n"}, false, "/edge.csv.gz:1: '0;1' is not a node: a whole number from 0 to 1"},
    };
    check(*state, ogb, folders, LENGTH(folders));
}

/* Data sets as they are downloaded: in a folder `raw`, tables beside the graphs. */
TEST(tables_are_found)
{
    static const char *const files[] = {"raw/X_A.txt", "raw/X_graph_indicator.txt", "raw/X_node_labels.txt",
                                        "raw/X_graph_labels.txt.gz"};
    const struct test_file *temp = *state;
    char path[128], error[GRAPH_SHOWN] = "", shown[GRAPH_SHOWN];
    struct dataset d;
    in_folder(temp, "raw", path);
    assert_int_equal(mkdir(path, 0777), 0);
    for (size_t i = 0; i < LENGTH(files); i++) {
        in_folder(temp, files[i], path);
        write_bytes(path, BYTES("1\n"));
    }
    in_folder(temp, files[0], path);
    write_bytes(path, BYTES("1,1\n"));
    assert_true(dataset_find(&d, temp->root, error, sizeof error));
    assert_int_equal(d.kind, DATASET_TU);
    assert_int_equal(d.parts, 2);
    assert_int_equal(d.tables, 2);
    assert_string_equal(d.table[0].name, "node labels");
    assert_int_equal(d.table[0].of, TABLE_OF_NODES);
    assert_string_equal(d.table[1].path + strlen(temp->root), "/raw/X_graph_labels.txt.gz");
    assert_string_equal(graph_shown(temp->root, false, shown), "1: 0>0");
    static const char *const beside[] = {"raw/._X_A.txt", "raw/.Y_A.txt", "raw/X_A.txt.gz"};
    for (size_t i = 0; i < LENGTH(beside); i++) {
        in_folder(temp, beside[i], path);
        write_bytes(path, BYTES("\0\5\x16\7"));
        assert_string_equal(graph_shown(temp->root, false, shown), "1: 0>0");
        unlink(path);
    }
    in_folder(temp, "raw/Y_A.txt", path);
    write_bytes(path, BYTES("1,1\n"));
    assert_string_equal(graph_shown(temp->root, false, shown),
                        "/raw: several data sets: several files named *_A.txt");
    unlink(path);
    for (size_t i = 0; i < LENGTH(files); i++) {
        in_folder(temp, files[i], path);
        unlink(path);
    }
    in_folder(temp, "raw", path);
    rmdir(path);
}

/* What a table is: its shape, type, range and missing values, or the error without its path. */
static const char *table_shown(const struct test_file *temp, const char *name, const char *bytes, size_t size,
                               char shown[GRAPH_SHOWN])
{
    char path[128], error[GRAPH_SHOWN] = "";
    struct number_table t;
    in_folder(temp, name, path);
    write_bytes(path, bytes, size);
    if (table_read(&t, path, NEVER_CANCELLED, error, sizeof error))
        snprintf(shown, GRAPH_SHOWN, "%dx%d %s %g..%g -%d", (int)t.rows, (int)t.cols, t.type, t.least, t.most,
                 (int)t.missing);
    else
        strcpy(shown, error + strlen(path));
    unlink(path);
    return shown;
}

#define TOO_LARGE " does not fit float32, whose largest number is 3.4028235e38"

TEST(texts_are_tables)
{
    static const char *const known[][2] = {
        {"1,2\n3,4\n", "2x2 text 1..4 -0"},
        {"1 -2.5e1\t+.5\n", "1x3 text -25..1 -0"},
        {"\n7\r\n\n8", "2x1 text 7..8 -0"},
        {",1\n1,\nnan,NaN\n", "3x2 text 1..1 -4"},
        {"nan\n", "1x1 text inf..-inf -1"},
        {"1e38 -3.4028235e38\n2 3.4028235e+38", "2x2 text -3.40282e+38..3.40282e+38 -0"},
        {"\xef\xbb\xbf"
         "1,2\r\n",
         "1x2 text 1..2 -0"},
        {"2\n1e999\n", ":2: '1e999'" TOO_LARGE},
        {"1 3.4028236e38\n", ":1: '3.4028236e38'" TOO_LARGE},
        {"1e39 1\n", ":1: '1e39'" TOO_LARGE},
        {"1\n2,inf\n", ":2: 'inf'" TOO_LARGE},
        {"-Infinity\n", ":1: '-Infinity'" TOO_LARGE},
        {"", ": the file has no rows"},
        {"1,2\n3\n", ":2: a row of 1, after rows of 2"},
        {"1,2\n3,4,\n", ":2: a row of 3, after rows of 2"},
        {"id,x\n", ":1: 'id' is not a number"},
        {"1,0x2\n", ":1: '0x2' is not a number"},
        {"1;2\n", ":1: '1;2' is not a number"},
        {"1\n2,nano\n", ":2: 'nano' is not a number"},
        {"1234567890123456789012345678901234567890123456789012345678901234\n",
         ":1: '1234567890123456789012345678901' has too many digits"},
    };
    char shown[GRAPH_SHOWN];
    for (size_t i = 0; i < LENGTH(known); i++)
        assert_string_equal(table_shown(*state, "x.csv", known[i][0], strlen(known[i][0]), shown),
                            known[i][1]);
    assert_string_equal(table_shown(*state, "x.csv", BYTES("1\n\0"), shown),
                        ":2: the line has a NUL byte: this is not a text file");
}

/* In each kind of file a line that is too long is refused, whatever is in it. */
TEST(long_lines_are_refused)
{
    enum { SIZE = 2 << 20 };
    static char text[SIZE + 1];
    const struct test_file *temp = *state;
    char shown[GRAPH_SHOWN];
    memset(text, '1', SIZE);
    memcpy(text, "1\n", 2);
    const struct folder of_tu[] = {
        {{"1, 1\n", text}, false, "/X_graph_indicator.txt:2: the line is longer than 1 MiB"},
        {{text + 2, "1\n"}, false, "/X_A.txt:1: the line is longer than 1 MiB"}};
    check(temp, tu, of_tu, LENGTH(of_tu));
    const struct folder of_ogb[] = {
        {{"", text, "0\n"}, false, "/num-node-list.csv.gz:2: the line is longer than 1 MiB"},
        {{"", "1\n1\n", text}, false, "/edge.csv.gz: the file ends after 0 of the 1 edges of graph 0"},
        {{text + 2, "1\n", "1\n"}, false, "/edge.csv.gz:1: the line is longer than 1 MiB"}};
    check(temp, ogb, of_ogb, LENGTH(of_ogb));
    assert_string_equal(table_shown(temp, "x.csv", text, SIZE, shown), ":2: the line is longer than 1 MiB");
}

#define NPY(version, length, header) "\x93NUMPY" version length header
#define VERSION1(length, header)     NPY("\1\0", length "\0", header)

/* Headers of 56 bytes: '8' in ASCII. */
TEST(npy_files_are_tables)
{
    static const struct refused {
        const char *bytes;
        size_t size;
        const char *shown;
    } known[] = {
        {BYTES(VERSION1("8", "{'descr': '<i2', 'fortran_order': False, 'shape': (3,)} ") "\1\0\2\0\xff\xff"),
         "3x1 i2 -1..2 -0"},
        {BYTES(VERSION1("8", "{'descr': '|b1', 'fortran_order': True, 'shape': (1, 2)}") "\0\1"),
         "1x2 b1 0..1 -0"},
        {BYTES(NPY("\2\0", "8\0\0\0",
                   "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} ") "\0\0\x80\x3f\0\0\xc0\x7f"),
         "2x1 f4 1..1 -1"},
        {BYTES(
             VERSION1("8", "{'descr': '<f4', 'fortran_order': False, 'shape': (1,2)}") "\0\0\x80\x3f\0\0\x80"
                                                                                       "\xff"),
         ": -inf in row 1, column 2" TOO_LARGE},
        {BYTES(VERSION1("8",
                        "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 1)}") "\0\0\0\0\0\0\0\0"
                                                                                    "\0\0\0\0\0\0\xf0\x47"),
         ": 3.40282e+38 in row 2, column 1" TOO_LARGE},
        {BYTES(VERSION1("8", "{'descr': '<i2', 'order': False, 'shape': (1,)}         ")),
         ": its header does not say whether its elements are in Fortran's order"},
        {BYTES("PK\3\4\x14"), ": is a ZIP archive: unzip it first"},
        {BYTES(VERSION1("8", "{'descr': '<i2', 'fortran_order': False, 'shape': (3,)} ") "\1\0\2\0\3"),
         ": the file ends after 2 of 3 elements"},
        {BYTES(VERSION1("8", "{'descr': '<i2', 'fortran_order': False, 'shape': (1,)} ") "\1\0\2"),
         ": has bytes after its elements"},
        {BYTES(VERSION1("8", "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)} ")),
         ": the type of its elements is none of little-endian f4, f8, i1 to i8, u1 to u8 and b1"},
        {BYTES(VERSION1("8", "{'descr': '>i2', 'fortran_order': False, 'shape': (1,)} ")),
         ": the type of its elements is none of little-endian f4, f8, i1 to i8, u1 to u8 and b1"},
        {BYTES(VERSION1("8", "{'descr': '<i2', 'fortran_order': False, 'shape': ()}   ")),
         ": its shape is not that of one or two dimensions below 10^9, with an element"},
        {BYTES(VERSION1("8", "{'descr':'<i2','fortran_order': False, 'shape':(1,1,1)} ")),
         ": the type of its elements is none of little-endian f4, f8, i1 to i8, u1 to u8 and b1"},
        {BYTES(VERSION1("8", "{'descr': '<i2', 'fortran_order': False, ")),
         ": the file ends within its header"},
        {BYTES(NPY("\4\0", "8\0", "")), ": version 4 of NumPy's format; known are 1 to 3"},
        {BYTES("\x93NUMPY\1\0"
               "8"),
         ": the file ends before its header"},
        {BYTES("1,2\n3,4\n"), ": is no .npy file"},
        {BYTES(""), ": is no .npy file"},
    };
    char shown[GRAPH_SHOWN];
    for (size_t i = 0; i < LENGTH(known); i++)
        assert_string_equal(table_shown(*state, "x.npy", known[i].bytes, known[i].size, shown),
                            known[i].shown);
}

/* The same matrix in both orders, in files named .npy and not, has the same rows. */
TEST(orders_of_elements)
{
    static const int64_t shapes[][2] = {{5, 4}, {1, 4}, {4, 1}, {2, 3}};
    const struct test_file *temp = *state;
    for (size_t s = 0; s < LENGTH(shapes); s++)
        for (int fortran = 0; fortran < 2; fortran++) {
            int64_t rows = shapes[s][0], cols = shapes[s][1], count = rows * cols;
            char path[128], text[80], bytes[300] = "", error[GRAPH_SHOWN] = "";
            float value[32];
            struct number_table t;
            snprintf(text, sizeof text, "{'descr': '<i2', 'fortran_order': %s, 'shape': (%d, %d)}",
                     fortran ? "True" : "False", (int)rows, (int)cols);
            int at = sprintf(bytes, "\x93NUMPY\1") + 3;
            bytes[at - 2] = 64;
            at += sprintf(bytes + at, "%-64s", text);
            for (int64_t i = 0; i < count; i++) {
                int64_t row = fortran ? i % rows : i / cols, col = fortran ? i / rows : i % cols;
                bytes[at + 2 * i] = (char)(10 * row + col);
            }
            in_folder(temp, fortran ? "x.npy" : "x", path);
            (fortran ? write_gzip : write_bytes)(path, bytes, (size_t)(at + 2 * count));
            assert_true(table_read(&t, path, NEVER_CANCELLED, error, sizeof error));
            assert_true(t.rows == rows && t.cols == cols && t.least == 0);
            assert_true(table_values(path, value, count, NEVER_CANCELLED, error, sizeof error));
            for (int64_t i = 0; i < count; i++)
                assert_true(value[i] == (float)(10 * (i / cols) + i % cols));
            assert_false(table_values(path, value, count - 1, NEVER_CANCELLED, error, sizeof error));
            unlink(path);
        }
}

GROUP("data sets", test_file_open, test_file_close)
