/*
 * A span is a path of words separated by dots. Between consecutive entries of one phase, the ranges of their
 * common prefix stay open.
 */
#include "models/tape/ranges.h"

#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 64 };

/* The path after its first word. */
static const char *rest(const char *path)
{
    path += strcspn(path, ".");
    return *path ? path + 1 : path;
}

static bool same_word(const char *a, const char *b)
{
    size_t length = strcspn(a, ".");
    return length > 0 && length == strcspn(b, ".") && memcmp(a, b, length) == 0;
}

static void pop_words(const struct ranges *r, const char *path)
{
    for (; *path; path = rest(path))
        r->device->range_pop(r->context);
}

static void push_words(const struct ranges *r, const char *path)
{
    for (; *path; path = rest(path)) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(path, "."), path);
        r->device->range_push(r->context, name);
    }
}

void ranges_move(struct ranges *r, const char *phase, const char *span)
{
    const char *from = r->span, *to = span;
    if (!r->phase || strcmp(r->phase, phase) != 0) {
        ranges_leave(r);
        r->device->range_push(r->context, phase);
        from = "";
    }
    while (same_word(from, to))
        from = rest(from), to = rest(to);
    pop_words(r, from);
    push_words(r, to);
    r->phase = phase;
    r->span = span;
}

void ranges_leave(struct ranges *r)
{
    if (!r->phase)
        return;
    pop_words(r, r->span);
    r->device->range_pop(r->context);
    r->phase = r->span = NULL;
}
