/*
 * The file is read in blocks through zlib, which passes uncompressed data unchanged, and lines are scanned by
 * hand in one pass. Ids are numbered in the order in which they are found, so that an edge takes one word
 * from the beginning; at the end these numbers become ranks. In a batch ids are already node numbers, counted
 * from the first node of their graph.
 */
#include "graphs/edge_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <zlib.h>

#include "graphs/csr.h"
#include "graphs/edge_line.h"
#include "graphs/numbering.h"

enum { BLOCK = 1 << 20, FIRST_EDGES = 1 << 12, FIRST_OFFSETS = 1 << 8, PENDING = 512 };

struct reader {
    const char *path;
    bool undirected;
    gzFile file;
    char *block;               /* BLOCK bytes: the lines being scanned */
    int64_t line;              /* from 1 */
    uint64_t pending[PENDING]; /* ids of the last edges, two each, not yet in the list */
    int pending_ids;
    struct numbering numbers;
    struct edge_list *list;
    int64_t room;         /* capacity of the list in edges */
    int64_t offsets_room; /* capacity of the offsets */
    struct graph_limits limits;
    char *error;
    size_t error_size;
};

__attribute__((format(printf, 2, 3))) static bool fail(struct reader *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = snprintf(r->error, r->error_size, "%.200s: ", r->path);
    if (length < (int)r->error_size)
        vsnprintf(r->error + length, r->error_size - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}

static bool fail_line(struct reader *r, const char *reason)
{
    snprintf(r->error, r->error_size, "%.200s:%" PRId64 ": %s", r->path, r->line, reason);
    return false;
}

static int64_t bytes_of(const struct reader *r)
{
    return r->room * (int64_t)sizeof *r->list->edge + r->offsets_room * (int64_t)sizeof *r->list->offset +
           numbering_bytes(&r->numbers) + BLOCK;
}

/* Whether `more` bytes may be taken beside those of this reader and of the rows of the nodes so far. */
static bool may_take(struct reader *r, int64_t more)
{
    int64_t needs = bytes_of(r) + (r->list->nodes + 1) * (int64_t)sizeof(int64_t) + more;
    if (r->limits.memory <= 0 || needs <= r->limits.memory)
        return true;
    r->list->peak = needs;
    return fail(r, "reading the graph needs at least %" PRId64 " MiB, more than the %" PRId64 " MiB allowed",
                needs >> 20, r->limits.memory >> 20);
}

static bool push(struct reader *r, int64_t from, int64_t to)
{
    struct edge_list *l = r->list;
    if (l->edges == CSR_MAX_EDGES)
        return fail(r, "the file has more than %" PRId64 " edges", CSR_MAX_EDGES);
    if (l->edges == r->room) {
        int64_t room = r->room ? 2 * r->room : FIRST_EDGES;
        if (!may_take(r, (room - r->room) * (int64_t)sizeof *l->edge))
            return false;
        uint64_t *edge = reallocarray(l->edge, (size_t)room, sizeof *edge);
        if (!edge)
            return fail(r, "no memory for %" PRId64 " edges", room);
        l->edge = edge;
        r->room = room;
    }
    l->edge[l->edges++] = csr_edge(from, to);
    return true;
}

static bool add_edge(struct reader *r, int64_t from, int64_t to)
{
    return push(r, from, to) && (!r->undirected || from == to || push(r, to, from));
}

/* Appends a graph. */
static bool add_graph(struct reader *r, int64_t nodes)
{
    struct edge_list *l = r->list;
    if (l->graphs + 2 > r->offsets_room) {
        int64_t room = r->offsets_room ? 2 * r->offsets_room : FIRST_OFFSETS;
        if (!may_take(r, (room - r->offsets_room) * (int64_t)sizeof *l->offset))
            return false;
        int64_t *offset = reallocarray(l->offset, (size_t)room, sizeof *offset);
        if (!offset)
            return fail(r, "no memory for %" PRId64 " graphs", room);
        l->offset = offset;
        r->offsets_room = room;
    }
    l->offset[l->graphs++] = l->nodes;
    l->nodes += nodes;
    l->offset[l->graphs] = l->nodes;
    return true;
}

/* Moves the pending edges to the list. */
static bool flush(struct reader *r)
{
    int64_t number[PENDING];
    if (!numbering_of(&r->numbers, r->pending, number, r->pending_ids))
        return fail(r, "no memory for the nodes, or more than %" PRId64, CSR_MAX_NODES);
    for (int i = 0; i < r->pending_ids; i += 2)
        if (!add_edge(r, number[i], number[i + 1]))
            return false;
    r->pending_ids = 0;
    return may_take(r, 0);
}

static bool take_graph(struct reader *r, int64_t nodes)
{
    const struct edge_list *l = r->list;
    if (l->graphs == 0 && (l->edges > 0 || r->pending_ids > 0))
        return fail_line(r, "an edge comes before the first graph line");
    if (nodes > CSR_MAX_NODES - l->nodes)
        return fail_line(r, "this graph makes more than 2147483647 nodes");
    return may_take(r, nodes * (int64_t)sizeof(int64_t)) && add_graph(r, nodes);
}

/* An edge between nodes with arbitrary ids, which must be numbered. */
static bool take_pending(struct reader *r)
{
    r->pending_ids += 2;
    return r->pending_ids < PENDING || flush(r);
}

static bool fail_stray(struct reader *r, uint64_t id, int64_t last)
{
    char reason[EDGE_LINE_REASON];
    snprintf(reason, sizeof reason, "node id %" PRIu64 " is above %" PRId64 ", the last of its graph", id,
             last);
    return fail_line(r, reason);
}

/* An edge of the current graph of a batch. */
static bool take_own(struct reader *r, const uint64_t id[2])
{
    int64_t first = r->list->offset[r->list->graphs - 1], last = r->list->nodes - first - 1;
    for (int i = 0; i < 2; i++)
        if (id[i] > (uint64_t)last)
            return fail_stray(r, id[i], last);
    return add_edge(r, first + (int64_t)id[0], first + (int64_t)id[1]);
}

static bool is_matrix_market(const char *line, const char *end)
{
    static const char word[] = "%%MatrixMarket";
    size_t length = sizeof word - 1;
    return (size_t)(end - line) >= length && strncasecmp(line, word, length) == 0;
}

static bool take_line(struct reader *r, const char *line, const char *end)
{
    r->line++;
    if (r->line == 1 && is_matrix_market(line, end))
        return fail_line(
            r, "a Matrix Market file, which cannot be read: write its entries as lines of two nodes");
    char reason[EDGE_LINE_REASON];
    uint64_t *id = r->pending + r->pending_ids;
    switch (edge_line_scan(line, end, id, reason)) {
    case EDGE_LINE_BAD:
        return fail_line(r, reason);
    case EDGE_LINE_COMMENT:
        return true;
    case EDGE_LINE_GRAPH:
        return take_graph(r, (int64_t)id[0]);
    case EDGE_LINE_EDGE:
        break;
    }
    return r->list->graphs > 0 ? take_own(r, id) : take_pending(r);
}

/* Reports zlib's error, if any, at the end of the data; zlib's message begins with the path. */
static bool check_end(struct reader *r)
{
    int code;
    const char *text = gzerror(r->file, &code);
    if (code == Z_OK || code == Z_STREAM_END)
        return true;
    snprintf(r->error, r->error_size, "%s", text);
    return false;
}

static bool read_lines(struct reader *r)
{
    int kept = 0, got;
    do {
        got = gzread(r->file, r->block + kept, (unsigned)(BLOCK - kept));
        if (got <= 0 && !check_end(r))
            return false;
        const char *line = r->block, *end = r->block + kept + (got > 0 ? got : 0), *newline;
        while ((newline = memchr(line, '\n', (size_t)(end - line)))) {
            if (!take_line(r, line, newline))
                return false;
            line = newline + 1;
        }
        kept = (int)(end - line);
        if (kept == BLOCK) {
            r->line++;
            return fail_line(r, "the line is longer than 1 MiB");
        }
        memmove(r->block, line, (size_t)kept);
        if (is_cancelled(r->limits.cancel))
            return fail(r, "stopped while reading");
    } while (got > 0);
    return (kept == 0 || take_line(r, r->block, r->block + kept)) && flush(r);
}

static bool open_file(struct reader *r)
{
    struct stat about;
    if (stat(r->path, &about) != 0)
        return fail(r, "%s", strerror(errno));
    if (!S_ISREG(about.st_mode))
        return fail(r, "%s", S_ISDIR(about.st_mode) ? "is a directory" : "is not a regular file");
    errno = ENOMEM; /* the meaning if zlib does not set errno */
    r->file = gzopen(r->path, "rb");
    if (!r->file)
        return fail(r, "%s", strerror(errno));
    gzbuffer(r->file, BLOCK / 4);
    r->block = malloc(BLOCK);
    return r->block || fail(r, "no memory");
}

/* Replaces numbers, which are in the order of appearance, by the ranks of the ids. */
static bool renumber(struct reader *r)
{
    struct edge_list *l = r->list;
    int64_t nodes = r->numbers.count;
    int32_t *rank = reallocarray(NULL, (size_t)nodes, sizeof *rank);
    bool done = rank && numbering_ranks(&r->numbers, rank, r->limits.cancel);
    if (done) {
#pragma omp parallel for
        for (int64_t e = 0; e < l->edges; e++)
            l->edge[e] = csr_edge(rank[csr_edge_from(l->edge[e])], rank[csr_edge_to(l->edge[e])]);
    }
    free(rank);
    return done ||
           fail(r, "%s %" PRId64 " nodes",
                is_cancelled(r->limits.cancel) ? "stopped while numbering" : "no memory to number", nodes);
}

/* The single graph of a file without graph lines. */
static bool complete(struct reader *r)
{
    if (r->list->graphs > 0)
        return true;
    if (r->list->edges == 0)
        return fail(r, "the file has no edges");
    return renumber(r) && add_graph(r, r->numbers.count);
}

bool edge_list_read(struct edge_list *list, const char *path, bool undirected, struct graph_limits limits,
                    char *error, size_t error_size)
{
    *list = (struct edge_list){0};
    struct reader r = {.path = path,
                       .undirected = undirected,
                       .limits = limits,
                       .list = list,
                       .error = error,
                       .error_size = error_size};
    bool done = open_file(&r) && read_lines(&r) && complete(&r);
    int64_t needs = list->peak; /* beyond the limit */
    list->peak = bytes_of(&r);
    numbering_free(&r.numbers);
    free(r.block);
    if (r.file)
        gzclose_r(r.file);
    if (!done) {
        edge_list_free(list);
        list->peak = needs;
    }
    return done;
}

void edge_list_free(struct edge_list *list)
{
    free(list->edge);
    free(list->offset);
    *list = (struct edge_list){0};
}
