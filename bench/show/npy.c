/*
 * NumPy's format, version 1.0 (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html):
 *
 *   "\x93NUMPY", bytes 1 and 0, the header's length (16 bits, little-endian), the header, the elements
 *
 * The header is a Python dictionary in ASCII, padded with blanks and terminated by a newline, so that the
 * elements begin at a multiple of 64 bytes. They have the byte order of the machine, which the header names.
 */

#include "bench/show/dump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernels/arithmetic.h"

enum { PREFIX = 10, ALIGNMENT = 64, HEADER_MAX = 256 };

#define BYTE_ORDER_MARK (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>')

struct npy npy_matrix(struct mat m)
{
    return (struct npy){*dtype_name(m.dtype), dtype_size(m.dtype), m.rows, m.cols, m.ld, m.data};
}

struct npy npy_indices32(const int32_t *data, int64_t count)
{
    return (struct npy){'i', sizeof *data, count, 0, 1, data};
}

struct npy npy_indices64(const int64_t *data, int64_t count)
{
    return (struct npy){'i', sizeof *data, count, 0, 1, data};
}

static bool write_header(FILE *out, const struct npy *a)
{
    char columns[32] = "", text[HEADER_MAX];
    if (a->cols)
        snprintf(columns, sizeof columns, " %" PRId64, a->cols);
    int length = snprintf(text, sizeof text,
                          "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (%" PRId64 ",%s), }",
                          BYTE_ORDER_MARK, a->kind, a->size, a->rows, columns);
    int padded = (int)round_up(PREFIX + length + 1, ALIGNMENT) - PREFIX;
    const unsigned char prefix[PREFIX] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(padded & 255), (unsigned char)(padded >> 8)};
    return fwrite(prefix, PREFIX, 1, out) == 1 && fprintf(out, "%-*s\n", padded - 1, text) == padded;
}

static bool write_elements(FILE *out, const struct npy *a)
{
    size_t width = (size_t)(a->cols ? a->cols : 1);
    for (int64_t i = 0; i < a->rows; i++)
        if (fwrite((const char *)a->data + (size_t)(i * a->ld) * a->size, a->size, width, out) != width)
            return false;
    return true;
}

bool npy_write(const char *path, const struct npy *a, struct message *error)
{
    FILE *out = fopen(path, "wb");
    bool written = out && write_header(out, a) && write_elements(out, a) && fflush(out) == 0;
    int reason = errno;
    if (out && fclose(out) != 0 && written) {
        written = false;
        reason = errno;
    }
    return written || complain(error, "%s: cannot be written: %s", path, strerror(reason));
}
