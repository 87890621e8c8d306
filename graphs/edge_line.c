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

#include <ctype.h>
#include <string.h>

#include "graphs/csr.h"
#include "kernels/rng.h"

static const char comment[] = "#%", after_edge[] = "#%{";

/* Skips blanks, and the rest of the line if it begins with one of these. */
static void skip_comment(struct words *w, const char *marks)
{
    words_skip_blanks(w);
    if (w->at < w->end && *w->at && strchr(marks, *w->at))
        w->at = w->end;
}

static bool skip_column(struct words *w, const char *what, int *columns)
{
    words_skip_separator(w);
    skip_comment(w, after_edge);
    *columns += w->at < w->end;
    return words_at_separator(w) || words_number(w, what);
}

/* What follows the nodes. */
static bool skip_columns(struct words *w, int *columns)
{
    *columns = 2;
    if (!skip_column(w, "weight", columns) || !skip_column(w, "time", columns))
        return false;
    skip_comment(w, after_edge);
    return words_end(w, "two node ids, a weight and a time; write a list of neighbours as an edge a line");
}

/* A name is the hash of its letters. */
static bool scan_node(struct words *w, bool names, const char *which, uint64_t *id)
{
    const char *name = w->at;
    if (!names)
        return words_whole(w, which, "node id", id);
    for (*id = 0; !words_at_separator(w); w->at++)
        *id = rng_mix(*id + (unsigned char)*w->at + 256);
    return w->at > name || words_refuse(w, "a name is missing", name);
}

static bool scan_edge(struct words *w, bool names, uint64_t id[2], int *columns)
{
    if (!scan_node(w, names, "first ", &id[0]))
        return false;
    words_skip_separator(w);
    return scan_node(w, names, "second ", &id[1]) && skip_columns(w, columns);
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

/* Whether two words come of which none begins as a number does. */
static bool is_words(struct words w)
{
    uint64_t unused;
    for (int i = 0; i < 2; i++, words_skip_separator(&w))
        if (w.at == w.end || !(isalpha((unsigned char)*w.at) || strchr("\"_", *w.at)) ||
            !scan_node(&w, true, "", &unused))
            return false;
    return true;
}

enum edge_line edge_line_scan(struct words *line, bool names, uint64_t id[2], int *columns)
{
    skip_comment(line, comment);
    struct words all = *line;
    if (line->at == line->end)
        return EDGE_LINE_COMMENT;
    if (!names && words_skip(line, "graph", false))
        return scan_graph(line, id) ? EDGE_LINE_GRAPH : EDGE_LINE_BAD;
    return scan_edge(line, names, id, columns) ? EDGE_LINE_EDGE
           : !names && is_words(all)           ? EDGE_LINE_WORDS
                                               : EDGE_LINE_BAD;
}
