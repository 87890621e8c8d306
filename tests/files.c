#include "tests/files.h"
#include "tests/test.h"

#include <unistd.h>

#include <zlib.h>

int test_file_open(void **state)
{
    static struct test_file temp;
    strcpy(temp.root, "/tmp/gtmark-edges-XXXXXX");
    if (!mkdtemp(temp.root))
        return -1;
    snprintf(temp.path, sizeof temp.path, "%s/edges", temp.root);
    *state = &temp;
    return 0;
}

int test_file_close(void **state)
{
    struct test_file *temp = *state;
    unlink(temp->path);
    return rmdir(temp->root);
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

char *unwrapped(const char *text)
{
    char *joined = malloc(strlen(text) + 1), *to = joined;
    assert_non_null(joined);
    while (*text) {
        size_t blanks = *text == '\n' ? strspn(text + 1, " ") : 0;
        bool wrapped = blanks == 4 || blanks == 8;
        *to++ = wrapped ? ' ' : *text;
        text += wrapped ? 1 + blanks : 1;
    }
    *to = '\0';
    return joined;
}

int lines_of(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

const char *heading_in(const char *text)
{
    const char *at = strstr(text, "  check\n");
    if (!at)
        fail_msg("no table in: %s", text);
    while (at > text && at[-1] != '\n')
        at--;
    return at;
}
