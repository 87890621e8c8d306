/*
 *     archive = file...
 *     file = "PK\3\4" version flags method time date crc32 packed size name-length extra-length name extra
 *            data
 *
 * Numbers are little-endian, of 2 bytes up to the date and for the two lengths, else of 4. NumPy sets
 * `packed` to 2^32 - 1; extra then is 1 and its own length, of 2 bytes, the size and what is packed, of 8.
 */
#include "graphs/archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "kernels/arithmetic.h"

enum { HEADER = 30, NAME_MOST = 512, EXTRA = 20, BLOCK = 1 << 14, STORED = 0, DEFLATED = 8 };

struct archive {
    gzFile file;
    bool stored;
    int64_t left;              /* packed bytes that have not been read */
    uint64_t crc, crc_of_file; /* of what has been read; as it should be at the end */
    z_stream inflated;
    unsigned char block[BLOCK];
};

static uint64_t number_at(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    while (bytes--)
        value = value << 8 | at[bytes];
    return value;
}

/* Reads a header up to its data; false if none is here that is understood. */
static bool read_header(struct archive *a, char name[NAME_MOST])
{
    enum { ENCRYPTED = 1, SIZES_AFTER = 8 };
    unsigned char head[HEADER], more[NAME_MOST] = {0};
    if (gzread(a->file, head, HEADER) != HEADER || memcmp(head, "PK\3\4", 4) != 0)
        return false;
    int method = (int)number_at(head + 8, 2), length = (int)number_at(head + 26, 2),
        both = length + (int)number_at(head + 28, 2);
    if (number_at(head + 6, 2) & (ENCRYPTED | SIZES_AFTER) || (method != STORED && method != DEFLATED) ||
        both > NAME_MOST - EXTRA || gzread(a->file, more, (unsigned)both) != both)
        return false;
    a->stored = method == STORED;
    a->crc_of_file = number_at(head + 14, 4);
    a->left = (int64_t)number_at(head + 18, 4);
    if (a->left == UINT32_MAX && number_at(more + length, 2) == 1)
        a->left = (int64_t)number_at(more + length + 12, 8);
    snprintf(name, NAME_MOST, "%.*s", length, (const char *)more);
    return a->left >= 0;
}

struct archive *archive_find(void *gz, const char *name)
{
    char own[NAME_MOST] = "";
    struct archive *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->file = gz;
    bool found = read_header(a, own);
    while (found && strcmp(own, name) != 0)
        found = gzseek(gz, a->left, SEEK_CUR) >= 0 && read_header(a, own);
    if (found && (a->stored || inflateInit2(&a->inflated, -MAX_WBITS) == Z_OK))
        return a;
    free(a);
    return NULL;
}

static int read_packed(struct archive *a, void *bytes, int size)
{
    int got = gzread(a->file, bytes, (unsigned)min_of(a->left, size));
    a->left -= max_of(got, 0);
    return got > 0 || a->left == 0 ? got : -1;
}

static int read_deflated(struct archive *a, void *bytes, int size)
{
    z_stream *z = &a->inflated;
    z->next_out = bytes;
    z->avail_out = (unsigned)size;
    for (int code = Z_OK; code == Z_OK && z->avail_out == (unsigned)size;) {
        if (z->avail_in == 0) {
            int got = read_packed(a, a->block, BLOCK);
            z->next_in = a->block;
            z->avail_in = (unsigned)max_of(got, 0);
        }
        code = inflate(z, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END)
            return -1;
    }
    return size - (int)z->avail_out;
}

int archive_read(struct archive *a, void *bytes, int size)
{
    int got = (a->stored ? read_packed : read_deflated)(a, bytes, size);
    if (got > 0)
        a->crc = crc32(a->crc, bytes, (unsigned)got);
    return got == 0 && a->crc != a->crc_of_file ? -1 : got;
}

void archive_free(struct archive *a)
{
    if (a && !a->stored)
        inflateEnd(&a->inflated);
    free(a);
}
