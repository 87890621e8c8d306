/* Records and rows of programs that ran. */
#include "tests/records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct ended run_words(const struct house *h, const char *words, int status)
{
    struct ended e = program_run(h, words, NULL);
    if (e.status != status)
        fail_msg("%s: status %d, not %d\n%s%s", words, e.status, status, e.out, e.err);
    return e;
}

json_t *record_of(const char *text)
{
    json_error_t problem;
    char error[MESSAGE_SIZE];
    json_t *record = json_loads(text, JSON_REJECT_DUPLICATES, &problem);
    if (!record)
        fail_msg("stdout: line %d: %s\n%s", problem.line, problem.text, text);
    if (!record_validate(record, error))
        fail_msg("%s", error);
    return record;
}

json_t *record_in(const struct house *h, const char *name)
{
    char path[PATH_MAX], error[MESSAGE_SIZE];
    snprintf(path, sizeof path, "%s/%s", h->root, name);
    json_t *record = record_load(path, error);
    if (!record)
        fail_msg("%s", error);
    return record;
}

json_t *run_json(const struct house *h, const char *words, int status)
{
    char all[1024];
    snprintf(all, sizeof all, "%s --format json", words);
    struct ended e = run_words(h, all, status);
    json_t *record = record_of(e.out);
    ended_free(&e);
    return record;
}

size_t row_count(const json_t *record)
{
    return json_array_size(json_object_get(record, "rows"));
}

const json_t *row_at(const json_t *record, size_t index)
{
    const json_t *row = json_array_get(json_object_get(record, "rows"), index);
    assert_non_null(row);
    return row;
}

int64_t count_at(const json_t *row, const char *path)
{
    int64_t value;
    if (!row_get_count(row, path, &value))
        fail_msg("%s: no count, but %s", path, row_reason(row, path));
    return value;
}

double real_at(const json_t *row, const char *path)
{
    double value;
    if (!row_get_real(row, path, &value))
        fail_msg("%s: no number, but %s", path, row_reason(row, path));
    return value;
}

const char *text_at(const json_t *row, const char *path)
{
    const char *text;
    assert_true(row_get_text(row, path, &text));
    return text;
}

void assert_null_because(const json_t *row, const char *path, const char *reason)
{
    assert_true(json_is_null(row_get(row, path)));
    const char *given = row_reason(row, path);
    if (!given || !strstr(given, reason))
        fail_msg("%s: the reason is '%s', not '%s'", path, given ? given : "", reason);
}
