#include "analysis/tables/notes.h"

#include "analysis/tables/wrap.h"

#include <stdlib.h>
#include <string.h>

static char *copy_of(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        abort();
    return copy;
}

static struct note *find_note(struct notes *n, const char *text)
{
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->list[i].text, text) == 0)
            return &n->list[i];
    n->list = realloc(n->list, (n->count + 1) * sizeof *n->list);
    if (!n->list)
        abort();
    n->list[n->count] = (struct note){copy_of(text), copy_of(""), 0};
    return &n->list[n->count++];
}

void notes_add(struct notes *n, const char *text, const char *row)
{
    struct note *note = find_note(n, text);
    char *rows;
    if (!row || !*row || note->count++ >= NOTES_ROWS)
        return;
    if (asprintf(&rows, "%s%s%s", note->rows, *note->rows ? "; " : "", row) < 0)
        abort();
    free(note->rows);
    note->rows = rows;
}

void notes_print(struct notes *n, FILE *out, int width)
{
    for (size_t i = 0; i < n->count; i++) {
        const struct note *note = &n->list[i];
        char *line, more[32] = "";
        if (note->count > NOTES_ROWS)
            snprintf(more, sizeof more, "; %zu more", note->count - NOTES_ROWS);
        if (asprintf(&line, note->count ? "%s (%s%s)" : "%s", note->text, note->rows, more) < 0)
            abort();
        wrap_within(out, line, width, 4);
        free(line);
    }
    notes_free(n);
}

void notes_free(struct notes *n)
{
    for (size_t i = 0; i < n->count; i++) {
        free(n->list[i].text);
        free(n->list[i].rows);
    }
    free(n->list);
    *n = (struct notes){0};
}
