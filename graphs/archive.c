/*
 *     archive = {"PK\3\4" version flags method time date crc32 packed size name-length extra-length name
 * extra data} ...
 *
 * Numbers are little-endian, of 2 bytes up to the date and for the two lengths, else of 4. Sizes of 2^32 - 1
 * are in the extra field: identifier 1, length, size and packed size, of 8 bytes each.
 */
#include "graphs/archive.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "kernels/arithmetic.h"

enum { HEADER = 30, EXTRA = 20, NAME_MOST = 255, BLOCK = 1 << 14, STORED = 0, DEFLATED = 8 };

struct archive {
    gzFile file;
    int64_t left; /* packed bytes that have not been read */
    bool stored;
    uint64_t crc, crc_wanted; /* of what has been read; of all */
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

static bool read_all(gzFile file, void *bytes, int size)
{
    return gzread(file, bytes, (unsigned)size) == size;
}

static bool skip(gzFile file, int64_t bytes)
{
    return bytes >= 0 && gzseek(file, bytes, SEEK_CUR) >= 0;
}

/* Reads a header up to its data. False at the end of the files, or if it is cut. */
static bool read_header(gzFile file, unsigned char head[HEADER], char name[NAME_MOST + 1], int64_t *packed)
{
    unsigned char extra[EXTRA] = {0};
    if (!read_all(file, head, HEADER) || memcmp(head, "PK\3\4", 4) != 0)
        return false;
    int length = (int)number_at(head + 26, 2), more = (int)number_at(head + 28, 2);
    int kept = (int)min_of(length, NAME_MOST), known = (int)min_of(more, EXTRA);
    if (!read_all(file, name, kept) || !skip(file, length - kept) || !read_all(file, extra, known) ||
        !skip(file, more - known))
        return false;
    name[kept] = '\0';
    *packed = (int64_t)number_at(head + 18, 4);
    if (*packed == UINT32_MAX && number_at(extra, 2) == 1 && known == EXTRA)
        *packed = (int64_t)number_at(extra + 12, 8);
    return *packed >= 0;
}

static struct archive *open_data(gzFile file, int64_t packed, bool stored, uint64_t crc)
{
    struct archive *a = calloc(1, sizeof *a);
    if (a && !stored && inflateInit2(&a->inflated, -MAX_WBITS) != Z_OK) {
        free(a);
        return NULL;
    }
    if (a) {
        a->file = file;
        a->left = packed;
        a->stored = stored;
        a->crc_wanted = crc;
    }
    return a;
}

struct archive *archive_find(void *gz, const char *name, const char **reason)
{
    enum { ENCRYPTED = 1, SIZES_AFTER = 8 };
    unsigned char head[HEADER];
    char own[NAME_MOST + 1];
    int64_t packed;
    *reason = NULL;
    while (read_header(gz, head, own, &packed)) {
        uint64_t flags = number_at(head + 6, 2), method = number_at(head + 8, 2);
        if (flags & (ENCRYPTED | SIZES_AFTER) || (method != STORED && method != DEFLATED)) {
            *reason = "is an archive of another kind than numpy.savez writes into a file";
            return NULL;
        }
        if (strcmp(own, name) == 0) {
            struct archive *a = open_data(gz, packed, method == STORED, number_at(head + 14, 4));
            *reason = a ? NULL : "no memory for its arrays";
            return a;
        }
        if (!skip(gz, packed))
            return NULL;
    }
    return NULL;
}

/* The next packed bytes, of which there are some left; false if the archive is cut. */
static bool refill(struct archive *a)
{
    int got = gzread(a->file, a->block, (unsigned)min_of(a->left, BLOCK));
    a->inflated.next_in = a->block;
    a->inflated.avail_in = (unsigned)max_of(got, 0);
    a->left -= max_of(got, 0);
    return got > 0;
}

static int read_stored(struct archive *a, void *bytes, int size)
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
    for (int code = Z_OK; code != Z_STREAM_END && z->avail_out == (unsigned)size;) {
        if (z->avail_in == 0 && a->left > 0 && !refill(a))
            return -1;
        code = inflate(z, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END)
            return -1;
    }
    return size - (int)z->avail_out;
}

int archive_read(struct archive *a, void *bytes, int size)
{
    int got = (a->stored ? read_stored : read_deflated)(a, bytes, size);
    if (got > 0)
        a->crc = crc32(a->crc, bytes, (unsigned)got);
    return got == 0 && a->crc != a->crc_wanted ? -1 : got;
}

void archive_free(struct archive *a)
{
    if (a && !a->stored)
        inflateEnd(&a->inflated);
    free(a);
}
