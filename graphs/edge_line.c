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
#include <stdio.h>
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

static bool begins_word(const struct words *w)
{
    return w->at < w->end && (isalpha((unsigned char)*w->at) || *w->at == '"' || *w->at == '_');
}

static bool scan_id(struct words *w, const char *which, uint64_t *id)
{
    bool name = begins_word(w);
    if (words_whole(w, which, "node id", id))
        return true;
    size_t used = strlen(w->reason);
    if (name)
        snprintf(w->reason + used, sizeof w->reason - used, "; --graph names:PATH reads names");
    return false;
}

static bool scan_edge(struct words *w, uint64_t id[2], int *columns)
{
    if (!scan_id(w, "first ", &id[0]))
        return false;
    words_skip_separator(w);
    return scan_id(w, "second ", &id[1]) && skip_columns(w, columns);
}

static bool scan_name(struct words *w, uint64_t hash[2])
{
    const char *name = w->at;
    hash[0] = hash[1] = 0;
    for (; !words_at_separator(w); w->at++)
        for (int i = 0; i < 2; i++)
            hash[i] = rng_mix(hash[i] + (uint64_t)(unsigned char)*w->at + 256 * ((uint64_t)i + 1));
    return w->at > name || words_refuse(w, "a name is missing", name);
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

bool edge_line_is_header(const struct words *line)
{
    struct words w = *line;
    bool first = begins_word(&w) && !words_skip(&w, "graph", false);
    while (!words_at_separator(&w))
        w.at++;
    words_skip_separator(&w);
    return first && begins_word(&w);
}

enum edge_line edge_line_names(struct words *line, uint64_t id[2][2], int *columns)
{
    skip_comment(line, comment);
    if (line->at == line->end)
        return EDGE_LINE_COMMENT;
    bool good = scan_name(line, id[0]);
    words_skip_separator(line);
    return good && scan_name(line, id[1]) && skip_columns(line, columns) ? EDGE_LINE_EDGE : EDGE_LINE_BAD;
}

enum edge_line edge_line_scan(struct words *line, uint64_t id[2], int *columns)
{
    skip_comment(line, comment);
    if (line->at == line->end)
        return EDGE_LINE_COMMENT;
    if (words_skip(line, "graph", false))
        return scan_graph(line, id) ? EDGE_LINE_GRAPH : EDGE_LINE_BAD;
    return scan_edge(line, id, columns) ? EDGE_LINE_EDGE : EDGE_LINE_BAD;
}
