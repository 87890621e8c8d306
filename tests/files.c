#include "tests/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

int place_open(void **state)
{
    static struct place place;
    strcpy(place.root, "/tmp/gtmark-edges-XXXXXX");
    if (!mkdtemp(place.root))
        return -1;
    snprintf(place.path, sizeof place.path, "%s/edges", place.root);
    *state = &place;
    return 0;
}

int place_close(void **state)
{
    struct place *place = *state;
    unlink(place->path);
    return rmdir(place->root);
}

void write_bytes(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

void write_gzip(const char *path, const char *bytes, size_t size)
{
    gzFile file = gzopen(path, "wb1");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)size), size);
    assert_int_equal(gzclose(file), Z_OK);
}
