/* Memory and streams into memory that are there: without memory the program ends. */
#ifndef GTMARK_ANALYSIS_ALLOCATE_H
#define GTMARK_ANALYSIS_ALLOCATE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for n elements, at least one, all 0. */
static inline void *allocate(size_t n, size_t size)
{
    void *list = calloc(n ? n : 1, size);
    if (!list)
        abort();
    return list;
}

/* A list of n elements with room for one more: twice as much whenever n is a power of 2. */
static inline void *grow(void *list, size_t n, size_t size)
{
    if ((n & (n - 1)) != 0)
        return list;
    list = realloc(list, (n ? 2 * n : 1) * size);
    if (!list)
        abort();
    return list;
}

/* The first of a sorted list's elements that is not less than the key, as `order` says; n: all are. */
static inline size_t first_not_less(const void *list, size_t n, size_t size, const void *key,
                                    int order(const void *, const void *))
{
    size_t low = 0;
    for (size_t high = n; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (order((const char *)list + middle * size, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether both texts are there, and the same. */
static inline bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* Whether a null-terminated list, or null, has this text. */
static inline bool has_name(const char *const *list, const char *name)
{
    while (list && *list && strcmp(*list, name) != 0)
        list++;
    return list && *list;
}

/* A stream into a text, which is there, to be freed, once it is closed. */
static inline FILE *open_text(char **text, size_t *size)
{
    FILE *memory = open_memstream(text, size);
    if (!memory)
        abort();
    return memory;
}

/* A text, to be freed. */
static inline char *format_values(const char *format, va_list values)
{
    char *text;
    if (vasprintf(&text, format, values) < 0)
        abort();
    return text;
}

__attribute__((format(printf, 1, 2))) static inline char *format_text(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *text = format_values(format, values);
    va_end(values);
    return text;
}

/* A text that grows, for what stdio takes longer for than its contents. Empty if all zero; `text`, without a
 * terminator, is freed by the caller. */
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

/* A copy of a text, or of at most its first `length` bytes; to be freed. */
static inline char *copied_part(const char *text, size_t length)
{
    char *copy = strndup(text, length);
    if (!copy)
        abort();
    return copy;
}

static inline char *copied(const char *text)
{
    return copied_part(text, strlen(text));
}

/* Appends to a text, of which at most `size` bytes are kept. */
__attribute__((format(printf, 3, 4))) static inline void append(char *text, size_t size, const char *format,
                                                                ...)
{
    size_t used = strlen(text);
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, size - used, format, values);
    va_end(values);
}

#endif
