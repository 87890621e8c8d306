/* The numbers of edges are read along with the edges, and not kept. */
#include "graphs/ogb.h"

#include <inttypes.h>

#include "graphs/csr.h"
#include "graphs/words.h"

static bool scan_count(struct text_lines *l, struct words *w, const char *what, int64_t least, int64_t most,
                       int64_t *count)
{
    return (words_within(w, what, least, most, count) && words_end(w, "this number")) ||
           lines_refuse(l, "%s", w->reason);
}

static bool read_node_counts(struct collector *to, struct text_lines *l)
{
    struct words w;
    int64_t nodes;
    while (lines_next_words(l, &w)) {
        if (!scan_count(l, &w, "number of nodes", 1, CSR_MAX_NODES, &nodes))
            return false;
        if (nodes > CSR_MAX_NODES - to->list->nodes)
            return lines_refuse(l, "this graph makes more than %" PRId64 " nodes", CSR_MAX_NODES);
        if (!collect_graph(to, nodes))
            return false;
    }
    return !l->failed && (to->list->graphs > 0 || lines_fail(l, "the file has no graphs"));
}

/* The edges of one graph. */
static bool read_graph(struct collector *to, struct text_lines *l, int64_t graph, int64_t edges)
{
    int64_t first = to->list->offset[graph], last = to->list->offset[graph + 1] - first - 1, end[2];
    struct words w;
    for (int64_t e = 0; e < edges; e++) {
        if (!lines_next_words(l, &w))
            return !l->failed &&
                   lines_refuse(l,
                                "the file ends after %" PRId64 " of the %" PRId64 " edges of graph %" PRId64,
                                e, edges, graph);
        bool good = words_within(&w, "node", 0, last, &end[0]);
        words_skip_separator(&w);
        if (!good || !words_within(&w, "node", 0, last, &end[1]) || !words_end(&w, "the two nodes"))
            return lines_refuse(l, "%s", w.reason);
        if (!collect_edge(to, first + end[0], first + end[1]))
            return false;
    }
    return true;
}

static bool read_edges(struct collector *to, struct text_lines *pairs, struct text_lines *counts)
{
    struct words w;
    for (int64_t graph = 0, edges; graph < to->list->graphs; graph++) {
        if (!lines_next_words(counts, &w))
            return !counts->failed &&
                   lines_refuse(counts, "the file ends after %" PRId64 " of %" PRId64 " graphs", graph,
                                to->list->graphs);
        if (!scan_count(counts, &w, "number of edges", 0, CSR_MAX_EDGES, &edges) ||
            !read_graph(to, pairs, graph, edges))
            return false;
    }
    if (lines_next_words(counts, &w))
        return lines_refuse(counts, "more than the %" PRId64 " graphs of the list of nodes",
                            to->list->graphs);
    if (!counts->failed && lines_next_words(pairs, &w))
        return lines_refuse(pairs, "more edges than the graphs have together");
    return !counts->failed && !pairs->failed;
}

bool ogb_read(struct edge_list *list, const struct graph_source *s, const char *edges,
              const char *node_counts, const char *edge_counts)
{
    struct text_lines nodes = source_lines(s, node_counts), counts = source_lines(s, edge_counts),
                      pairs = source_lines(s, edges);
    struct collector to;
    collect_begin(&to, list, s, s->undirected);
    to.held = 3 * LINES_LONGEST;
    bool done = lines_open(&nodes) && read_node_counts(&to, &nodes) && lines_open(&counts) &&
                lines_open(&pairs) && read_edges(&to, &pairs, &counts);
    lines_close(&nodes);
    lines_close(&counts);
    lines_close(&pairs);
    return collect_end(&to, done);
}
