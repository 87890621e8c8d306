/*
 *     line   = [blanks] [edge | graph | "#..." | "%..."] [blanks]
 *     edge   = id separator id [separator weight]
 *     graph  = "graph" blanks nodes
 *
 * A separator is blanks and tabs, or one comma with optional blanks and tabs around it; a weight is a decimal
 * number (graphs/words.h).
 */
#include "graphs/edge_line.h"

#include "graphs/csr.h"

static bool scan_edge(struct words *w, uint64_t id[2])
{
    if (!words_whole(w, "first ", "node id", &id[0]))
        return false;
    words_skip_separator(w);
    if (!words_whole(w, "second ", "node id", &id[1]))
        return false;
    bool comma = words_skip_separator(w);
    return (w->at == w->end && !comma) || (words_number(w, "weight") && words_end(w, "the weight"));
}

static bool scan_graph(struct words *w, uint64_t *nodes)
{
    int64_t count;
    if (!words_within(w, "number of nodes", 1, CSR_MAX_NODES, &count))
        return false;
    *nodes = (uint64_t)count;
    return words_end(w, "the number of nodes");
}

enum edge_line edge_line_scan(struct words *line, uint64_t id[2])
{
    words_skip_blanks(line);
    if (line->at == line->end || *line->at == '#' || *line->at == '%')
        return EDGE_LINE_COMMENT;
    if (words_skip(line, "graph", false))
        return scan_graph(line, id) ? EDGE_LINE_GRAPH : EDGE_LINE_BAD;
    return scan_edge(line, id) ? EDGE_LINE_EDGE : EDGE_LINE_BAD;
}
