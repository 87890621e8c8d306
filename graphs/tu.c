#include "graphs/tu.h"

#include <inttypes.h>
#include <stdio.h>

#include "graphs/csr.h"
#include "graphs/words.h"
#include "kernels/arithmetic.h"

/* A graph that is neither the current one nor the next. */
static bool refuse_graph(struct text_lines *l, int64_t graph, int64_t current, bool first)
{
    char next[32] = "";
    if (!first)
        snprintf(next, sizeof next, " or %" PRId64, current + 1);
    return lines_refuse(l,
                        "graph %" PRId64 " where graph %" PRId64
                        "%s is expected: number the graphs from 1 in the order of their nodes, without gaps",
                        graph, current, next);
}

/* Each line has the graph of the next node. */
static bool read_indicator(struct collector *to, struct text_lines *l)
{
    struct words w;
    int64_t graph, current = 1, nodes = 0, all = 0;
    while (lines_next_words(l, &w)) {
        if (!words_within(&w, "graph", 1, CSR_MAX_NODES, &graph) || !words_end(&w, "the graph"))
            return lines_refuse(l, "%s", w.reason);
        if (graph != current && (nodes == 0 || graph != current + 1))
            return refuse_graph(l, graph, current, nodes == 0);
        if (all++ == CSR_MAX_NODES)
            return lines_refuse(l, "more than %" PRId64 " nodes", CSR_MAX_NODES);
        if (graph != current) {
            if (!collect_graph(to, nodes))
                return false;
            current = graph;
            nodes = 0;
        }
        nodes++;
    }
    if (l->failed)
        return false;
    return nodes > 0 ? collect_graph(to, nodes) : lines_fail(l, "the file has no nodes");
}

/* The graph of a node, at first looked for in graph `near`. */
static int64_t graph_of(const struct edge_list *list, int64_t node, int64_t near)
{
    int64_t low = 0, high = list->graphs;
    if (node >= list->offset[near] && node < list->offset[near + 1])
        return near;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (list->offset[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool read_edges(struct collector *to, struct text_lines *l)
{
    const struct edge_list *list = to->list;
    struct words w;
    int64_t end[2], graph = 0;
    while (lines_next_words(l, &w)) {
        bool good = words_within(&w, "node", 1, list->nodes, &end[0]);
        words_skip_separator(&w);
        if (!good || !words_within(&w, "node", 1, list->nodes, &end[1]) || !words_end(&w, "the two nodes"))
            return lines_refuse(l, "%s", w.reason);
        graph = graph_of(list, end[0] - 1, graph);
        if (end[1] <= list->offset[graph] || end[1] > list->offset[graph + 1])
            return lines_refuse(l, "nodes %" PRId64 " and %" PRId64 " are in two graphs", end[0], end[1]);
        if (!collect_edge(to, end[0] - 1, end[1] - 1))
            return false;
    }
    return !l->failed;
}

bool tu_read(struct edge_list *list, const struct graph_source *s, const char *edges, const char *indicator)
{
    struct text_lines nodes = source_lines(s, indicator), pairs = source_lines(s, edges);
    struct collector to;
    collect_begin(&to, list, s, s->undirected);
    to.held = 2 * LINES_LONGEST;
    bool done =
        lines_open(&nodes) && read_indicator(&to, &nodes) && lines_open(&pairs) && read_edges(&to, &pairs);
    lines_close(&nodes);
    lines_close(&pairs);
    return collect_end(&to, done);
}
