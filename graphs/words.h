/* Scanning the words of one line: whole numbers, decimal numbers, separators. */
#ifndef GTMARK_GRAPHS_WORDS_H
#define GTMARK_GRAPHS_WORDS_H

#include <stdbool.h>
#include <stdint.h>

enum { WORDS_REASON = 160 };

/* The rest of a line; functions that return false say why in `reason`. */
struct words {
    const char *at, *end;
    char reason[WORDS_REASON];
};

static inline struct words words_of(const char *line, const char *end)
{
    struct words w;
    w.at = line;
    w.end = end;
    w.reason[0] = '\0';
    return w;
}

/* Blanks and tabs. */
void words_skip_blanks(struct words *w);

/* Whether a word ends here: at a blank, a tab, a comma or the end of the line. */
bool words_at_separator(const struct words *w);

/* Skips blanks and tabs, or one comma with optional blanks and tabs around it; whether it was a comma. */
bool words_skip_separator(struct words *w);

/* Skips the word and blanks, if it is next and a blank, a tab or the end of the line follows it. */
bool words_skip(struct words *w, const char *word, bool any_case);

/*
 * A whole number. `what` it is ("node id"), and `which` of them with a blank ("second "), are for the reason:
 * "the second node id is missing", "node id -5 is negative", "node id ... exceeds 64 bits", "'x' is not a
 * node id: a whole number, at least 0".
 */
bool words_whole(struct words *w, const char *which, const char *what, uint64_t *value);

/* In addition from `least` to `most`. */
bool words_within(struct words *w, const char *what, int64_t least, int64_t most, int64_t *value);

/*
 *     number = [+|-] (digits ["." [digits]] | "." digits) [(e|E) [+|-] digits]
 *            | [+|-] ("nan" | "inf" | "infinity"), in any case
 */
bool words_number(struct words *w, const char *what);

/* That nothing but blanks follows. `what` comes last: "the weight". */
bool words_end(struct words *w, const char *what);

/* False, with the reason; %s in the format is the word at `at`, cut and printable. */
bool words_refuse(struct words *w, const char *format, const char *at);

#endif
