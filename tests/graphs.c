#include "tests/graphs.h"

#include "graphs/graph_file.h"
#include "kernels/rng.h"
#include "tests/test.h"

enum { ERROR_SIZE = 200 };

struct batch graph_generated(const char *family, int64_t nodes, double degree, int64_t graphs, uint64_t seed)
{
    struct graph_config c = {
        .family = family, .nodes = nodes, .degree = degree, .graphs = graphs, .seed = seed};
    struct batch b;
    char error[ERROR_SIZE] = "";
    if (!batch_generate(&b, &c, error, sizeof error))
        fail_msg("%s", error);
    return b;
}

bool graph_list_read(struct edge_list *list, const char *path, bool undirected, char *error,
                     size_t error_size)
{
    const struct graph_source source = {path, undirected, {0}, error, error_size, false};
    return graph_file_read(list, &source);
}

const char *graph_shown(const char *path, bool undirected, char shown[GRAPH_SHOWN])
{
    struct edge_list list;
    char error[GRAPH_SHOWN] = "";
    if (!graph_list_read(&list, path, undirected, error, sizeof error)) {
        assert_null(list.edge);
        assert_null(list.offset);
        assert_memory_equal(error, path, strlen(path));
        assert_null(strpbrk(error, "\n\r"));
        return strcpy(shown, error + strlen(path));
    }
    assert_int_equal(list.offset[0], 0);
    assert_int_equal(list.offset[list.graphs], list.nodes);
    assert_true(list.peak > 1 << 20); /* a block of the file, which the reader holds, is part of it */
    int length = 0;
    for (int64_t g = 0; g < list.graphs; g++)
        length += snprintf(shown + length, (size_t)(GRAPH_SHOWN - length), "%s%d", g ? "+" : "",
                           (int)(list.offset[g + 1] - list.offset[g]));
    length += snprintf(shown + length, (size_t)(GRAPH_SHOWN - length), ":");
    for (int64_t e = 0; e < list.edges && length < GRAPH_SHOWN; e++)
        length += snprintf(shown + length, (size_t)(GRAPH_SHOWN - length), " %d>%d",
                           (int)csr_edge_from(list.edge[e]), (int)csr_edge_to(list.edge[e]));
    edge_list_free(&list);
    assert_null(list.edge);
    assert_null(list.offset);
    edge_list_free(&list);
    return shown;
}

/* The first position in row i whose sender is at least `from`. */
static int64_t place_of(const struct csr *g, int64_t from, int64_t i)
{
    int64_t low = g->row_ptr[i], high = g->row_ptr[i + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (g->col[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t times_of(const struct csr *g, int64_t from, int64_t to)
{
    return place_of(g, from + 1, to) - place_of(g, from, to);
}

bool graph_has_edge(const struct csr *g, int64_t from, int64_t to)
{
    return times_of(g, from, to) > 0;
}

void assert_undirected(const struct csr *g)
{
    char error[ERROR_SIZE] = "";
    if (!csr_validate(g, error, sizeof error))
        fail_msg("%s", error);
    for (int64_t i = 0; i < g->nodes; i++)
        for (int64_t e = g->row_ptr[i]; e < g->row_ptr[i + 1]; e++)
            assert_int_equal(times_of(g, g->col[e], i), times_of(g, i, g->col[e]));
}

void assert_simple(const struct csr *g)
{
    assert_undirected(g);
    for (int64_t i = 0; i < g->nodes; i++)
        for (int64_t e = g->row_ptr[i]; e < g->row_ptr[i + 1]; e++) {
            assert_int_not_equal(g->col[e], i);
            if (e > g->row_ptr[i])
                assert_true(g->col[e - 1] < g->col[e]);
        }
}

uint64_t graph_checksum(const struct batch *b)
{
    uint64_t sum = 0;
    for (int64_t g = 0; g <= b->graphs; g++)
        sum = rng_mix(sum ^ (uint64_t)b->offset[g]) + 1;
    for (int64_t i = 0; i <= b->adj.nodes; i++)
        sum = rng_mix(sum ^ (uint64_t)b->adj.row_ptr[i]) + 1;
    for (int64_t e = 0; e < b->adj.edges; e++)
        sum = rng_mix(sum ^ (uint64_t)b->adj.col[e]) + 1;
    return sum;
}
