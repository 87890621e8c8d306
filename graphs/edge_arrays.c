/* Both ends of an edge are read side by side, each through a stream of its own, so that no array is kept. */
#include "graphs/edge_arrays.h"

#include <inttypes.h>
#include <string.h>

#include "graphs/csr.h"
#include "graphs/npy.h"
#include "kernels/arithmetic.h"

enum { BLOCK = 1 << 13 };

#define NO_EDGES "has no edge_index, and no sparse matrix of scipy: shape, indptr and indices"

/* The whole numbers of an array, one at a time. */
struct numbers {
    struct text_lines lines;
    struct npy array;
    int64_t left, step; /* elements that are left; elements from one that is taken to the next */
    int64_t at, end;    /* of the block, in bytes */
    unsigned char block[BLOCK];
};

struct reader {
    struct collector to;
    struct numbers first, second;
    bool matrix; /* the first has where the rows of a matrix begin */
    int64_t edges, nodes;
    int64_t row, row_end; /* of the last edge, and where its row ends */
};

static bool at_array(struct numbers *n, const struct graph_source *s, const char *name)
{
    lines_close(&n->lines);
    n->lines = source_lines(s, s->path);
    return lines_open(&n->lines) && (!name || lines_open_array(&n->lines, name));
}

/* Opens an array of the archive, or the file. False, without an error if there is no such array. */
static bool open_numbers(struct numbers *n, const struct graph_source *s, const char *name)
{
    if (!at_array(n, s, name) || !npy_open(&n->lines, &n->array))
        return false;
    n->left = n->array.rows * n->array.cols;
    n->step = 1;
    n->at = n->end = 0;
    return strchr("iu", *n->array.element->name) ||
           lines_fail(&n->lines, "%s has no whole numbers", name ? name : "the array");
}

/* Opens the first of these arrays that there is. */
static bool open_any(struct numbers *n, const struct graph_source *s, const char *const names[2])
{
    return open_numbers(n, s, names[0]) || (!n->lines.failed && open_numbers(n, s, names[1]));
}

/* The next element; null with an error. */
static const unsigned char *take(struct numbers *n)
{
    int64_t size = n->array.element->size;
    if (n->left == 0) {
        lines_fail(&n->lines, "its arrays differ in length");
        return NULL;
    }
    if (n->at == n->end) {
        int64_t wanted = min_of(n->left * size, BLOCK);
        n->at = 0;
        n->end = lines_bytes(&n->lines, n->block, wanted);
        if (n->end < wanted) {
            if (!n->lines.failed)
                lines_fail(&n->lines, "an array ends %" PRId64 " bytes early", n->left * size - n->end);
            return NULL;
        }
    }
    n->left--;
    n->at += size;
    return n->block + n->at - size;
}

static bool skip(struct numbers *n, int64_t count)
{
    while (count > 0 && take(n))
        count--;
    return count == 0;
}

/* Takes the next number, from 0 to `most`. */
static bool next(struct numbers *n, int64_t most, int64_t *value)
{
    const unsigned char *bytes = take(n);
    double x = bytes ? n->array.element->value(bytes) : 0;
    if (bytes && !(x >= 0 && x <= (double)most))
        return lines_fail(&n->lines, "%.17g in an array, where numbers from 0 to %" PRId64 " are", x, most);
    *value = (int64_t)x;
    return bytes && skip(n, min_of(n->step - 1, n->left));
}

/* Both streams are of the same array; the second begins with the node to which the first edge goes. */
static bool pair_up(struct reader *r)
{
    const struct npy *a = &r->first.array;
    bool across = a->rows == 2;
    if (!across && a->cols != 2)
        return collect_fail(&r->to, "an array of %" PRId64 " x %" PRId64 "; edges are 2 x E or E x 2",
                            a->rows, a->cols);
    r->edges = across ? a->cols : a->rows;
    bool apart = across != a->by_columns; /* first all nodes from, then all nodes to */
    r->first.step = r->second.step = apart ? 1 : 2;
    return skip(&r->second, apart ? r->edges : 1);
}

/* The number of nodes, if the archive has it, as that of a matrix must. The second stream is free yet. */
static bool read_nodes(struct reader *r, const struct graph_source *s, bool matrix)
{
    static const char *const names[2][2] = {{"num_nodes", "num_nodes_list"}, {"shape", "adj_shape"}};
    struct numbers *n = &r->second;
    int64_t columns;
    if (!open_any(n, s, names[matrix]))
        return !n->lines.failed && (!matrix || lines_fail(&n->lines, NO_EDGES));
    if (n->left != 1 + matrix)
        return lines_fail(&n->lines, matrix ? "its matrix has not two dimensions"
                                            : "has several graphs: write them as text, or each into a file");
    if (!next(n, CSR_MAX_NODES, &r->nodes) || (matrix && !next(n, CSR_MAX_NODES, &columns)))
        return false;
    return (r->nodes > 0 && (!matrix || columns == r->nodes)) ||
           lines_fail(&n->lines, "the matrix is not square: its rows and columns are the nodes of a graph");
}

/* A matrix by rows, unless scipy says that it is another. */
static bool open_matrix(struct reader *r, const struct graph_source *s)
{
    static const char *const arrays[2][2] = {{"indptr", "adj_indptr"}, {"indices", "adj_indices"}};
    char word[8] = "csr";
    if (at_array(&r->second, s, "format") ? !npy_read_word(&r->second.lines, word) : r->second.lines.failed)
        return false;
    if (strcmp(word, "csr") != 0)
        return collect_fail(&r->to, "a sparse matrix that is not csr: convert it by tocsr()");
    if (!read_nodes(r, s, true))
        return false;
    if (!open_any(&r->first, s, arrays[0]) || !open_any(&r->second, s, arrays[1]))
        return !r->first.lines.failed && !r->second.lines.failed && collect_fail(&r->to, NO_EDGES);
    r->matrix = true;
    r->edges = r->second.left;
    return r->first.left == r->nodes + 1 ||
           collect_fail(&r->to, "indptr has %" PRId64 " elements for %" PRId64 " rows", r->first.left,
                        r->nodes);
}

static bool open_arrays(struct reader *r, const struct graph_source *s)
{
    if (!at_array(&r->first, s, NULL))
        return false;
    bool archive = r->first.lines.container->npz;
    const char *name = archive ? "edge_index" : NULL;
    if (open_numbers(&r->first, s, name))
        return (!archive || read_nodes(r, s, false)) && open_numbers(&r->second, s, name) && pair_up(r);
    return !r->first.lines.failed && open_matrix(r, s);
}

/* The row of entry e of a matrix. */
static bool find_row(struct reader *r, int64_t e, int64_t *row)
{
    for (int64_t before = r->row_end; r->row_end <= e; before = r->row_end, r->row++)
        if (!next(&r->first, r->edges, &r->row_end))
            return false;
        else if (r->row_end < before || (r->row == 0 && r->row_end > 0))
            return collect_fail(&r->to, "indptr does not ascend from 0");
    *row = r->row - 2; /* the first element is where row 0 begins */
    return true;
}

/* Whether nothing follows the elements, if all were read. */
static bool at_end(struct numbers *n)
{
    return n->left > 0 || lines_bytes(&n->lines, n->block, 1) == 0 ||
           (!n->lines.failed && lines_fail(&n->lines, "an array has bytes after its elements"));
}

static bool read_edges(struct reader *r)
{
    int64_t most = (r->nodes > 0 ? r->nodes : CSR_MAX_NODES) - 1, from, to, largest = 0, end = r->edges;
    for (int64_t e = 0; e < r->edges; e++) {
        if (!(r->matrix ? find_row(r, e, &from) : next(&r->first, most, &from)) ||
            !next(&r->second, most, &to) || !collect_edge(&r->to, from, to))
            return false;
        largest = max_of(largest, max_of(from, to));
    }
    while (r->matrix && r->first.left > 0 && end == r->edges)
        if (!next(&r->first, r->edges, &end))
            return false;
    if (end != r->edges)
        return collect_fail(&r->to, "indptr does not ascend from 0");
    return at_end(&r->first) && at_end(&r->second) &&
           collect_graph(&r->to, r->nodes > 0 ? r->nodes : largest + 1);
}

bool edge_arrays_read(struct edge_list *list, const struct graph_source *s)
{
    struct reader r = {.nodes = 0};
    collect_begin(&r.to, list, s, s->undirected);
    bool done = open_arrays(&r, s);
    r.to.held = (int64_t)sizeof r + r.first.lines.size + r.second.lines.size;
    done = done && read_edges(&r);
    lines_close(&r.first.lines);
    lines_close(&r.second.lines);
    return collect_end(&r.to, done);
}
