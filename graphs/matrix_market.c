/*
 *     file     = banner {comment} size {entry}
 *     banner   = "%" ["%"] "MatrixMarket matrix coordinate" field symmetry, in any case
 *     field    = "pattern" | "real" | "integer" | "complex", and SciPy's "unsigned-integer"
 *     symmetry = "general" | "symmetric" | "skew-symmetric" | "hermitian"
 *     size     = rows columns entries
 *     entry    = row column {number}, none for a pattern, two if complex
 *
 * Words are separated by blanks and tabs; lines without a word, and those that begin with %, are comments.
 */
#include "graphs/matrix_market.h"

#include <inttypes.h>

#include "graphs/csr.h"
#include "graphs/words.h"

enum field { PATTERN, REAL, INTEGER, COMPLEX, UNSIGNED };
enum symmetry { GENERAL, SYMMETRIC, SKEW, HERMITIAN };

static const char *const fields[] = {"pattern", "real", "integer", "complex", "unsigned-integer", NULL};
static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian", NULL};

struct reader {
    struct text_lines lines;
    struct collector to;
    int field, symmetry;
    int64_t nodes, entries;
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
        if (w->at < w->end && *w->at != '%')
            return true;
    }
    return false;
}

static bool fail_early(struct reader *r, const char *what)
{
    return !r->lines.failed && lines_refuse(&r->lines, "the file ends before %s", what);
}

/* Skips one of the words; its index, or -1. */
static int skip_one(struct words *w, const char *const *all)
{
    for (int i = 0; all[i]; i++)
        if (words_skip(w, all[i], true))
            return i;
    return -1;
}

bool matrix_market_begins(struct words *w)
{
    const struct words before = *w;
    while (w->at < w->end && *w->at == '%' && w->at < before.at + 2)
        w->at++;
    bool marked = w->at > before.at;
    words_skip_blanks(w);
    if (marked && words_skip(w, &MATRIX_MARKET_BANNER[2], true))
        return true;
    *w = before;
    return false;
}

static bool scan_banner(struct reader *r, struct words *w)
{
    if (!matrix_market_begins(w))
        return words_refuse(w, "'%s' is not %%%%MatrixMarket, as such files begin", w->at);
    if (!words_skip(w, "matrix", true))
        return words_refuse(w, "'%s' is not 'matrix', the only object that is a graph", w->at);
    if (!words_skip(w, "coordinate", true))
        return words_refuse(w, "'%s' is not 'coordinate': dense matrices are no graphs here", w->at);
    r->field = skip_one(w, fields);
    if (r->field < 0)
        return words_refuse(w, "'%s' is not pattern, real, integer, unsigned-integer or complex", w->at);
    r->symmetry = skip_one(w, symmetries);
    if (r->symmetry < 0)
        return words_refuse(w, "'%s' is not general, symmetric, skew-symmetric or hermitian", w->at);
    if (r->symmetry == HERMITIAN && r->field != COMPLEX)
        return words_refuse(w, "hermitian matrices are complex", w->at);
    if (r->symmetry == SKEW && r->field == PATTERN)
        return words_refuse(w, "skew-symmetric matrices are no patterns", w->at);
    return words_end(w, "the symmetry");
}

static bool read_banner(struct reader *r)
{
    const char *line, *end;
    if (!lines_next(&r->lines, &line, &end))
        return !r->lines.failed && collect_fail(&r->to, "the file is empty");
    struct words w = words_of(line, end);
    return scan_banner(r, &w) || refuse_words(r, &w);
}

static bool scan_size(struct reader *r, struct words *w)
{
    int64_t columns;
    if (!words_within(w, "number of rows", 1, CSR_MAX_NODES, &r->nodes))
        return false;
    words_skip_blanks(w);
    if (!words_within(w, "number of columns", 1, CSR_MAX_NODES, &columns))
        return false;
    words_skip_blanks(w);
    if (!words_within(w, "number of entries", 0, CSR_MAX_EDGES, &r->entries))
        return false;
    if (columns != r->nodes)
        return words_refuse(w, "the matrix is not square: its rows and columns are the nodes of a graph",
                            w->at);
    return words_end(w, "the number of entries");
}

static bool read_size(struct reader *r)
{
    struct words w;
    if (!next_line(r, &w))
        return fail_early(r, "the line of its sizes");
    if (!scan_size(r, &w))
        return refuse_words(r, &w);
    return collect_graph(&r->to, r->nodes) &&
           collect_can_alloc(&r->to, r->entries * (int64_t)sizeof *r->to.list->edge);
}

static bool scan_entry(const struct reader *r, struct words *w, int64_t *row, int64_t *column)
{
    static const int numbers[] = {[PATTERN] = 0, [REAL] = 1, [INTEGER] = 1, [COMPLEX] = 2, [UNSIGNED] = 1};
    const char *first = w->at;
    if (!words_within(w, "row", 1, r->nodes, row))
        return false;
    words_skip_blanks(w);
    if (!words_within(w, "column", 1, r->nodes, column))
        return false;
    for (int i = 0; i < numbers[r->field]; i++) {
        words_skip_blanks(w);
        if (!words_number(w, "value"))
            return false;
    }
    if (r->symmetry != GENERAL && *column > *row)
        return words_refuse(w, "the entry of row %s is above the diagonal of a symmetric matrix", first);
    if (r->symmetry == SKEW && *column == *row)
        return words_refuse(w, "the entry of row %s is on the diagonal of a skew-symmetric matrix", first);
    return words_end(w, "the entry");
}

static bool read_entries(struct reader *r)
{
    struct words w;
    int64_t row, column, count = 0;
    while (next_line(r, &w)) {
        if (count++ == r->entries)
            return lines_refuse(&r->lines, "more than the %" PRId64 " entries that are announced",
                                r->entries);
        if (!scan_entry(r, &w, &row, &column))
            return refuse_words(r, &w);
        if (!collect_edge(&r->to, row - 1, column - 1))
            return false;
    }
    if (r->lines.failed || count == r->entries)
        return !r->lines.failed;
    return lines_refuse(&r->lines, "the file ends after %" PRId64 " of %" PRId64 " entries", count,
                        r->entries);
}

bool matrix_market_read(struct edge_list *list, const struct graph_source *s)
{
    struct reader r = {.lines = source_lines(s, s->path)};
    collect_begin(&r.to, list, s, s->undirected);
    bool done = lines_open(&r.lines) && read_banner(&r);
    r.to.held = r.lines.size;
    list->mirrored |= r.symmetry != GENERAL;
    done = done && read_size(&r) && read_entries(&r);
    lines_close(&r.lines);
    return collect_end(&r.to, done);
}
