/* Records and rows written by programs. */
#include "tests/records.h"

#include <math.h>

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

bool rows_equal(const struct row *a, const struct row *b)
{
    struct buffer x = {0}, y = {0};
    row_put_members(a, &x);
    row_put_members(b, &y);
    bool equal = x.size == y.size && memcmp(x.text, y.text, x.size) == 0;
    free(x.text);
    free(y.text);
    return equal;
}

bool records_equal(const struct record *a, const struct record *b)
{
    bool equal = value_equal(record_head(a), record_head(b)) && row_count(a) == row_count(b);
    for (size_t i = 0; equal && i < row_count(a); i++)
        equal = rows_equal(row_at(a, i), row_at(b, i));
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

static const struct field *field_at(const struct row *row, const char *path, enum field_type type)
{
    const struct field *field = schema_find(path);
    if (!field || field->type != type || !row_has_field(row, field))
        fail_msg("%s: not %s, but %s", path, field_type_name(type), row_reason(row, path));
    return field;
}

int64_t count_at(const struct row *row, const char *path)
{
    return *field_count(row, field_at(row, path, FIELD_COUNT));
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
    return *field_text(row, field_at(row, path, FIELD_TEXT));
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

void expect_resident_step(const struct house *h, const char *words)
{
    char all[512];
    if (env_set("GTMARK_SMALL"))
        skip(); /* sanitizers have memory of their own */
    snprintf(all, sizeof all, "%s --phase step --runs 1 --repetitions 1 --warmup 0 --no-check --threads 2",
             words);
    struct record *record = run_json(h, all, 0);
    const struct row *row = row_at(record, 0);
    double planned = real_at(row, "step.memory.planned"), resident = real_at(row, "step.memory.resident");
    if (!(fabs(resident / planned - 1) < 0.05))
        fail_msg("%s: %g bytes resident, %g planned", words, resident, planned);
    record_free(record);
}
