#include "analysis/tables/notes.h"

#include "analysis/tables/wrap.h"

#include <stdlib.h>
#include <string.h>

static void mark_of(size_t number, char mark[NOTES_MARK])
{
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char digits[NOTES_MARK];
    size_t used = 0;
    snprintf(digits, sizeof digits, "%zu", number);
    mark[0] = '\0';
    for (const char *d = digits; *d && used + 4 < NOTES_MARK; d++)
        used += (size_t)snprintf(mark + used, NOTES_MARK - used, "%s", raised[*d - '0']);
}

static size_t number_of(struct notes *n, const char *text)
{
    size_t i = 0;
    while (i < n->count && strcmp(n->texts[i], text) != 0)
        i++;
    if (i == n->count) {
        n->texts = realloc(n->texts, (i + 1) * sizeof *n->texts);
        if (!n->texts || !(n->texts[i] = strdup(text)))
            abort();
        n->count++;
    }
    return i + 1;
}

void notes_mark(struct notes *n, const char *text, char *cell, size_t size)
{
    char mark[NOTES_MARK];
    size_t used = strlen(cell);
    mark_of(number_of(n, text), mark);
    if (used + strlen(mark) < size)
        strcpy(cell + used, mark);
}

void notes_print(const struct notes *n, FILE *out)
{
    for (size_t i = 0; i < n->count; i++) {
        char mark[NOTES_MARK];
        mark_of(i + 1, mark);
        fprintf(out, "%s ", mark);
        wrap_text(out, n->texts[i], 2, 2);
    }
}

void notes_free(struct notes *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->texts[i]);
    free(n->texts);
    *n = (struct notes){0};
}
