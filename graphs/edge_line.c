/*
 *     line    = [blanks] [edge | graph] [blanks] [comment]
 *     edge    = id separator id [separator weight [separator time]] [blanks] [attributes]
 *     graph   = "graph" blanks nodes
 *     comment = "#..." | "%..."; attributes = "{...", as NetworkX writes them
 *
 * A separator is blanks and tabs, or one comma with optional blanks and tabs around it; weights and times are
 * numbers (graphs/words.h), or nothing before a comma or the end. What has more columns may be a list of
 * neighbours.
 */
#include "graphs/edge_line.h"

#include <string.h>

#include "graphs/csr.h"

static const char comment[] = "#%", after_edge[] = "#%{";

/* Skips blanks, and the rest of the line if it begins with one of these. */
static void skip_comment(struct words *w, const char *marks)
{
    words_skip_blanks(w);
    if (w->at < w->end && *w->at && strchr(marks, *w->at))
        w->at = w->end;
}

static bool skip_column(struct words *w, const char *what)
{
    words_skip_separator(w);
    skip_comment(w, after_edge);
    return words_at_separator(w) || words_number(w, what);
}

static bool scan_edge(struct words *w, uint64_t id[2])
{
    if (!words_whole(w, "first ", "node id", &id[0]))
        return false;
    words_skip_separator(w);
    if (!words_whole(w, "second ", "node id", &id[1]) || !skip_column(w, "weight") || !skip_column(w, "time"))
        return false;
    skip_comment(w, after_edge);
    return words_end(w, "two node ids, a weight and a time");
}

static bool scan_graph(struct words *w, uint64_t *nodes)
{
    int64_t count;
    if (!words_within(w, "number of nodes", 1, CSR_MAX_NODES, &count))
        return false;
    *nodes = (uint64_t)count;
    skip_comment(w, comment);
    return words_end(w, "the number of nodes");
}

enum edge_line edge_line_scan(struct words *line, uint64_t id[2])
{
    skip_comment(line, comment);
    if (line->at == line->end)
        return EDGE_LINE_COMMENT;
    if (words_skip(line, "graph", false))
        return scan_graph(line, id) ? EDGE_LINE_GRAPH : EDGE_LINE_BAD;
    return scan_edge(line, id) ? EDGE_LINE_EDGE : EDGE_LINE_BAD;
}
