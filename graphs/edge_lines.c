/*
 * Ids are numbered in the order in which they are found, so that an edge takes one word from the beginning;
 * at the end these numbers become ranks. In a batch ids are already node numbers, counted from the first node
 * of their graph. The id of a name is a hash of 64 bits: that two of n names have the same has a probability
 * of n^2 / 2^65, 3e-6 for ten million.
 */
#include "graphs/edge_lines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "graphs/csr.h"
#include "graphs/edge_line.h"
#include "graphs/numbering.h"
#include "kernels/arithmetic.h"

enum { PENDING = 512 };

struct reader {
    struct text_lines lines;
    struct collector to;
    uint64_t pending[PENDING]; /* ids of the last edges, two each, not yet in the list */
    int pending_ids;
    struct numbering numbers;
    int columns; /* of the last edge; 0: there is none yet */
};

/* Moves the pending edges to the list. */
static bool flush(struct reader *r)
{
    int64_t number[PENDING];
    if (!numbering_of(&r->numbers, r->pending, number, r->pending_ids))
        return collect_fail(&r->to, "no memory for the nodes, or more than %" PRId64, CSR_MAX_NODES);
    r->to.held = r->lines.size + numbering_bytes(&r->numbers);
    for (int i = 0; i < r->pending_ids; i += 2)
        if (!collect_edge(&r->to, number[i], number[i + 1]))
            return false;
    r->pending_ids = 0;
    return collect_can_alloc(&r->to, 0);
}

static bool take_graph(struct reader *r, int64_t nodes)
{
    const struct edge_list *l = r->to.list;
    if (l->graphs == 0 && (l->edges > 0 || r->pending_ids > 0))
        return lines_refuse(&r->lines, "an edge comes before the first graph line");
    if (nodes > CSR_MAX_NODES - l->nodes)
        return lines_refuse(&r->lines, "this graph makes more than %" PRId64 " nodes", CSR_MAX_NODES);
    return collect_graph(&r->to, nodes);
}

/* An edge between nodes with arbitrary ids, which must be numbered. */
static bool take_pending(struct reader *r)
{
    r->pending_ids += 2;
    return r->pending_ids < PENDING || flush(r);
}

/* An edge of the current graph of a batch. */
static bool take_own(struct reader *r, const uint64_t id[2])
{
    const struct edge_list *l = r->to.list;
    int64_t first = l->offset[l->graphs - 1], last = l->nodes - first - 1;
    for (int i = 0; i < 2; i++)
        if (id[i] > (uint64_t)last)
            return lines_refuse(&r->lines, "node id %" PRIu64 " is above %" PRId64 ", the last of its graph",
                                id[i], last);
    return collect_edge(&r->to, first + (int64_t)id[0], first + (int64_t)id[1]);
}

static bool take_edge(struct reader *r, const uint64_t *id, int columns)
{
    struct edge_list *l = r->to.list;
    if (r->columns && columns != r->columns)
        l->notes.columns =
            "lines have 2 to 4 columns, of which two are read; write a list of neighbours as an edge "
            "a line";
    r->columns = columns;
    return l->graphs > 0 ? take_own(r, id) : take_pending(r);
}

/* Names of columns are skipped, if they are the first line. */
static bool take_words(struct reader *r, const char *reason)
{
    struct edge_list *l = r->to.list;
    if (r->columns || l->graphs || l->notes.header)
        return lines_refuse(&r->lines, "%s; --graph names:PATH reads names", reason);
    l->notes.header = "the first line has words, not node ids, and is skipped";
    return true;
}

static bool take_line(struct reader *r, const char *line, const char *end)
{
    struct words words = words_of(line, end);
    uint64_t *id = r->pending + r->pending_ids;
    int columns;
    switch (edge_line_scan(&words, r->to.source->names, id, &columns)) {
    case EDGE_LINE_BAD:
        return lines_refuse(&r->lines, "%s", words.reason);
    case EDGE_LINE_WORDS:
        return take_words(r, words.reason);
    case EDGE_LINE_COMMENT:
        return true;
    case EDGE_LINE_GRAPH:
        return take_graph(r, (int64_t)id[0]);
    case EDGE_LINE_EDGE:
        break;
    }
    return take_edge(r, id, columns);
}

static bool read_lines(struct reader *r)
{
    const char *line, *end;
    r->to.held = r->lines.size;
    while (lines_next(&r->lines, &line, &end))
        if (!take_line(r, line, end))
            return false;
    return !r->lines.failed && flush(r);
}

/* The first id above the least that no node has: ids up to the first gap are their ranks and a constant. */
static int64_t find_gap(const struct numbering *n, const int32_t *rank)
{
    uint64_t least = UINT64_MAX;
    int64_t nodes = n->count;
    for (int64_t i = 0; i < n->count; i++)
        least = n->id[i] < least ? n->id[i] : least;
    for (int64_t i = 0; i < n->count; i++)
        if (n->id[i] - least != (uint64_t)rank[i])
            nodes = min_of(nodes, rank[i]);
    return (int64_t)(least + (uint64_t)nodes);
}

/* Replaces numbers, which are in the order of appearance, by the ranks of the ids. */
static bool renumber(struct reader *r)
{
    struct edge_list *l = r->to.list;
    struct cancel cancel = r->lines.cancel;
    int64_t nodes = r->numbers.count;
    int32_t *rank = reallocarray(NULL, (size_t)nodes, sizeof *rank);
    bool done = rank && numbering_ranks(&r->numbers, rank, cancel);
    if (done) {
#pragma omp parallel for
        for (int64_t e = 0; e < l->edges; e++)
            l->edge[e] = csr_edge(rank[csr_edge_from(l->edge[e])], rank[csr_edge_to(l->edge[e])]);
        l->gap = find_gap(&r->numbers, rank);
    }
    free(rank);
    return done ||
           collect_fail(&r->to, "%s %" PRId64 " nodes",
                        is_cancelled(cancel) ? "stopped while numbering" : "no memory to number", nodes);
}

/* The single graph of a file without graph lines. */
static bool complete(struct reader *r)
{
    if (r->to.list->graphs > 0)
        return true;
    if (r->to.list->edges == 0)
        return collect_fail(&r->to, "the file has no edges%s",
                            r->to.list->notes.header ? ", but words; --graph names:PATH reads names" : "");
    return (r->to.source->names || renumber(r)) && collect_graph(&r->to, r->numbers.count);
}

bool edge_lines_read(struct edge_list *list, const struct graph_source *s)
{
    struct reader r = {.lines = source_lines(s, s->path)};
    collect_begin(&r.to, list, s, s->undirected);
    bool done = lines_open(&r.lines) && read_lines(&r) && complete(&r);
    numbering_free(&r.numbers);
    lines_close(&r.lines);
    return collect_end(&r.to, done);
}
