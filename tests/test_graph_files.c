/* Batches from files: one graph and several, their shapes, large ones. */
#include <omp.h>
#include <unistd.h>

#include <zlib.h>

#include "tests/files.h"
#include "tests/graphs.h"
#include "tests/test.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { ERROR_SIZE = 400 };

static struct batch read_batch(const struct test_file *temp, const char *kind)
{
    char family[96];
    snprintf(family, sizeof family, "%s:%s", kind, temp->path);
    return graph_generated(family, 0, -1, 1, 0);
}

TEST(batches_come_from_files)
{
    struct test_file *temp = *state;
    write_bytes(temp->path, BYTES("9 7\n7 5\n5 7\n5 5\n9 7\n"));
    struct batch b = read_batch(temp, "file");
    int64_t in_ptr[] = {0, 2, 5, 5}, out_ptr[] = {0, 2, 3, 5};
    int32_t in_col[] = {0, 1, 0, 2, 2}, out_col[] = {0, 1, 0, 1, 1};
    assert_false(b.symmetric);
    assert_int_equal(b.graphs, 1);
    assert_int_equal(b.offset[1], 3);
    assert_int_equal(b.pairs, 9);
    assert_false(b.clamped);
    assert_int_equal(b.adj.edges, 5);
    assert_int_equal(b.out.edges, 5);
    assert_int_equal(b.out.nodes, 3);
    assert_memory_equal(b.adj.row_ptr, in_ptr, sizeof in_ptr);
    assert_memory_equal(b.adj.col, in_col, sizeof in_col);
    assert_memory_equal(b.out.row_ptr, out_ptr, sizeof out_ptr);
    assert_memory_equal(b.out.col, out_col, sizeof out_col);
    batch_free(&b);
    assert_null(b.out.row_ptr);
    batch_free(&b);

    b = read_batch(temp, "undirected");
    assert_true(b.symmetric);
    assert_ptr_equal(b.out.col, b.adj.col);
    assert_int_equal(b.adj.edges, 9);
    assert_undirected(&b.adj);
    batch_free(&b);

    write_bytes(temp->path, BYTES("9 7\n7 9\n5 5\n9 7\n7 9\n"));
    b = read_batch(temp, "file");
    assert_true(b.symmetric);
    assert_ptr_equal(b.out.row_ptr, b.adj.row_ptr);
    assert_int_equal(b.adj.edges, 5);
    batch_free(&b);
}

/* Loops, parallel edges, isolated nodes, a graph of one node and one without edges. */
TEST(files_hold_batches)
{
    struct test_file *temp = *state;
    static const char text[] = "graph 4\n3 0\n3 0\n0 3\n2 2\n"
                               "graph 1\n0 0\n"
                               "graph 3\n"
                               "graph 2\n1 0\n1 0\n1 0\n"
                               "graph 5\n0 4\n4 0\n4 4\n2 1\n";
    int64_t offset[] = {0, 4, 5, 8, 10, 15};
    int64_t in_ptr[] = {0, 2, 2, 3, 4, 5, 5, 5, 5, 8, 8, 9, 10, 10, 10, 12};
    int64_t out_ptr[] = {0, 1, 1, 2, 4, 5, 5, 5, 5, 5, 8, 9, 9, 10, 10, 12};
    int32_t in_col[] = {3, 3, 2, 0, 4, 9, 9, 9, 14, 12, 10, 14};
    int32_t out_col[] = {3, 2, 0, 0, 4, 8, 8, 8, 14, 11, 10, 14};
    for (int packed = 0; packed < 2; packed++) {
        (packed ? write_gzip : write_bytes)(temp->path, text, sizeof text - 1);
        struct batch b = read_batch(temp, "file");
        assert_false(b.symmetric);
        assert_int_equal(b.graphs, 5);
        assert_memory_equal(b.offset, offset, sizeof offset);
        assert_int_equal(b.pairs, 16 + 1 + 9 + 4 + 25);
        assert_int_equal(b.adj.nodes, 15);
        assert_int_equal(b.adj.edges, LENGTH(in_col));
        assert_memory_equal(b.adj.row_ptr, in_ptr, sizeof in_ptr);
        assert_memory_equal(b.adj.col, in_col, sizeof in_col);
        assert_memory_equal(b.out.row_ptr, out_ptr, sizeof out_ptr);
        assert_memory_equal(b.out.col, out_col, sizeof out_col);
        batch_free(&b);

        b = read_batch(temp, "undirected");
        assert_true(b.symmetric);
        assert_ptr_equal(b.out.col, b.adj.col);
        assert_memory_equal(b.offset, offset, sizeof offset);
        assert_int_equal(b.adj.edges, 2 * LENGTH(in_col) - 3);
        assert_undirected(&b.adj);
        batch_free(&b);
    }
    write_bytes(temp->path, BYTES("graph 2\ngraph 1\n"));
    struct batch b = read_batch(temp, "file");
    assert_true(b.symmetric);
    assert_int_equal(b.graphs, 2);
    assert_int_equal(b.adj.nodes, 3);
    assert_int_equal(b.adj.edges, 0);
    assert_int_equal(b.adj.row_ptr[3], 0);
    batch_free(&b);
}

/*
 * A generated batch of more graphs than the initial capacity for offsets. Reading it takes more memory than
 * building the rows, and so determines its scratch.
 */
TEST(a_written_batch_comes_back)
{
    struct test_file *temp = *state;
    struct batch b = graph_generated("er", 12, 3, 5000, 42);
    FILE *file = fopen(temp->path, "wb");
    assert_non_null(file);
    for (int64_t g = 0; g < b.graphs; g++) {
        int64_t first = b.offset[g];
        fprintf(file, "graph %d\n", (int)(b.offset[g + 1] - first));
        for (int64_t i = first; i < b.offset[g + 1]; i++)
            for (int64_t e = b.adj.row_ptr[i]; e < b.adj.row_ptr[i + 1] && b.adj.col[e] < i; e++)
                fprintf(file, "%d %d\n", (int)(b.adj.col[e] - first), (int)(i - first));
    }
    assert_int_equal(fclose(file), 0);
    struct batch read = read_batch(temp, "undirected");
    assert_true(read.symmetric);
    assert_int_equal(graph_checksum(&read), graph_checksum(&b));
    assert_int_equal(read.pairs, b.pairs);

    struct edge_list list;
    char error[ERROR_SIZE] = "";
    int64_t offsets = (b.graphs + 1) * (int64_t)sizeof *list.offset;
    assert_true(graph_list_read(&list, temp->path, true, error, sizeof error));
    assert_true(list.peak >= list.edges * (int64_t)sizeof *list.edge + offsets);
    assert_int_equal(batch_scratch(&read), list.peak - offsets - csr_bytes(&b.adj));
    edge_list_free(&list);
    batch_free(&read);
    batch_free(&b);
}

TEST(shapes_of_files_have_no_arrays)
{
    struct test_file *temp = *state;
    char family[96], error[ERROR_SIZE] = "";
    snprintf(family, sizeof family, "file:%s", temp->path);
    struct graph_config c = {.family = family, .nodes = 500, .degree = 5, .graphs = 1, .seed = 42};
    const char *text[] = {"9 7\n7 5\n", "9 7\n7 9\n", "graph 3\n2 0\ngraph 2\n"};
    for (int i = 0; i < 3; i++) {
        write_bytes(temp->path, text[i], strlen(text[i]));
        struct batch shape, whole = read_batch(temp, "file");
        assert_true(batch_shape(&shape, &c, error, sizeof error));
        assert_null(shape.adj.row_ptr);
        assert_null(shape.adj.col);
        assert_null(shape.out.row_ptr);
        assert_null(shape.out.col);
        assert_int_equal(shape.symmetric, i == 1);
        assert_int_equal(shape.symmetric, whole.symmetric);
        assert_int_equal(shape.adj.nodes, whole.adj.nodes);
        assert_int_equal(shape.adj.edges, whole.adj.edges);
        assert_int_equal(shape.out.nodes, whole.adj.nodes);
        assert_int_equal(shape.out.edges, whole.adj.edges);
        assert_int_equal(shape.graphs, whole.graphs);
        assert_memory_equal(shape.offset, whole.offset, (size_t)(whole.graphs + 1) * sizeof *whole.offset);
        assert_int_equal(shape.pairs, whole.pairs);
        assert_int_equal(batch_scratch(&shape), batch_scratch(&whole));
        batch_free(&shape);
        batch_free(&whole);
    }
    c.graphs = 2;
    struct batch b;
    assert_false(batch_shape(&b, &c, error, sizeof error));
    assert_string_equal(error, "graphs is 2, must be 1 for a file, which has its own");
    unlink(temp->path);
    c.graphs = 1;
    assert_false(batch_shape(&b, &c, error, sizeof error));
    assert_non_null(strstr(error, "/edges: No such file or directory"));
    assert_null(b.offset);
}

/*
 * A graph without isolated nodes, with ids spread over 64 bits in the same order, is written and read again.
 */
TEST(a_million_edges_come_back)
{
    struct test_file *temp = *state;
    struct batch b = graph_generated("ba", getenv("GTMARK_SMALL") ? 20000 : 200000, 10, 1, 42);
    gzFile file = gzopen(temp->path, "wb1");
    assert_non_null(file);
    for (int64_t i = 0; i < b.adj.nodes; i++)
        for (int64_t e = b.adj.row_ptr[i]; e < b.adj.row_ptr[i + 1] && b.adj.col[e] <= i; e++) {
            uint64_t id[] = {(uint64_t)i * UINT64_C(92233720368547),
                             (uint64_t)b.adj.col[e] * UINT64_C(92233720368547)};
            gzprintf(file, "%llu\t%llu\n", (unsigned long long)id[e % 2], (unsigned long long)id[1 - e % 2]);
        }
    assert_int_equal(gzclose(file), Z_OK);
    for (int threads = 1; threads <= 3; threads++) {
        omp_set_num_threads(threads);
        struct batch read = read_batch(temp, "undirected");
        assert_true(csr_equal(&read.adj, &b.adj));
        batch_free(&read);
    }
    struct batch directed = read_batch(temp, "file");
    assert_false(directed.symmetric);
    assert_int_equal(directed.adj.edges, b.adj.edges / 2);
    batch_free(&directed);
    batch_free(&b);
}

GROUP("graphs from files", test_file_open, test_file_close)
