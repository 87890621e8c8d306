/* Internal to this folder: a text that grows. Rows are many, and stdio takes longer for them than their
 * contents. */
#ifndef GTMARK_ANALYSIS_BUFFER_H
#define GTMARK_ANALYSIS_BUFFER_H

#include <stddef.h>
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

/* The text, which ends with a terminator that was put there, in no more memory than it needs. */
static inline char *buffer_end(struct buffer *b)
{
    char *text = realloc(b->text, b->size);
    return text ? text : b->text;
}

#endif
