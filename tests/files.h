/* Temporary files for tests of readers. */
#ifndef GTMARK_TESTS_FILES_H
#define GTMARK_TESTS_FILES_H

#include <stddef.h>

/* A temporary directory and a file in it. */
struct test_file {
    char root[32], path[64];
};

/* Fixtures of a test group: *state is a struct test_file whose file does not exist yet. */
int test_file_open(void **state);
int test_file_close(void **state);

/* Writes the file; fails the test if that is not possible. */
void write_bytes(const char *path, const char *bytes, size_t size);
void write_gzip(const char *path, const char *bytes, size_t size);

/* The bytes of a literal, which may contain NUL, and their number. */
#define BYTES(text) text, sizeof text - 1

/* The text with wrapped lines joined: line breaks before an indentation are blanks. Free it. */
char *unwrapped(const char *text);

/* The number of its lines. */
int lines_of(const char *text);

/* What a table of rows prints below its title: the line that ends with "check", and on. */
const char *heading_in(const char *text);

#endif
