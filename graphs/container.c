#include "graphs/container.h"

#include <string.h>

/* ZIP's local file header (PKWARE, APPNOTE.TXT, 4.3.7): the length of the first file's name, and the name. */
enum { NAME_LENGTH = 26, NAME = 30 };

#define MAGIC(bytes) .magic = bytes, .size = sizeof bytes - 1
#define ZIP          MAGIC("PK\3\4")

static const struct container containers[] = {
    {MAGIC("\x93NUMPY"), .npy = true, .said = "is an array of NumPy, where text is expected"},
    {ZIP, .entry = ".npy", .npz = true, .said = "is a .npz archive of NumPy: write its arrays as .npy files"},
    {ZIP, .entry = "data.pkl", .said = "is written by torch.save: write its edges or numbers as text"},
    {ZIP, .said = "is a ZIP archive: unzip it first"},
    {MAGIC("ustar"), .at = 257, .said = "is a tar archive: unpack it first (tar -xf)"},
    {MAGIC("BZh"), .said = "is compressed by bzip2: bunzip2 it first"},
    {MAGIC("\xfd"
           "7zXZ"),
     .said = "is compressed by xz: unxz it first"},
    {MAGIC("\x28\xb5\x2f\xfd"), .said = "is compressed by zstd: unzstd it first"},
    {MAGIC("\x1f\x8b"), .said = "is compressed by gzip twice: gunzip it first"},
    {MAGIC("7z\xbc\xaf\x27\x1c"), .said = "is a 7z archive: unpack it first (7z x)"},
    {MAGIC("\x89HDF\r\n"), .said = "is an HDF5 file: write its edges or numbers as text"},
    {MAGIC("PAR1"), .said = "is a Parquet file: write its edges or numbers as text"},
    {MAGIC("\xff\xfe"), .said = "is text in UTF-16: save it as UTF-8"},
    {MAGIC("\xfe\xff"), .said = "is text in UTF-16: save it as UTF-8"},
};

/* Whether the name of the first file of a ZIP archive ends so. */
static bool first_ends(const char *head, size_t size, const char *end)
{
    size_t length = strlen(end), name = size < NAME ? 0 : (unsigned char)head[NAME_LENGTH];
    return name >= length && size >= NAME + name && memcmp(head + NAME + name - length, end, length) == 0;
}

const struct container *container_find(const char *head, size_t size)
{
    for (size_t i = 0; i < sizeof containers / sizeof *containers; i++) {
        const struct container *c = &containers[i];
        if (size >= c->at + c->size && memcmp(head + c->at, c->magic, c->size) == 0 &&
            (!c->entry || first_ends(head, size, c->entry)))
            return c;
    }
    return NULL;
}
