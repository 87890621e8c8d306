/* What a program leaves as records, for tests: whatever is not as asked for fails the test, saying what it
 * is. */
#ifndef GTMARK_TESTS_RECORDS_H
#define GTMARK_TESTS_RECORDS_H

#include <stdint.h>

#include "analysis/record/record.h"
#include "tests/program.h"

/* Runs a program that ends with this status. */
struct ended run_words(const struct house *h, const char *words, int status);

/* The valid record that is all of a text, that is in a file below the house's root, and that a run with
 * --format json puts on stdout. */
struct record *record_of(const char *text);
struct record *record_in(const struct house *h, const char *name);
struct record *run_json(const struct house *h, const char *words, int status);

/* Records whose heads and rows are alike; rows of a record, and their fields, which must not be null. */
bool records_equal(const struct record *a, const struct record *b);
size_t row_count(const struct record *record);
struct row *row_at(const struct record *record, size_t index);
int64_t count_at(const struct row *row, const char *path);
double real_at(const struct row *row, const char *path);
const char *text_at(const struct row *row, const char *path);

/* The field is null, for a reason that holds this text. */
void assert_null_because(const struct row *row, const char *path, const char *reason);

#endif
