/*
 *     line   = [blanks] [edge | graph | "#..." | "%..."] [blanks] [CR]
 *     edge   = id separator id [separator weight]
 *     graph  = "graph" blanks nodes
 *     weight = [+|-] (digits ["." [digits]] | "." digits) [(e|E) [+|-] digits]
 *
 * A separator is blanks and tabs, or one comma with optional blanks and tabs around it. A NUL byte means that
 * this is not a text file, even in a comment.
 */
#include "graphs/edge_line.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "graphs/csr.h"

enum { QUOTE = 32, GRAPH_WORD = sizeof "graph" - 1 };

/* The rest of a line. */
struct scan {
    const char *at, *end;
    char *reason;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_blanks(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
        s->at++;
}

static bool at_separator(const struct scan *s)
{
    return s->at == s->end || *s->at == ' ' || *s->at == '\t' || *s->at == ',';
}

/* Skips a separator; whether it was a comma. */
static bool skip_separator(struct scan *s)
{
    skip_blanks(s);
    bool comma = s->at < s->end && *s->at == ',';
    s->at += comma;
    skip_blanks(s);
    return comma;
}

/* The beginning of the word at `at`, printable. */
static const char *quote(const struct scan *s, const char *at, char text[QUOTE])
{
    struct scan word = {at, s->end, NULL};
    int length = 0;
    for (; length < QUOTE - 1 && (word.at == at || !at_separator(&word)) && word.at < s->end; word.at++)
        text[length++] = isprint((unsigned char)*word.at) ? *word.at : '?';
    text[length] = '\0';
    return text;
}

static bool refuse(struct scan *s, const char *format, const char *word)
{
    char text[QUOTE];
    snprintf(s->reason, EDGE_LINE_REASON, format, quote(s, word, text));
    return false;
}

/* Scans the digits of a whole number, possibly none; whether it fits 64 bits. */
static bool scan_whole(struct scan *s, uint64_t *whole)
{
    uint64_t value = 0;
    bool fits = true;
    for (; s->at < s->end && is_digit(*s->at); s->at++) {
        uint64_t digit = (uint64_t)(*s->at - '0');
        fits &= value < UINT64_MAX / 10 || (value == UINT64_MAX / 10 && digit <= UINT64_MAX % 10);
        value = 10 * value + digit;
    }
    *whole = value;
    return fits;
}

static bool scan_id(struct scan *s, const char *missing, uint64_t *id)
{
    const char *word = s->at;
    bool fits = scan_whole(s, id);
    if (s->at > word && at_separator(s))
        return fits || refuse(s, "node id %s exceeds 64 bits", word);
    if (s->at == word && at_separator(s))
        return refuse(s, missing, word);
    if (*word == '-' && word + 1 < s->end && is_digit(word[1]))
        return refuse(s, "node id %s is negative", word);
    return refuse(s, "'%s' is not a node id: a whole number, at least 0", word);
}

static bool skip_digits(struct scan *s)
{
    const char *first = s->at;
    while (s->at < s->end && is_digit(*s->at))
        s->at++;
    return s->at > first;
}

static bool skip_character(struct scan *s, const char *any)
{
    bool found = s->at < s->end && *s->at && strchr(any, *s->at);
    s->at += found;
    return found;
}

static bool scan_weight(struct scan *s)
{
    const char *word = s->at;
    if (at_separator(s))
        return refuse(s, "the weight after the comma is missing", word);
    skip_character(s, "+-");
    bool number = skip_digits(s);
    if (skip_character(s, "."))
        number = skip_digits(s) || number;
    if (number && skip_character(s, "eE")) {
        skip_character(s, "+-");
        number = skip_digits(s);
    }
    return (number && at_separator(s)) || refuse(s, "'%s' after the two node ids is not a weight", word);
}

static bool scan_edge(struct scan *s, uint64_t id[2])
{
    if (!scan_id(s, "the first node id is missing", &id[0]))
        return false;
    skip_separator(s);
    if (!scan_id(s, "the second node id is missing", &id[1]))
        return false;
    bool comma = skip_separator(s);
    if (s->at == s->end && !comma)
        return true;
    if (!scan_weight(s))
        return false;
    skip_blanks(s);
    return s->at == s->end || refuse(s, "unexpected '%s' after the weight", s->at);
}

static bool scan_graph(struct scan *s, uint64_t *nodes)
{
    s->at += GRAPH_WORD;
    skip_blanks(s);
    const char *word = s->at;
    if (word == s->end)
        return refuse(s, "the number of nodes is missing", word);
    bool fits = scan_whole(s, nodes) && *nodes >= 1 && *nodes <= CSR_MAX_NODES;
    if (!fits || !at_separator(s))
        return refuse(s, "'%s' is not a number of nodes: a whole number from 1 to 2147483647", word);
    skip_blanks(s);
    return s->at == s->end || refuse(s, "unexpected '%s' after the number of nodes", s->at);
}

/* What kind of line begins like this. */
static enum edge_line kind_of(const struct scan *s)
{
    if (s->at == s->end || *s->at == '#' || *s->at == '%')
        return EDGE_LINE_COMMENT;
    if (s->end - s->at < GRAPH_WORD || memcmp(s->at, "graph", GRAPH_WORD) != 0)
        return EDGE_LINE_EDGE;
    struct scan rest = {s->at + GRAPH_WORD, s->end, NULL};
    return at_separator(&rest) ? EDGE_LINE_GRAPH : EDGE_LINE_EDGE;
}

enum edge_line edge_line_scan(const char *line, const char *end, uint64_t id[2],
                              char reason[EDGE_LINE_REASON])
{
    if (end > line && end[-1] == '\r')
        end--;
    struct scan s = {line, end, reason};
    skip_blanks(&s);
    enum edge_line kind = kind_of(&s);
    if ((kind == EDGE_LINE_EDGE && scan_edge(&s, id)) || (kind == EDGE_LINE_GRAPH && scan_graph(&s, id)))
        return kind;
    if (memchr(line, '\0', (size_t)(end - line)))
        snprintf(reason, EDGE_LINE_REASON, "the line has a NUL byte: this is not a text file");
    else if (kind == EDGE_LINE_COMMENT)
        return EDGE_LINE_COMMENT;
    return EDGE_LINE_BAD;
}
