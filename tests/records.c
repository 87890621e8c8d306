/* Records and rows written by programs. */
#include "tests/records.h"

#include "analysis/record/result_file.h"
#include "tests/test.h"

struct ended run_words(const struct house *h, const char *words, int status)
{
    struct ended e = program_run(h, words, NULL);
    if (e.status != status)
        fail_msg("%s: status %d, not %d\n%s%s", words, e.status, status, e.out, e.err);
    return e;
}

struct record *record_of(const char *text)
{
    char error[MESSAGE_SIZE];
    struct record *record = record_parse(text, error);
    if (!record)
        fail_msg("stdout: %s\n%s", error, text);
    return record;
}

bool records_equal(const struct record *a, const struct record *b)
{
    bool equal = value_equal(record_head(a), record_head(b)) && row_count(a) == row_count(b);
    for (size_t i = 0; equal && i < row_count(a); i++)
        equal = row_equal(row_at(a, i), row_at(b, i));
    return equal;
}

struct record *record_in(const struct house *h, const char *name)
{
    char path[PATH_MAX], error[MESSAGE_SIZE];
    snprintf(path, sizeof path, "%s/%s", h->root, name);
    struct record *record = record_load(path, error);
    if (!record)
        fail_msg("%s", error);
    return record;
}

struct record *run_json(const struct house *h, const char *words, int status)
{
    char all[1024];
    snprintf(all, sizeof all, "%s --format json", words);
    struct ended e = run_words(h, all, status);
    struct record *record = record_of(e.out);
    ended_free(&e);
    return record;
}

size_t row_count(const struct record *record)
{
    return rows_count(record_rows(record));
}

struct row *row_at(const struct record *record, size_t index)
{
    struct row *row = rows_at(record_rows(record), index);
    assert_non_null(row);
    return row;
}

int64_t count_at(const struct row *row, const char *path)
{
    int64_t value;
    if (!row_get_count(row, path, &value))
        fail_msg("%s: no count, but %s", path, row_reason(row, path));
    return value;
}

double real_at(const struct row *row, const char *path)
{
    double value;
    if (!row_get_real(row, path, &value))
        fail_msg("%s: no number, but %s", path, row_reason(row, path));
    return value;
}

const char *text_at(const struct row *row, const char *path)
{
    const char *text;
    assert_true(row_get_text(row, path, &text));
    return text;
}

void assert_absent(const struct row *row, const char *path)
{
    if (row_has(row, path))
        fail_msg("%s is there", path);
}

void assert_null_because(const struct row *row, const char *path, const char *reason)
{
    assert_false(row_has(row, path));
    const char *given = row_reason(row, path);
    if (!given || !strstr(given, reason))
        fail_msg("%s: the reason is '%s', not '%s'", path, given ? given : "", reason);
}

void assert_skipped(const struct row *row, const char *reason)
{
    assert_string_equal(text_at(row, "status"), "skipped");
    if (!strstr(text_at(row, "reason"), reason))
        fail_msg("'%s', not '%s'", text_at(row, "reason"), reason);
    assert_null_because(row, "step.time.median", "");
}
