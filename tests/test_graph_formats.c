/* Matrix Market and METIS files: what they mean, refused lines and their messages, and files cut anywhere. */
#include <unistd.h>

#include <zlib.h>

#include "tests/files.h"
#include "tests/graphs.h"
#include "tests/test.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define MARKET        "%%MatrixMarket matrix coordinate "

struct known {
    const char *text;
    bool undirected;
    const char *shown;
};

struct refused {
    const char *text;
    size_t size;
    const char *error;
};

/* What is read of a text in a file with this ending. */
static const char *read_as(const struct test_file *temp, const char *ending, const char *text, size_t size,
                           bool undirected, char shown[GRAPH_SHOWN])
{
    char path[80];
    snprintf(path, sizeof path, "%s%s", temp->path, ending);
    (strstr(ending, ".gz") ? write_gzip : write_bytes)(path, text, size);
    graph_shown(path, undirected, shown);
    unlink(path);
    return shown;
}

static void check_known(const struct test_file *temp, const char *ending, const struct known *k, size_t count)
{
    char shown[GRAPH_SHOWN];
    for (size_t i = 0; i < count; i++)
        assert_string_equal(read_as(temp, ending, k[i].text, strlen(k[i].text), k[i].undirected, shown),
                            k[i].shown);
}

static void check_refused(const struct test_file *temp, const char *ending, const struct refused *r,
                          size_t count)
{
    char shown[GRAPH_SHOWN];
    for (size_t i = 0; i < count; i++)
        assert_string_equal(read_as(temp, ending, r[i].text, r[i].size, i % 2, shown), r[i].error);
}

TEST(matrices_are_graphs)
{
    static const struct known known[] = {
        {MARKET "pattern general\n3 3 2\n1 2\n3 3\n", false, "3: 0>1 2>2"},
        {MARKET "pattern general\n3 3 2\n1 2\n3 3\n", true, "3: 0>1 1>0 2>2"},
        {MARKET "real general\n% a\n\n 2\t2 3 \n1 2 -1.5e3\n% b\n2 1 0\n1 2 .5\n\n", false, "2: 0>1 1>0 0>1"},
        {MARKET "integer symmetric\n4 4 3\n2 1 -7\n2 2 1\n4 1 3", false, "4: 1>0 0>1 1>1 3>0 0>3"},
        {MARKET "integer symmetric\n4 4 3\n2 1 -7\n2 2 1\n4 1 3", true, "4: 1>0 0>1 1>1 3>0 0>3"},
        {MARKET "real skew-symmetric\n2 2 1\n2 1 1\n", false, "2: 1>0 0>1"},
        {MARKET "complex hermitian\n2 2 2\n1 1 1 0\n2 1 0 -1\n", false, "2: 0>0 1>0 0>1"},
        {MARKET "complex general\n1 1 0\n", false, "1:"},
        {MARKET "unsigned-integer general\n3 3 2\n1 2 1\n2 3 1\n", false, "3: 0>1 1>2"},
        {MARKET "real general\n2 2 2\n1 2 nan\n2 1 -inf\n", false, "2: 0>1 1>0"},
        {"%MatrixMarket matrix coordinate pattern symmetric\n4 4 2\n2 1\n3 1\n", false, "4: 1>0 0>1 2>0 0>2"},
        {"\xef\xbb\xbf%% MatrixMarket matrix coordinate pattern general\r\n%\r\n2 2 1\r\n2 1\r\n", false,
         "2: 1>0"},
        {"%%mAtRiXmArKeT MATRIX Coordinate Pattern\tGENERAL \r\n2 2 1\r\n2 1\r\n", false, "2: 1>0"},
    };
    check_known(*state, "", known, LENGTH(known));
    check_known(*state, ".mtx", known, LENGTH(known));
    check_known(*state, ".mtx.gz", known, LENGTH(known));
}

TEST(bad_matrices_are_refused)
{
    static const struct refused refused[] = {
        {BYTES(""), ": the file is empty"},
        {BYTES("1 2\n"), ":1: '1' is not %%MatrixMarket, as such files begin"},
        {BYTES("%%MatrixMarket vector coordinate real general\n"),
         ":1: 'vector' is not 'matrix', the only object that is a graph"},
        {BYTES("%%MatrixMarket matrix array real general\n2 2\n1\n1\n1\n1\n"),
         ":1: 'array' is not 'coordinate': dense matrices are no graphs here"},
        {BYTES(MARKET "double general\n"),
         ":1: 'double' is not pattern, real, integer, unsigned-integer or complex"},
        {BYTES(MARKET "real\n"), ":1: '' is not general, symmetric, skew-symmetric or hermitian"},
        {BYTES(MARKET "real hermitian\n"), ":1: hermitian matrices are complex"},
        {BYTES(MARKET "pattern skew-symmetric\n"), ":1: skew-symmetric matrices are no patterns"},
        {BYTES(MARKET "real general x\n"), ":1: unexpected 'x' after the symmetry"},
        {BYTES(MARKET "real general\n% x\n"), ":2: the file ends before the line of its sizes"},
        {BYTES(MARKET "real general\n2 3 1\n1 1 1\n"),
         ":2: the matrix is not square: its rows and columns are the nodes of a graph"},
        {BYTES(MARKET "real general\n0 0 0\n"),
         ":2: '0' is not a number of rows: a whole number from 1 to 2147483647"},
        {BYTES(MARKET "real general\n2 2\n"), ":2: the number of entries is missing"},
        {BYTES(MARKET "real general\n2 -2 1\n"),
         ":2: '-2' is not a number of columns: a whole number from 1 to 2147483647"},
        {BYTES(MARKET "real general\n2 2 99999999999999999999\n"),
         ":2: '99999999999999999999' is not a number of entries: a whole number from 0 to 2147483647"},
        {BYTES(MARKET "real general\n2 2 1 1\n"), ":2: unexpected '1' after the number of entries"},
        {BYTES(MARKET "pattern general\n2 2 2\n1 2\n"), ":3: the file ends after 1 of 2 entries"},
        {BYTES(MARKET "pattern general\n2 2 1\n1 2\n\n2 1\n"),
         ":5: more than the 1 entries that are announced"},
        {BYTES(MARKET "pattern general\n2 2 1\n0 1\n"), ":3: '0' is not a row: a whole number from 1 to 2"},
        {BYTES(MARKET "pattern general\n2 2 1\n1 3\n"),
         ":3: '3' is not a column: a whole number from 1 to 2"},
        {BYTES(MARKET "pattern general\n2 2 1\n-1 1\n"), ":3: '-1' is not a row: a whole number from 1 to 2"},
        {BYTES(MARKET "pattern general\n2 2 1\n1\n"), ":3: the column is missing"},
        {BYTES(MARKET "pattern general\n2 2 1\n1,2\n"), ":3: the column is missing"},
        {BYTES(MARKET "pattern general\n2 2 1\n1 2 1\n"), ":3: unexpected '1' after the entry"},
        {BYTES(MARKET "real general\n2 2 1\n1 2\n"), ":3: the value is missing"},
        {BYTES(MARKET "real general\n2 2 1\n1 2 x\n"), ":3: 'x' is not a value"},
        {BYTES(MARKET "complex general\n2 2 1\n1 2 1\n"), ":3: the value is missing"},
        {BYTES(MARKET "pattern symmetric\n2 2 1\n1 2\n"),
         ":3: the entry of row 1 is above the diagonal of a symmetric matrix"},
        {BYTES(MARKET "real skew-symmetric\n2 2 1\n1 2 1\n"),
         ":3: the entry of row 1 is above the diagonal of a symmetric matrix"},
        {BYTES(MARKET "complex hermitian\n2 2 1\n1 2 1 0\n"),
         ":3: the entry of row 1 is above the diagonal of a symmetric matrix"},
        {BYTES(MARKET "real skew-symmetric\n2 2 1\n2 2 1\n"),
         ":3: the entry of row 2 is on the diagonal of a skew-symmetric matrix"},
        {BYTES(MARKET "pattern general\n2 2 1\n1 \0 2\n"),
         ":3: the line has a NUL byte: this is not a text file"},
    };
    check_refused(*state, ".mtx", refused, LENGTH(refused));
}

/* Files that are no text, whatever their name is, and compressed, too. */
TEST(containers_are_named)
{
    static const struct refused files[] = {
        {BYTES("PK\3\4\x14\0\0\0\0\0abcdefghijklmnop\5\0\0\0x.txt0 1\n"),
         ": is a ZIP archive: unzip it first"},
        {BYTES("PK\3\4\x14\0\0\0\0\0abcdefghijklmnop\5\0\0\0a.npy\x93NUMPY"),
         ": has no edge_index, and no csr matrix, as numpy.savez and scipy.sparse.save_npz write them"},
        {BYTES("PK\3\4\x14\0\0\0\0\0abcdefghijklmnop\xa\0\0\0x/data.pkl\x80\2"),
         ": is written by torch.save: write its edges or numbers as text"},
        {BYTES("PK\3\4\x14"), ": is a ZIP archive: unzip it first"},
        {BYTES("BZh91AY&SY"), ": is compressed by bzip2: bunzip2 it first"},
        {BYTES("\xfd"
               "7zXZ\0\0"),
         ": is compressed by xz: unxz it first"},
        {BYTES("\x28\xb5\x2f\xfd\4"), ": is compressed by zstd: unzstd it first"},
        {BYTES("7z\xbc\xaf\x27\x1c\0"), ": is a 7z archive: unpack it first (7z x)"},
        {BYTES("\x89HDF\r\n\x1a\n"), ": is an HDF5 file: write its edges or numbers as text"},
        {BYTES("PAR1\x15"), ": is a Parquet file: write its edges or numbers as text"},
        {BYTES("\x93NUMPY\1\0v\0{'descr'"), ": the file ends within its header"},
        {BYTES("\xff\xfe"
               "0\0 \0"
               "1\0"),
         ": is text in UTF-16: save it as UTF-8"},
        {BYTES("\xfe\xff\0"
               "0\0 \0"
               "1"),
         ": is text in UTF-16: save it as UTF-8"},
    };
    static const char *const endings[] = {"", ".txt.gz", ".mtx", ".graph"};
    char tar[1024] = "el_tab.txt", shown[GRAPH_SHOWN];
    memcpy(tar + 257, "ustar", 5);
    for (size_t i = 0; i < LENGTH(endings); i++) {
        check_refused(*state, endings[i], files, LENGTH(files));
        assert_string_equal(read_as(*state, endings[i], tar, sizeof tar, false, shown),
                            ": is a tar archive: unpack it first (tar -xf)");
    }
    const struct test_file *temp = *state;
    char path[80], packed[200];
    snprintf(path, sizeof path, "%s.once", temp->path);
    write_gzip(path, BYTES("0 1\n"));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(packed, 1, sizeof packed, file);
    fclose(file);
    unlink(path);
    assert_string_equal(read_as(temp, ".txt.gz", packed, size, false, shown),
                        ": is compressed by gzip twice: gunzip it first");
}

TEST(metis_files_are_graphs)
{
    static const struct known known[] = {
        {"3 2\n2\n1 3\n2\n", false, "3: 1>0 0>1 2>1 1>2"},
        {"3 2\n2\n1 3\n2\n", true, "3: 1>0 0>1 2>1 1>2"},
        {"% a\n\n4 1 0\n% b\n\n3\n 2 \r\n\n\n", false, "4: 2>1 1>2"},
        {"3 2 1\n2 7\n1 7 3 -2\n2 .5", false, "3: 1>0 0>1 2>1 1>2"},
        {"2 1 11\n5 2 7\n6 1 7\n", false, "2: 1>0 0>1"},
        {"2 1 010 3\n1 2 3 2\n1 2 3 1\n", false, "2: 1>0 0>1"},
        {"2 1 111 2\n9 1 1 2 7\n9 1 1 1 7\n", false, "2: 1>0 0>1"},
        {"1 0\n\n", false, "1:"},
    };
    check_known(*state, ".graph", known, LENGTH(known));
    check_known(*state, ".metis.gz", known, LENGTH(known));
}

TEST(bad_metis_files_are_refused)
{
    static const struct refused refused[] = {
        {BYTES("% x\n"), ": the file has no header"},
        {BYTES("x 1\n"), ":1: 'x' is not a number of nodes: a whole number from 1 to 2147483647"},
        {BYTES("2\n"), ":1: the number of edges is missing"},
        {BYTES("2 -1\n"), ":1: '-1' is not a number of edges: a whole number from 0 to 1073741823"},
        {BYTES("2 1 2\n"), ":1: '2' is not a format: up to three digits, each 0 or 1"},
        {BYTES("2 1 1000\n"), ":1: '1000' is not a format: a whole number from 0 to 111"},
        {BYTES("2 1 10 0\n"), ":1: '0' is not a number of constraints: a whole number from 1 to 2147483647"},
        {BYTES("2 1 10 1 1\n"), ":1: unexpected '1' after the header"},
        {BYTES("2 1\n2\n"), ":2: the file ends after 1 of 2 nodes"},
        {BYTES("2 1\n2\n1\n1\n"), ":4: a line after those of the 2 nodes"},
        {BYTES("2 1\n2 2\n1\n"), ":3: more than the 1 edges of the header"},
        {BYTES("3 2\n2\n1\n\n"), ": the nodes have 2 neighbours, not two for each of 2 edges"},
        {BYTES("2 1\n3\n1\n"), ":2: '3' is not a neighbour: a whole number from 1 to 2"},
        {BYTES("2 1\n0\n1\n"), ":2: '0' is not a neighbour: a whole number from 1 to 2"},
        {BYTES("2 1\n-2\n1\n"), ":2: '-2' is not a neighbour: a whole number from 1 to 2"},
        {BYTES("2 1\n% x\n1\n2\n"), ":3: node 1 is its own neighbour: there are no loops"},
        {BYTES("2 1 1\n2\n1\n"), ":2: the weight of this edge is missing"},
        {BYTES("2 1 10\n\n1\n"), ":2: the size or weight is missing"},
        {BYTES("2 1\n2,\n1\n"), ":2: the neighbour is missing"},
        {BYTES("2 1\n\0\n1\n"), ":2: the line has a NUL byte: this is not a text file"},
    };
    check_refused(*state, ".graph", refused, LENGTH(refused));
}

/* The list alone does not show whether each edge is there in both directions; the batch does. */
TEST(both_ends_list_an_edge)
{
    const struct test_file *temp = *state;
    char family[96], error[GRAPH_SHOWN] = "", path[80];
    struct graph_config c = {.family = family, .nodes = 1, .graphs = 1};
    struct batch b;
    snprintf(path, sizeof path, "%s.graph", temp->path);
    snprintf(family, sizeof family, "file:%s", path);
    write_bytes(path, BYTES("3 1\n2\n\n2\n"));
    assert_false(batch_generate(&b, &c, error, sizeof error));
    assert_string_equal(error + strlen(path), ": an edge of node 1 is not listed by both its ends");
    write_bytes(path, BYTES("3 2\n2\n3 1\n2\n"));
    assert_true(batch_generate(&b, &c, error, sizeof error));
    assert_true(b.symmetric);
    assert_int_equal(b.entries, 4);
    batch_free(&b);
    unlink(path);
}

/* A hub's line may be longer than other lines, as long as its edges need it. */
TEST(long_lines)
{
    enum { NODES = 200000, MIB = 1 << 20 };
    static char text[10 * MIB];
    char path[80], error[GRAPH_SHOWN] = "", shown[GRAPH_SHOWN];
    struct edge_list list;
    int at = sprintf(text, "%d %d\n", NODES, NODES - 1);
    for (int i = 2; i <= NODES; i++)
        at += sprintf(text + at, "%d ", i);
    for (int i = 2; i <= NODES; i++)
        at += sprintf(text + at, "\n1");
    snprintf(path, sizeof path, "%s.graph", ((struct test_file *)*state)->path);
    write_bytes(path, text, (size_t)at);
    assert_true(graph_list_read(&list, path, false, error, sizeof error));
    assert_int_equal(list.edges, 2 * (NODES - 1));
    edge_list_free(&list);
    unlink(path);

    static const char *const endings[] = {"", ".mtx", ".graph"};
    static const char *const starts[] = {"1 2\n", MARKET "pattern general\n", "9 1\n"};
    for (size_t i = 0; i < LENGTH(endings); i++) {
        memset(text, '1', sizeof text);
        memcpy(text, starts[i], strlen(starts[i]));
        assert_string_equal(read_as(*state, endings[i], text, sizeof text, false, shown),
                            ":2: the line is longer than 1 MiB");
    }
}

/* Wherever a file is cut, it is refused, unless what is left is whole. */
TEST(cut_files_are_refused)
{
    static const struct {
        const char *ending, *text;
        size_t whole; /* bytes that are enough */
    } files[] = {
        {".mtx", MARKET "integer general\n3 3 2\n1 2 7\n3 1 7\n", sizeof MARKET - 1 + 33},
        {".graph", "3 2 1\n2 7\n1 7 3 7\n2 7\n", 21},
    };
    char shown[GRAPH_SHOWN];
    for (size_t i = 0; i < LENGTH(files); i++)
        for (size_t cut = 0; cut <= strlen(files[i].text); cut++)
            assert_int_equal(*read_as(*state, files[i].ending, files[i].text, cut, false, shown) != ':',
                             cut >= files[i].whole);
}

enum { ARRAY_MOST = 512, ARCHIVE_MOST = 4096 };

/* An array of 32-bit integers as numpy.save writes it. */
static size_t put_array(char *to, const char *shape, bool by_columns, const int32_t *value, size_t count)
{
    int length = sprintf(to + 10, "{'descr': '<i4', 'fortran_order': %s, 'shape': %s, }\n",
                         by_columns ? "True" : "False", shape);
    memcpy(to, "\x93NUMPY\1\0", 8);
    to[8] = (char)length;
    to[9] = 0;
    memcpy(to + 10 + length, value, count * sizeof *value);
    return 10 + (size_t)length + count * sizeof *value;
}

static void put_number(char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (char)(value >> 8 * i);
}

/* Appends a file to an archive: stored with its sizes in the header, or deflated with sizes of 64 bits. */
static size_t put_file(char *archive, size_t at, const char *name, const void *bytes, size_t size,
                       bool deflated)
{
    char *head = archive + at, *extra = head + 30 + strlen(name), *data = extra + (deflated ? 20 : 0);
    size_t packed = size;
    if (deflated) {
        z_stream z = {.next_in = (void *)(uintptr_t)bytes,
                      .avail_in = (unsigned)size,
                      .next_out = (void *)data,
                      .avail_out = ARRAY_MOST};
        assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        packed = z.total_out;
        deflateEnd(&z);
        put_number(extra, 1 | 16 << 16, 4);
        put_number(extra + 4, size, 8);
        put_number(extra + 12, packed, 8);
    } else
        memcpy(data, bytes, size);
    memset(head, 0, 30);
    memcpy(head, "PK\3\4", 4);
    put_number(head + 8, deflated ? 8 : 0, 2);
    put_number(head + 14, crc32(0, bytes, (unsigned)size), 4);
    put_number(head + 18, deflated ? UINT32_MAX : packed, 4);
    put_number(head + 26, strlen(name), 2);
    put_number(head + 28, (uint64_t)(data - extra), 2);
    memcpy(head + 30, name, strlen(name));
    return (size_t)(data - archive) + packed;
}

static const int32_t edge_index[] = {0, 1, 3, 1, 2, 0}, pairs[] = {0, 1, 1, 2, 3, 0};

TEST(arrays_are_edges)
{
    char array[ARRAY_MOST], archive[ARCHIVE_MOST], shown[GRAPH_SHOWN] = "";
    for (int i = 0; i < 4; i++) {
        size_t size = put_array(array, "(2, 3)", i / 2, i / 2 ? pairs : edge_index, 6);
        assert_string_equal(read_as(*state, ".npy", array, size, false, shown), "4: 0>1 1>2 3>0");
        assert_string_equal(read_as(*state, ".gz", array, size, true, shown), "4: 0>1 1>0 1>2 2>1 3>0 0>3");
        size_t end = put_file(archive, 0, "x.npy", shown, 100, i % 2);
        end = put_file(archive, end, "edge_index.npy", array, size, i % 2);
        assert_string_equal(read_as(*state, "", archive, end, false, shown), "4: 0>1 1>2 3>0");
        end = put_file(archive, end, "num_nodes_list.npy", array, size, i % 2);
        assert_string_equal(read_as(*state, "", archive, end, false, shown),
                            ": has several graphs (num_nodes_list), each with nodes from 0: write one");
    }
}

TEST(sparse_matrices_are_graphs)
{
    static const char contradict[] = ": its shape, indptr and indices contradict each other";
    static const struct {
        int32_t indptr[4], shape[2];
        const char *kind, *shown;
    } known[] = {
        {{0, 1, 3, 3}, {3, 3}, "csr", "3: 0>1 1>0 1>2"},
        {{0, 0, 0, 3}, {3, 3}, "csr", "3: 2>1 2>0 2>2"},
        {{0, 1, 2, 3},
         {3, 3},
         "csc",
         ": has no edge_index, and no csr matrix, as numpy.savez and scipy.sparse.save_npz write them"},
        {{0, 1, 2, 3},
         {3, 4},
         "csr",
         ": the matrix is not square: its rows and columns are the nodes of a graph"},
        {{0, 1, 2, 3}, {2, 2}, "csr", contradict},
        {{0, 1, 2, 3}, {4, 4}, "csr", contradict},
        {{0, 2, 1, 3}, {3, 3}, "csr", contradict},
        {{1, 2, 2, 3}, {3, 3}, "csr", contradict},
        {{0, 9, 2, 3}, {3, 3}, "csr", contradict},
        {{0, 1, 2, 2}, {3, 3}, "csr", contradict},
        {{0, 1, 2, 4}, {3, 3}, "csr", contradict},
    };
    char array[ARRAY_MOST], archive[ARCHIVE_MOST], shown[GRAPH_SHOWN] = "";
    for (size_t i = 0; i < 2 * LENGTH(known); i++) {
        size_t size = put_array(array, "(3,)", false, (int32_t[]){1, 0, 2}, 3),
               end = put_file(archive, 0, "indices.npy", array, size, i % 2);
        size = put_array(array, "(4,)", false, known[i / 2].indptr, 4);
        end = put_file(archive, end, "indptr.npy", array, size, i % 2);
        memcpy(array, "\x93NUMPY\1\0\1\0\n", 11);
        memcpy(array + 11, known[i / 2].kind, 3);
        end = put_file(archive, end, "format.npy", array, 14, i % 2);
        size = put_array(array, "(2,)", false, known[i / 2].shape, 2);
        end = put_file(archive, end, "shape.npy", array, size, i % 2);
        assert_string_equal(read_as(*state, "", archive, end, false, shown), known[i / 2].shown);
    }
}

/* In an archive all bytes count but those of times and versions, and what is behind the arrays. */
TEST(bad_arrays_are_refused)
{
    static const int32_t negative[] = {0, 1, 3, 1, -2, 0}, large[] = {0, 1, 3, 1, 2, INT32_MAX};
    static const struct {
        const char *shape;
        size_t count;
        const int32_t *value;
        const char *shown;
    } bad[] = {
        {"(6,)", 6, edge_index, ": is 6 x 1, where edges are 2 x E"},
        {"(2, 3)", 5, edge_index, ": the file ends after 5 of 6 elements"},
        {"(2, 2)", 6, edge_index, ": has bytes after its elements"},
        {"(2, 3)", 6, negative,
         ": edge_index.npy has -2 to 3 (i4), where whole numbers from 0 to 2147483646 are"},
        {"(2, 3)", 6, large,
         ": edge_index.npy has 0 to 2147483647 (i4), where whole numbers from 0 to 2147483646 are"},
        {"(2, 999999999)", 6, edge_index, ": the file ends after 6 of 1999999998 elements"},
        {"(2, 1, 3)", 6, edge_index,
         ": its shape is not that of one or two dimensions below 10^9, with an element"},
    };
    char array[ARRAY_MOST], archive[ARCHIVE_MOST], shown[GRAPH_SHOWN] = "";
    for (size_t i = 0; i < LENGTH(bad); i++) {
        size_t size = put_array(array, bad[i].shape, false, bad[i].value, bad[i].count);
        assert_string_equal(read_as(*state, ".npy", array, size, false, shown), bad[i].shown);
    }
    for (int deflated = 0; deflated < 2; deflated++) {
        size_t size = put_array(array, "(2, 3)", false, edge_index, 6),
               end = put_file(archive, 0, "edge_index.npy", array, size, deflated);
        for (size_t cut = 0; cut < end; cut++)
            assert_int_equal(*read_as(*state, ".npz", archive, cut, false, shown), ':');
        for (size_t i = end - 20; i < end; i++) {
            archive[i] ^= 1;
            assert_int_equal(*read_as(*state, ".npz", archive, end, false, shown), ':');
            archive[i] ^= 1;
        }
        archive[6] = 8; /* sizes follow the data */
        assert_int_equal(*read_as(*state, ".npz", archive, end, false, shown), ':');
    }
}

GROUP("graph formats", test_file_open, test_file_close)
