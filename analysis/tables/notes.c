#include "analysis/tables/notes.h"

#include "analysis/statistics/allocate.h"
#include "analysis/tables/wrap.h"

#include <stdlib.h>
#include <string.h>

static struct note *find_note(struct notes *n, const char *text)
{
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->list[i].text, text) == 0)
            return &n->list[i];
    n->list = grow(n->list, n->count, sizeof *n->list);
    n->list[n->count] = (struct note){format_text("%s", text), format_text("%s", ""), 0};
    return &n->list[n->count++];
}

void notes_add(struct notes *n, const char *text, const char *row)
{
    struct note *note = find_note(n, text);
    if (!row || !*row || note->count++ >= NOTES_ROWS)
        return;
    char *rows = format_text("%s%s%s", note->rows, *note->rows ? "; " : "", row);
    free(note->rows);
    note->rows = rows;
}

void notes_print(struct notes *n, FILE *out, int width)
{
    for (size_t i = 0; i < n->count; i++) {
        const struct note *note = &n->list[i];
        char more[32] = "";
        if (note->count > NOTES_ROWS)
            snprintf(more, sizeof more, "; %zu more", note->count - NOTES_ROWS);
        char *line = format_text(note->count ? "%s (%s%s)" : "%s", note->text, note->rows, more);
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
