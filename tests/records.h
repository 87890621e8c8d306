/* Records written by programs, for tests: deviations fail the test with a message. */
#ifndef GTMARK_TESTS_RECORDS_H
#define GTMARK_TESTS_RECORDS_H

#include <stdint.h>

#include "analysis/record/record.h"
#include "tests/program.h"

/* Runs a program that must exit with this status. */
struct ended run_words(const struct house *h, const char *words, int status);

/*
 * The valid record that is the whole text, in a file below the house's root, or printed by a run with
 * --format json.
 */
struct record *record_of(const char *text);
struct record *record_in(const struct house *h, const char *name);
struct record *run_json(const struct house *h, const char *words, int status);

/* Whether a file says the same of both rows. */
bool rows_equal(const struct row *a, const struct row *b);

/* Whether heads and rows are equal; then rows of a record, and their fields, which must not be null. */
bool records_equal(const struct record *a, const struct record *b);
size_t row_count(const struct record *record);
struct row *row_at(const struct record *record, size_t index);
int64_t count_at(const struct row *row, const char *path);
double real_at(const struct row *row, const char *path);
const char *text_at(const struct row *row, const char *path);

/* The field is null, with a reason that contains this text. */
/* The row does not have the field. */
void assert_absent(const struct row *row, const char *path);
void assert_null_because(const struct row *row, const char *path, const char *reason);

/* The resident memory of the step, of the only row, is what was planned: it touches that, and nothing else.
 */
void expect_resident_step(const struct house *h, const char *words);

/* The row was skipped, with a reason that contains this text, and was not timed. */
void assert_skipped(const struct row *row, const char *reason);

#endif
