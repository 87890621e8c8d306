/* Names of a library that the process has already, in a library that it has: zlib's. Damaged copies of it say
 * nothing, and end nobody. */
#include "kernels/plugin_clash.h"

#include "tests/files.h"
#include "tests/test.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>
#include <zlib.h>

static char error[512];

/* A copy of the library; its size. */
static off_t copy_library(const char *path)
{
    enum { MOST = 1 << 22 };
    Dl_info library;
    char *bytes = malloc(MOST);
    assert_non_null(bytes);
    assert_true(dladdr((const void *)(uintptr_t)zlibVersion, &library) != 0);
    FILE *in = fopen(library.dli_fname, "rb");
    assert_non_null(in);
    size_t size = fread(bytes, 1, MOST, in);
    fclose(in);
    assert_between(size, 1, MOST - 1);
    write_bytes(path, bytes, size);
    free(bytes);
    return (off_t)size;
}

static ElfW(Ehdr) header_of(const char *path)
{
    ElfW(Ehdr) h;
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    assert_int_equal(fread(&h, sizeof h, 1, in), 1);
    fclose(in);
    return h;
}

TEST(test_whole)
{
    const struct test_file *f = *state;
    copy_library(f->path);
    assert_true(plugin_clashes(f->path, error, sizeof error));
    assert_non_null(strstr(error, ": exports "));
    assert_non_null(strstr(error, ", but its calls would go to that of "));
}

TEST(test_no_library)
{
    const struct test_file *f = *state;
    assert_false(plugin_clashes("/nonexistent.so", error, sizeof error));
    assert_false(plugin_clashes(f->root, error, sizeof error));
    write_bytes(f->path, "", 0);
    assert_false(plugin_clashes(f->path, error, sizeof error));
    write_bytes(f->path, BYTES("\177ELF\2\1\1"));
    assert_false(plugin_clashes(f->path, error, sizeof error));
}

/* Without the table of sections, which is at the end. */
TEST(test_cut)
{
    const struct test_file *f = *state;
    copy_library(f->path);
    for (off_t left = (off_t)header_of(f->path).e_shoff; left > 0; left -= left > 4096 ? 1009 : 7) {
        assert_int_equal(truncate(f->path, left), 0);
        assert_false(plugin_clashes(f->path, error, sizeof error));
    }
}

static void put_byte(int file, off_t at, unsigned char byte)
{
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
}

/* Each byte that says where something is. */
TEST(test_damaged)
{
    static const unsigned char bytes[] = {0, 1, 0x7f, 0xff};
    const struct test_file *f = *state;
    off_t size = copy_library(f->path), header = sizeof(ElfW(Ehdr));
    off_t skipped = (off_t)header_of(f->path).e_shoff - header;
    int file = open(f->path, O_RDWR);
    for (off_t i = 0; i + skipped < size; i++)
        for (size_t b = 0; b < sizeof bytes; b++) {
            off_t at = i < header ? i : i + skipped;
            unsigned char old;
            assert_int_equal(pread(file, &old, 1, at), 1);
            put_byte(file, at, bytes[b]);
            bool clashes = plugin_clashes(f->path, error, sizeof error);
            if (at <= EI_CLASS && old != bytes[b])
                assert_false(clashes);
            put_byte(file, at, old);
        }
    assert_true(plugin_clashes(f->path, error, sizeof error));
    close(file);
}

GROUP("tests", test_file_open, test_file_close)
