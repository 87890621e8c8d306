/* Internal to this folder: JSON as text, and a text that grows: rows are many, and stdio takes longer for
 * them than their contents. */
#ifndef GTMARK_ANALYSIS_VALUE_TEXT_H
#define GTMARK_ANALYSIS_VALUE_TEXT_H

#include "analysis/record/scan.h"
#include "analysis/record/value.h"

#include <stdlib.h>
#include <string.h>

/* Empty if all zero; `text`, without a terminator, is freed by the caller. */
struct buffer {
    char *text;
    size_t size, room;
};

static inline void buffer_put(struct buffer *b, const char *text, size_t size)
{
    if (b->room - b->size < size) {
        b->room = 2 * b->room + size;
        b->text = realloc(b->text, b->room);
        if (!b->text)
            abort();
    }
    if (size > 0)
        memcpy(b->text + b->size, text, size);
    b->size += size;
}

static inline void buffer_char(struct buffer *b, char c)
{
    buffer_put(b, &c, 1);
}

static inline void buffer_string(struct buffer *b, const char *text)
{
    buffer_put(b, text, strlen(text));
}

/* Like value_parse, for text[size]. */
struct value *value_parse_part(const char *text, size_t size, char *error);

/* Adds a text of this length, which is UTF-8, in quotes, as cJSON prints it. */
void value_put_text(const char *text, size_t length, struct buffer *out);

/*
 * Writes JSON of any layout with `indent` spaces per level, from level `depth` on for all lines but the
 * first; on one line if `indent` is negative.
 */
void value_lay_out(const char *json, int indent, int depth, FILE *out);

#endif
