/*
 *     file   = {comment} header {node | comment}
 *     header = nodes edges [format [constraints]]
 *     node   = [size] {weight} {neighbour [weight]}
 *
 * The digits of the format, 0 or 1, say whether there are sizes, weights of nodes (as many as constraints, 1
 * unless given), and weights of edges; leading zeros may be left out. A comment begins with %. A line without
 * a word is a node without neighbours. The line of a hub may be long: up to what the header's edges take.
 */
#include "graphs/metis.h"

#include <inttypes.h>

#include "graphs/csr.h"
#include "graphs/words.h"
#include "kernels/arithmetic.h"

enum { NUMBER_TEXT = 24 }; /* bytes of a number and a blank, at most, as programs write them */

struct reader {
    struct text_lines lines;
    struct collector to;
    int64_t nodes, neighbours; /* that the header says: two for each edge */
    int64_t skipped;           /* numbers before the neighbours of a node */
    bool weighted;             /* a number after each neighbour */
};

static bool refuse_words(struct reader *r, const struct words *w)
{
    return lines_refuse(&r->lines, "%s", w->reason);
}

/* The next line that is no comment; false at the end or on errors. */
static bool next_line(struct reader *r, struct words *w)
{
    const char *line, *end;
    while (lines_next(&r->lines, &line, &end)) {
        *w = words_of(line, end);
        words_skip_blanks(w);
        if (w->at == w->end || *w->at != '%')
            return true;
    }
    return false;
}

/* The format and the number of constraints, both of which may be missing. */
static bool scan_format(struct reader *r, struct words *w)
{
    const char *word = w->at;
    int64_t format = 0, constraints = 1;
    if (w->at < w->end && !words_within(w, "format", 0, 111, &format))
        return false;
    if (format % 10 > 1 || format / 10 % 10 > 1)
        return words_refuse(w, "'%s' is not a format: up to three digits, each 0 or 1", word);
    words_skip_blanks(w);
    if (w->at < w->end && !words_within(w, "number of constraints", 1, INT32_MAX, &constraints))
        return false;
    r->weighted = format % 10;
    r->skipped = format / 100 + (format / 10 % 10) * constraints;
    return words_end(w, "the header");
}

static bool scan_header(struct reader *r, struct words *w)
{
    int64_t edges;
    if (!words_within(w, "number of nodes", 1, CSR_MAX_NODES, &r->nodes))
        return false;
    words_skip_blanks(w);
    if (!words_within(w, "number of edges", 0, CSR_MAX_EDGES / 2, &edges))
        return false;
    words_skip_blanks(w);
    r->neighbours = 2 * edges;
    return scan_format(r, w);
}

static bool read_header(struct reader *r)
{
    struct words w;
    do
        if (!next_line(r, &w))
            return !r->lines.failed && collect_fail(&r->to, "the file has no header");
    while (w.at == w.end);
    if (!scan_header(r, &w))
        return refuse_words(r, &w);
    int64_t longest = LINES_LONGEST + NUMBER_TEXT * (2 * r->neighbours + r->skipped);
    int64_t limit = r->to.source->limits.memory;
    r->lines.longest = limit > 0 ? max_of(LINES_LONGEST, min_of(longest, limit / 2)) : longest;
    return collect_graph(&r->to, r->nodes) &&
           collect_can_alloc(&r->to, r->neighbours * (int64_t)sizeof *r->to.list->edge);
}

static bool take_node(struct reader *r, struct words *w, int64_t node)
{
    int64_t other;
    for (int64_t i = 0; i < r->skipped; i++, words_skip_blanks(w))
        if (!words_number(w, "size or weight"))
            return refuse_words(r, w);
    for (; w->at < w->end; words_skip_blanks(w)) {
        if (!words_within(w, "neighbour", 1, r->nodes, &other))
            return refuse_words(r, w);
        words_skip_blanks(w);
        if (r->weighted && !words_number(w, "weight of this edge"))
            return refuse_words(r, w);
        if (other - 1 == node)
            return lines_refuse(&r->lines, "node %" PRId64 " is its own neighbour: there are no loops",
                                other);
        if (r->to.list->edges == r->neighbours)
            return lines_refuse(&r->lines, "more than the %" PRId64 " edges of the header",
                                r->neighbours / 2);
        if (!collect_edge(&r->to, other - 1, node))
            return false;
    }
    return true;
}

static bool read_nodes(struct reader *r)
{
    struct words w;
    int64_t node = 0;
    while (next_line(r, &w)) {
        if (node == r->nodes && w.at < w.end)
            return lines_refuse(&r->lines, "a line after those of the %" PRId64 " nodes", r->nodes);
        if (node < r->nodes && !take_node(r, &w, node++))
            return false;
        r->to.held = max_of(r->to.held, r->lines.size);
    }
    if (r->lines.failed)
        return false;
    if (node < r->nodes)
        return lines_refuse(&r->lines, "the file ends after %" PRId64 " of %" PRId64 " nodes", node,
                            r->nodes);
    return r->to.list->edges == r->neighbours ||
           collect_fail(&r->to,
                        "the nodes have %" PRId64 " neighbours, not two for each of %" PRId64 " edges",
                        r->to.list->edges, r->neighbours / 2);
}

bool metis_read(struct edge_list *list, const struct graph_source *s)
{
    struct reader r = {.lines = source_lines(s, s->path)};
    collect_begin(&r.to, list, s, false);
    list->both_listed = true;
    bool done = lines_open(&r.lines) && read_header(&r) && read_nodes(&r);
    lines_close(&r.lines);
    return collect_end(&r.to, done);
}
