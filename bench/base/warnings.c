#include "bench/base/warnings.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"
#include "analysis/tables/wrap.h"

int warnings_add(const struct subject *s, const struct warning_kind *kind, double value, const char *format,
                 ...)
{
    struct warnings *w = s->warnings;
    w->list = grow(w->list, w->count, sizeof *w->list);
    struct warning *added = &w->list[w->count++];
    *added = (struct warning){kind, s->row, s->program, value, ""};
    va_list amount;
    va_start(amount, format);
    vsnprintf(added->amount, sizeof added->amount, format, amount);
    va_end(amount);
    return 1;
}

/* Writes "[500 nodes, forward, step; 1000 nodes, step]", the rows of a kind from warning `first` on; a row of
 * an op alone has one program, which is not named. */
static void put_rows(const struct warnings *w, size_t first, describe_row *describe, const void *context,
                     FILE *out)
{
    enum { NAMED = 6 };
    int64_t row = -1, rows = 0;
    putc('[', out);
    for (size_t i = first; i < w->count; i++) {
        const struct warning *one = &w->list[i];
        char text[AXES_TEXT];
        if (one->kind != w->list[first].kind)
            continue;
        rows += one->row != row;
        if (one->row != row && rows <= NAMED) {
            describe(context, one->row, text);
            fprintf(out, "%s%s", i > first ? "; " : "", text);
        }
        if (one->program && strcmp(one->program, "kernel") != 0 && rows <= NAMED)
            fprintf(out, ", %s", one->program);
        row = one->row;
    }
    if (rows > NAMED)
        fprintf(out, "; and %lld more row%s", (long long)(rows - NAMED), rows - NAMED == 1 ? "" : "s");
    fputs("] ", out);
}

/* Writes what the warnings of a kind say, with the smallest and the largest amount. */
static void put_what(const struct warnings *w, size_t first, FILE *out)
{
    const struct warning_kind *kind = w->list[first].kind;
    const struct warning *least = &w->list[first], *most = least;
    for (size_t i = first; i < w->count; i++)
        if (w->list[i].kind == kind) {
            least = w->list[i].value < least->value ? &w->list[i] : least;
            most = w->list[i].value > most->value ? &w->list[i] : most;
        }
    const char *gap = strstr(kind->what, "%s");
    bool same = strcmp(least->amount, most->amount) == 0;
    fprintf(out, "%.*s%s%s%s%s%s%s", (int)(gap - kind->what), kind->what, least->amount, same ? "" : " to ",
            same ? "" : most->amount, gap + 2, kind->remedy ? ": " : "", kind->remedy ? kind->remedy : "");
}

void warnings_print(const struct warnings *w, describe_row *describe, const void *context, FILE *out)
{
    for (size_t i = 0; i < w->count; i++) {
        size_t first = 0;
        while (w->list[first].kind != w->list[i].kind)
            first++;
        if (first < i)
            continue;
        char *text;
        size_t size;
        FILE *line = open_text(&text, &size);
        fprintf(line, "%s: ", w->list[i].kind->label);
        put_rows(w, i, describe, context, line);
        put_what(w, i, line);
        fclose(line);
        wrap_text(out, text, 0, 4);
        free(text);
    }
}

void warnings_free(struct warnings *w)
{
    free(w->list);
    *w = (struct warnings){0};
}
