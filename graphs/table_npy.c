/*
 * NumPy's format:
 *
 *     "\x93NUMPY", major and minor version, the header's length (2 bytes; from version 2 on 4), the header,
 * the elements; little-endian
 *
 * The header is a Python dictionary, of which only what NumPy itself writes is understood:
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * The elements are row by row, in Fortran's order column by column.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graphs/lines.h"
#include "graphs/table.h"
#include "kernels/arithmetic.h"

enum { PREFIX = 8, HEADER_MOST = 1 << 14, BLOCK = 1 << 16 };

static const char magic[] = "\x93NUMPY";

#define VALUE_OF(name, type)                                                                                 \
    static double name(const unsigned char *bytes)                                                           \
    {                                                                                                        \
        type value;                                                                                          \
        memcpy(&value, bytes, sizeof value);                                                                 \
        return (double)value;                                                                                \
    }
VALUE_OF(of_f4, float)
VALUE_OF(of_f8, double)
VALUE_OF(of_i1, int8_t)
VALUE_OF(of_i2, int16_t)
VALUE_OF(of_i4, int32_t)
VALUE_OF(of_i8, int64_t)
VALUE_OF(of_u1, uint8_t)
VALUE_OF(of_u2, uint16_t)
VALUE_OF(of_u4, uint32_t)
VALUE_OF(of_u8, uint64_t)

static const struct element {
    const char *name;
    int64_t size;
    double (*value)(const unsigned char *bytes);
} elements[] = {
    {"f4", 4, of_f4}, {"f8", 8, of_f8}, {"i1", 1, of_i1}, {"i2", 2, of_i2},
    {"i4", 4, of_i4}, {"i8", 8, of_i8}, {"u1", 1, of_u1}, {"u2", 2, of_u2},
    {"u4", 4, of_u4}, {"u8", 8, of_u8}, {"b1", 1, of_u1}, {0},
};

/* The text of the dictionary, which ends with NUL. */
static bool read_header(struct text_lines *l, char header[HEADER_MOST + 1])
{
    unsigned char prefix[PREFIX], size[4] = {0};
    if (lines_bytes(l, prefix, PREFIX) != PREFIX || memcmp(prefix, magic, strlen(magic)) != 0)
        return !l->failed && lines_fail(l, "%s", l->container ? l->container->said : "is no .npy file");
    int major = prefix[6], digits = major == 1 ? 2 : 4;
    if (major < 1 || major > 3)
        return lines_fail(l, "version %d of NumPy's format; known are 1 to 3", major);
    if (lines_bytes(l, size, digits) != digits)
        return !l->failed && lines_fail(l, "the file ends before its header");
    uint32_t length = size[0] | (uint32_t)size[1] << 8 | (uint32_t)size[2] << 16 | (uint32_t)size[3] << 24;
    if (length > HEADER_MOST)
        return lines_fail(l, "a header of %" PRIu32 " bytes", length);
    if (lines_bytes(l, header, length) != (int64_t)length)
        return !l->failed && lines_fail(l, "the file ends within its header");
    header[length] = '\0';
    return true;
}

/* What follows a key of the dictionary; null if it is not there. */
static const char *value_at(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    return at ? at + strlen(key) : NULL;
}

static const struct element *scan_type(struct text_lines *l, const char *header)
{
    const char *text = value_at(header, "'descr': '");
    char order = text ? *text : '\0';
    const struct element *e = elements;
    while (text && e->name && (order == '\0' || strncmp(text + 1, e->name, 2) != 0 || text[3] != '\''))
        e++;
    if (text && e->name && (order == '<' || (order == '|' && e->size == 1)))
        return e;
    lines_fail(l, "the type of its elements is none of little-endian f4, f8, i1 to i8, u1 to u8 and b1");
    return NULL;
}

static bool scan_shape(struct text_lines *l, const char *header, struct number_table *t)
{
    const char *text = value_at(header, "'shape': (");
    int after = 0;
    t->cols = 1;
    if (text && (sscanf(text, "%9" SCNd64 ",)%n", &t->rows, &after) == 1 && after > 0 && t->rows > 0))
        return true;
    after = 0;
    if (text && sscanf(text, "%9" SCNd64 ", %9" SCNd64 ")%n", &t->rows, &t->cols, &after) == 2 && after > 0 &&
        t->rows > 0 && t->cols > 0)
        return true;
    return lines_fail(l, "its shape is not that of one or two dimensions below 10^9, with an element");
}

static bool scan_order(struct text_lines *l, const char *header, struct number_table *t)
{
    const char *text = value_at(header, "'fortran_order': ");
    t->by_columns = text && strncmp(text, "True", 4) == 0;
    return t->by_columns || (text && strncmp(text, "False", 5) == 0) ||
           lines_fail(l, "its header does not say whether its elements are in Fortran's order");
}

/* Takes the elements of a block. */
static bool take_values(struct number_table *t, struct text_lines *l, const struct element *e,
                        const unsigned char *bytes, int64_t size)
{
    for (int64_t at = 0; at < size; at += e->size)
        if (!table_value(t, e->value(bytes + at)))
            return lines_fail(l, "%g in row %" PRId64 ", column %" PRId64 " " TABLE_TOO_LARGE,
                              e->value(bytes + at),
                              (t->by_columns ? t->taken % t->rows : t->taken / t->cols) + 1,
                              (t->by_columns ? t->taken / t->rows : t->taken % t->cols) + 1);
    return true;
}

bool table_read_npy(struct number_table *t, struct text_lines *l)
{
    char header[HEADER_MOST + 1];
    unsigned char bytes[BLOCK];
    if (!read_header(l, header))
        return false;
    const struct element *e = scan_type(l, header);
    if (!e || !scan_shape(l, header, t) || !scan_order(l, header, t))
        return false;
    t->type = e->name;
    int64_t all = t->rows * t->cols * e->size;
    for (int64_t done = 0; done < all;) {
        int64_t wanted = min_of(all - done, BLOCK), got = lines_bytes(l, bytes, wanted);
        if (got < wanted)
            return !l->failed && lines_fail(l, "the file ends after %" PRId64 " of %" PRId64 " elements",
                                            (done + got) / e->size, all / e->size);
        if (!take_values(t, l, e, bytes, got))
            return false;
        done += got;
    }
    return lines_bytes(l, bytes, 1) == 0 || (!l->failed && lines_fail(l, "has bytes after its elements"));
}
