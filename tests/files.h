/* Files for tests of what reads them. */
#ifndef GTMARK_TESTS_FILES_H
#define GTMARK_TESTS_FILES_H

#include <stddef.h>

/* Where a test group writes: a directory, and in it one file. */
struct test_file {
    char root[32], path[64];
};

/* Fixtures of a test group: *state is a struct test_file whose file does not exist yet. */
int test_file_open(void **state);
int test_file_close(void **state);

/* The file at path anew; where it cannot be written, the test fails. */
void write_bytes(const char *path, const char *bytes, size_t size);
void write_gzip(const char *path, const char *bytes, size_t size);

/* The bytes of a literal, those of NUL among them, and how many. */
#define TEXT(text) text, sizeof text - 1

#endif
