#include "graphs/words.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { QUOTE = 32, FORMAT = 128 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

void words_skip_blanks(struct words *w)
{
    while (w->at < w->end && (*w->at == ' ' || *w->at == '\t'))
        w->at++;
}

bool words_at_separator(const struct words *w)
{
    return w->at == w->end || *w->at == ' ' || *w->at == '\t' || *w->at == ',';
}

bool words_skip_separator(struct words *w)
{
    words_skip_blanks(w);
    bool comma = w->at < w->end && *w->at == ',';
    w->at += comma;
    words_skip_blanks(w);
    return comma;
}

bool words_skip(struct words *w, const char *word, bool any_case)
{
    size_t length = strlen(word);
    const char *after = w->at + length;
    if ((size_t)(w->end - w->at) < length || (any_case ? strncasecmp : strncmp)(w->at, word, length) != 0 ||
        (after < w->end && *after != ' ' && *after != '\t'))
        return false;
    w->at = after;
    words_skip_blanks(w);
    return true;
}

/* The beginning of the word at `at`, printable. */
static const char *quote(const struct words *w, const char *at, char text[QUOTE])
{
    int length = 0;
    for (const char *c = at; c < w->end && length < QUOTE - 1; c++) {
        if (c > at && (*c == ' ' || *c == '\t' || *c == ','))
            break;
        text[length++] = isprint((unsigned char)*c) ? *c : '?';
    }
    text[length] = '\0';
    return text;
}

bool words_refuse(struct words *w, const char *format, const char *at)
{
    char text[QUOTE];
    snprintf(w->reason, sizeof w->reason, format, quote(w, at, text));
    return false;
}

/* Scans the digits of a whole number, possibly none; whether it fits 64 bits. */
static bool scan_whole(struct words *w, uint64_t *whole)
{
    uint64_t value = 0;
    bool fits = true;
    for (; w->at < w->end && is_digit(*w->at); w->at++) {
        uint64_t digit = (uint64_t)(*w->at - '0');
        fits &= value < UINT64_MAX / 10 || (value == UINT64_MAX / 10 && digit <= UINT64_MAX % 10);
        value = 10 * value + digit;
    }
    *whole = value;
    return fits;
}

/* Says why the word that begins here is no whole number. */
static bool refuse_whole(struct words *w, const char *which, const char *what, const char *word)
{
    char format[FORMAT];
    if (w->at == word && words_at_separator(w))
        snprintf(format, sizeof format, "the %s%s is missing", which, what);
    else if (*word == '-' && word + 1 < w->end && is_digit(word[1]))
        snprintf(format, sizeof format, "%s %%s is negative", what);
    else
        snprintf(format, sizeof format, "'%%s' is not a %s: a whole number, at least 0", what);
    return words_refuse(w, format, word);
}

bool words_whole(struct words *w, const char *which, const char *what, uint64_t *value)
{
    const char *word = w->at;
    bool fits = scan_whole(w, value);
    if (w->at == word || !words_at_separator(w))
        return refuse_whole(w, which, what, word);
    char format[FORMAT];
    snprintf(format, sizeof format, "%s %%s exceeds 64 bits: renumber the nodes from 0", what);
    return fits || words_refuse(w, format, word);
}

bool words_within(struct words *w, const char *what, int64_t least, int64_t most, int64_t *value)
{
    const char *word = w->at;
    uint64_t whole;
    bool fits = scan_whole(w, &whole) && whole >= (uint64_t)least && whole <= (uint64_t)most;
    *value = (int64_t)whole;
    if (w->at == word && words_at_separator(w))
        return refuse_whole(w, "", what, word);
    char format[FORMAT];
    snprintf(format, sizeof format, "'%%s' is not a %s: a whole number from %" PRId64 " to %" PRId64, what,
             least, most);
    return (w->at > word && words_at_separator(w) && fits) || words_refuse(w, format, word);
}

static bool skip_digits(struct words *w)
{
    const char *first = w->at;
    while (w->at < w->end && is_digit(*w->at))
        w->at++;
    return w->at > first;
}

static bool skip_character(struct words *w, const char *any)
{
    bool found = w->at < w->end && *w->at && strchr(any, *w->at);
    w->at += found;
    return found;
}

/* What C's strtod takes in place of digits. */
static bool skip_name(struct words *w)
{
    static const char *const names[] = {"nan", "infinity", "inf"};
    for (size_t i = 0, length; i < sizeof names / sizeof *names; i++)
        if ((size_t)(w->end - w->at) >= (length = strlen(names[i])) &&
            strncasecmp(w->at, names[i], length) == 0) {
            w->at += length;
            return true;
        }
    return false;
}

bool words_number(struct words *w, const char *what)
{
    const char *word = w->at;
    char format[FORMAT];
    skip_character(w, "+-");
    bool named = skip_name(w), number = !named && skip_digits(w);
    if (!named && skip_character(w, "."))
        number = skip_digits(w) || number;
    if (number && skip_character(w, "eE")) {
        skip_character(w, "+-");
        number = skip_digits(w);
    }
    if ((named || number) && words_at_separator(w))
        return true;
    snprintf(format, sizeof format,
             w->at == word && words_at_separator(w) ? "the %s is missing" : "'%%s' is not a %s", what);
    return words_refuse(w, format, word);
}

bool words_end(struct words *w, const char *what)
{
    words_skip_blanks(w);
    if (w->at == w->end)
        return true;
    char format[FORMAT];
    snprintf(format, sizeof format, "unexpected '%%s' after %s", what);
    return words_refuse(w, format, w->at);
}
