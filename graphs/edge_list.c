#include "graphs/edge_list.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "graphs/csr.h"

enum { FIRST_EDGES = 1 << 12, FIRST_OFFSETS = 1 << 8 };

void edge_list_free(struct edge_list *list)
{
    free(list->edge);
    free(list->offset);
    *list = (struct edge_list){0};
}

bool collect_fail(struct collector *c, const char *format, ...)
{
    const struct graph_source *s = c->source;
    va_list arguments;
    va_start(arguments, format);
    int length = snprintf(s->error, s->error_size, "%.200s: ", s->path);
    if (length < (int)s->error_size)
        vsnprintf(s->error + length, s->error_size - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}

void collect_begin(struct collector *c, struct edge_list *list, const struct graph_source *s, bool mirrored)
{
    *list = (struct edge_list){.mirrored = mirrored};
    *c = (struct collector){.source = s, .list = list};
}

static int64_t bytes_of(const struct collector *c)
{
    return c->room * (int64_t)sizeof *c->list->edge + c->offsets_room * (int64_t)sizeof *c->list->offset +
           c->held;
}

bool collect_can_alloc(struct collector *c, int64_t more)
{
    int64_t limit = c->source->limits.memory;
    int64_t needs = bytes_of(c) + (c->list->nodes + 1) * (int64_t)sizeof(int64_t) + more;
    if (limit <= 0 || needs <= limit)
        return true;
    c->list->peak = needs;
    return collect_fail(
        c, "reading the graph needs at least %" PRId64 " MiB, more than the %" PRId64 " MiB allowed",
        needs >> 20, limit >> 20);
}

static bool push(struct collector *c, int64_t from, int64_t to)
{
    struct edge_list *l = c->list;
    if (l->edges == CSR_MAX_EDGES)
        return collect_fail(c, "the file has more than %" PRId64 " edges", CSR_MAX_EDGES);
    if (l->edges == c->room) {
        int64_t room = c->room ? 2 * c->room : FIRST_EDGES;
        if (!collect_can_alloc(c, (room - c->room) * (int64_t)sizeof *l->edge))
            return false;
        uint64_t *edge = reallocarray(l->edge, (size_t)room, sizeof *edge);
        if (!edge)
            return collect_fail(c, "no memory for %" PRId64 " edges", room);
        l->edge = edge;
        c->room = room;
    }
    l->edge[l->edges++] = csr_edge(from, to);
    return true;
}

bool collect_edge(struct collector *c, int64_t from, int64_t to)
{
    c->list->entries++;
    return push(c, from, to) && (!c->list->mirrored || from == to || push(c, to, from));
}

bool collect_graph(struct collector *c, int64_t nodes)
{
    struct edge_list *l = c->list;
    if (!collect_can_alloc(c, nodes * (int64_t)sizeof(int64_t)))
        return false;
    if (l->graphs + 2 > c->offsets_room) {
        int64_t room = c->offsets_room ? 2 * c->offsets_room : FIRST_OFFSETS;
        if (!collect_can_alloc(c, (room - c->offsets_room) * (int64_t)sizeof *l->offset))
            return false;
        int64_t *offset = reallocarray(l->offset, (size_t)room, sizeof *offset);
        if (!offset)
            return collect_fail(c, "no memory for %" PRId64 " graphs", room);
        l->offset = offset;
        c->offsets_room = room;
    }
    l->offset[l->graphs++] = l->nodes;
    l->nodes += nodes;
    l->offset[l->graphs] = l->nodes;
    return true;
}

bool collect_end(struct collector *c, bool done)
{
    int64_t needs = c->list->peak; /* beyond the limit */
    c->list->peak = bytes_of(c);
    if (!done) {
        edge_list_free(c->list);
        c->list->peak = needs;
    }
    return done;
}
