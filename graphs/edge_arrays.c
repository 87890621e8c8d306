#include "graphs/edge_arrays.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/csr.h"
#include "graphs/table.h"

struct reader {
    struct text_lines lines;
    struct collector to;
};

/* Opens the file, and of an archive this file. False, without an error if there is none. */
static bool open_array(struct reader *r, const char *name)
{
    lines_close(&r->lines);
    r->lines = source_lines(r->to.source, r->to.source->path);
    return lines_open(&r->lines) && lines_open_array(&r->lines, name);
}

static bool fail_missing(struct reader *r)
{
    return !r->lines.failed &&
           collect_fail(&r->to, "has no edge_index, and no csr matrix, as numpy.savez and "
                                "scipy.sparse.save_npz write them");
}

static bool scan(struct reader *r, const char *name, struct number_table *t)
{
    t->taken = 0;
    if (!open_array(r, name))
        return fail_missing(r);
    return table_read_npy(t, &r->lines) &&
           ((strchr("iu", *t->type) && t->least >= 0 && t->most < CSR_MAX_NODES) ||
            collect_fail(&r->to, "%s has %.10g to %.10g (%s), where whole numbers from 0 to %" PRId64 " are",
                         name, t->least, t->most, t->type, CSR_MAX_NODES - 1));
}

/* Reads whole numbers: first how many there are, and which, so that only these need memory. */
static bool read_array(struct reader *r, const char *name, struct number_table *t)
{
    *t = (struct number_table){.least = INFINITY, .most = -INFINITY};
    if (!scan(r, name, t))
        return false;
    t->room = t->taken;
    r->to.held += r->lines.size + t->room * (int64_t)sizeof *t->whole;
    if (!collect_can_alloc(&r->to, 0))
        return false;
    t->whole = reallocarray(NULL, (size_t)t->room, sizeof *t->whole);
    if (!t->whole)
        return collect_fail(&r->to, "no memory for %" PRId64 " numbers", t->room);
    return scan(r, name, t) && (t->taken == t->room || collect_fail(&r->to, "has changed while it was read"));
}

static bool read_pairs(struct reader *r)
{
    struct number_table a;
    bool done = read_array(r, "edge_index.npy", &a) &&
                (a.rows == 2 ||
                 collect_fail(&r->to, "is %" PRId64 " x %" PRId64 ", where edges are 2 x E", a.rows, a.cols));
    for (int64_t e = 0; done && e < a.cols; e++)
        done = collect_edge(&r->to, a.whole[e], a.whole[a.cols + e]);
    free(a.whole);
    return done && collect_graph(&r->to, (int64_t)a.most + 1);
}

static bool is_csr(struct reader *r)
{
    char bytes[256]; /* an array of three letters */
    int64_t size = open_array(r, "format.npy") ? lines_bytes(&r->lines, bytes, sizeof bytes) : 0;
    return (size > 3 && memcmp(bytes + size - 3, "csr", 3) == 0) || fail_missing(r);
}

static bool check_matrix(struct reader *r, const struct number_table *shape, const struct number_table *start,
                         const struct number_table *col)
{
    int64_t rows = shape->whole[0];
    if (shape->taken != 2 || shape->whole[1] != rows)
        return collect_fail(&r->to,
                            "the matrix is not square: its rows and columns are the nodes of a graph");
    bool good = start->taken == rows + 1 && start->whole[0] == 0 && start->whole[rows] == col->taken &&
                col->most < (double)rows;
    for (int64_t i = 0; good && i < rows; i++)
        good = start->whole[i] <= start->whole[i + 1];
    return good || collect_fail(&r->to, "its shape, indptr and indices contradict each other");
}

static bool read_matrix(struct reader *r)
{
    struct number_table shape = {0}, start = {0}, col = {0};
    bool done = is_csr(r) && read_array(r, "shape.npy", &shape) && read_array(r, "indptr.npy", &start) &&
                read_array(r, "indices.npy", &col) && check_matrix(r, &shape, &start, &col);
    for (int64_t i = 0; done && i + 1 < start.taken; i++)
        for (int64_t e = start.whole[i]; done && e < start.whole[i + 1]; e++)
            done = collect_edge(&r->to, i, col.whole[e]);
    done = done && collect_graph(&r->to, start.taken - 1);
    free(shape.whole);
    free(start.whole);
    free(col.whole);
    return done;
}

bool edge_arrays_read(struct edge_list *list, const struct graph_source *s)
{
    struct reader r = {.lines = {.path = NULL}};
    collect_begin(&r.to, list, s, s->undirected);
    bool several = open_array(&r, "num_nodes_list.npy") && r.lines.entry;
    bool done =
        several
            ? collect_fail(&r.to, "has several graphs (num_nodes_list), each with nodes from 0: write one")
        : open_array(&r, "edge_index.npy") ? read_pairs(&r)
                                           : !r.lines.failed && read_matrix(&r);
    lines_close(&r.lines);
    return collect_end(&r.to, done);
}
