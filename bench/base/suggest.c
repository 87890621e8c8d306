/*
 * The distance of two names is the number of insertions, deletions, replacements and exchanges of
 * neighbouring letters (optimal string alignment; Damerau 1964, Levenshtein 1966), ignoring case. A name is
 * near if its distance is at most a third of the wanted name's length, or if the wanted name is a prefix of
 * it.
 */
#include "bench/base/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"
#include "kernels/arithmetic.h"

enum { LETTERS_MAX = 32 }; /* longer words are not compared */

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* d[i][j] is the distance between the first i letters of a and the first j of b. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    int64_t d[LETTERS_MAX + 1][LETTERS_MAX + 1];
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = (int64_t)(i + j);
                continue;
            }
            d[i][j] = min_of(d[i - 1][j - 1] + !same_letter(a[i - 1], b[j - 1]),
                             min_of(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                d[i][j] = min_of(d[i][j], d[i - 2][j - 2] + 1);
        }
    return (size_t)d[n][m];
}

void suggest_offer(struct suggestion *s, const char *name)
{
    size_t length = strlen(name);
    if (s->length < 2 || s->length > LETTERS_MAX || length > LETTERS_MAX)
        return;
    size_t apart = distance(s->wanted, s->length, name, length);
    if (strncasecmp(s->wanted, name, s->length) == 0)
        apart = 1;
    if (apart > (s->length + 2) / 3 || (s->nearest && apart >= s->distance))
        return;
    s->nearest = name;
    s->distance = apart;
}

const char *suggest_text(const struct suggestion *s, const char *prefix, char text[SUGGESTION_TEXT])
{
    text[0] = '\0';
    if (s->nearest)
        snprintf(text, SUGGESTION_TEXT, "; did you mean %s%s?", prefix, s->nearest);
    return text;
}

bool names_read(const char *text, const char *(*name)(int index), bool *chosen, char nearest[SUGGESTION_TEXT])
{
    char *copy = copied(text), *next = copy;
    bool good = true;
    nearest[0] = '\0';
    for (char *item; good && (item = strsep(&next, ",")) != NULL;) {
        struct suggestion s = {item, strlen(item), NULL, 0};
        int i = 0;
        for (; name(i) && strcmp(name(i), item) != 0; i++)
            suggest_offer(&s, name(i));
        char near[SUGGESTION_TEXT];
        good = name(i) && !chosen[i];
        if (good)
            chosen[i] = true;
        else
            snprintf(nearest, SUGGESTION_TEXT, "; %.24s is %s%.48s", item,
                     name(i) ? "there twice" : "none of them", suggest_text(&s, "", near));
    }
    free(copy);
    return good;
}
