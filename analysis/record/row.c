/*
 * Rows: path-based access to nested JSON objects, with the schema as the authority.
 *
 * Reals are written with 15 significant digits:
 * what survives from decimal to double and back, and more than any measurement has.
 */
#include "analysis/record/row.h"

#include "analysis/record/json.h"
#include "analysis/record/schema.h"
#include "analysis/statistics/robust.h"
#include "analysis/statistics/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void misuse(const char *what, const char *path)
{
    fprintf(stderr, "row: %s: %s\n", path, what);
    abort();
}

/* Copies the first part of a dotted path and returns the rest, null after the last part. */
static const char *split(const char *path, char part[SCHEMA_PATH])
{
    size_t length = strcspn(path, ".");
    if (length >= SCHEMA_PATH)
        misuse("the path is too long", path);
    memcpy(part, path, length);
    part[length] = '\0';
    return path[length] ? path + length + 1 : NULL;
}

const char *program_name(size_t index)
{
    static const char *const names[TIMED] = {"forward", "step", "kernel", "encoding"};
    return names[index];
}

struct row *row_new(void)
{
    return row_of_json(json_object());
}

struct row *row_copy(const struct row *row)
{
    return row_of_json(json_deep_copy(json_of_row(row)));
}

void row_free(struct row *row)
{
    json_decref(json_of_row(row));
}

static const struct value *at(const struct row *row, const char *path)
{
    return value_of_json(json_at(json_of_row(row), path));
}

bool row_has(const struct row *row, const char *path)
{
    return at(row, path);
}

bool row_is_null(const struct row *row, const char *path)
{
    return at(row, path) && value_kind(at(row, path)) == VALUE_NULL;
}

bool row_same(const struct row *a, const struct row *b, const char *path)
{
    const struct value *x = at(a, path), *y = at(b, path);
    return (!x && !y) || value_equal(x, y);
}

bool row_equal(const struct row *a, const struct row *b)
{
    return json_equal(json_of_row(a), json_of_row(b));
}

/* Puts a value, taking it over, at a path below `object`, making the objects on the way. */
static void put(json_t *object, const char *path, json_t *value)
{
    char part[SCHEMA_PATH];
    const char *rest;
    while ((rest = split(path, part))) {
        if (!json_is_object(json_object_get(object, part)))
            json_object_set_new(object, part, json_object());
        object = json_object_get(object, part);
        path = rest;
    }
    if (json_object_set_new(object, part, value) != 0)
        misuse("no memory, or not a row", path);
}

/* Puts a value that may be missing (null pointer), because JSON has no form for it. */
static void put_or_reason(struct row *row, const char *path, enum field_type type, json_t *value,
                          const char *reason)
{
    const struct field *field = schema_find(path);
    if (!field || field->type != type)
        misuse("the schema has no such field of this type", path);
    if (!value) {
        row_set_null(row, path, reason);
        return;
    }
    put(json_of_row(row), path, value);
    json_object_del(json_object_get(json_of_row(row), "reasons"), path);
}

void row_set_text(struct row *row, const char *path, const char *value)
{
    put_or_reason(row, path, FIELD_TEXT, json_of_value(value_new_text(value)), "no memory");
}

void row_set_count(struct row *row, const char *path, int64_t value)
{
    put_or_reason(row, path, FIELD_COUNT, json_integer(value), "no memory");
}

void row_set_real(struct row *row, const char *path, double value)
{
    put_or_reason(row, path, FIELD_REAL, json_real(value), "not a finite number");
}

void row_set_reals(struct row *row, const char *path, const double *values, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n && array; i++)
        if (json_array_append_new(array, json_real(values[i])) != 0) {
            json_decref(array);
            array = NULL;
        }
    put_or_reason(row, path, FIELD_REALS, array, "not finite numbers");
}

void row_set_null(struct row *row, const char *path, const char *reason)
{
    bool found = false;
    json_t *reasons = json_object_get(json_of_row(row), "reasons");
    for (size_t i = 0; i < schema_fields_count; i++) {
        const char *field = schema_fields[i].path;
        if (!schema_is_under(field, path))
            continue;
        found = true;
        put(json_of_row(row), field, json_null());
        json_object_del(reasons, field);
    }
    if (!found)
        misuse("the schema has no such field or group", path);
    if (!reasons) {
        reasons = json_object();
        json_object_set_new(json_of_row(row), "reasons", reasons);
    }
    if (json_object_set_new(reasons, path, json_of_value(value_new_text(reason))) != 0)
        misuse("no memory for the reason", path);
}

void row_set_rest_null(struct row *row, const char *reason)
{
    for (size_t i = 0; i < schema_fields_count; i++) {
        char path[SCHEMA_PATH];
        snprintf(path, sizeof path, "%s", schema_fields[i].path);
        if (row_has(row, path))
            continue;
        /* The shortest prefix of which the row has nothing: one reason for a whole group. */
        for (char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.')) {
            *dot = '\0';
            if (!row_has(row, path))
                break;
            *dot = '.';
        }
        row_set_null(row, path, reason);
    }
}

/* Sets a statistic, or null for the reason if there is none. */
static void set_statistic(struct row *row, const char *group, const char *name, double value,
                          const char *reason)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.%s", group, name);
    put_or_reason(row, path, FIELD_REAL, json_real(value), reason);
}

static void set_intervals(struct row *row, const char *group, const double *samples, const struct summary *s)
{
    struct interval ranks = median_interval_ranks(samples, s->n);
    struct interval blocks = median_interval_blocks(samples, s->n, 1);
    bool few = s->n < AUTOCORRELATION_MIN;
    set_statistic(row, group, "ci95_low", few ? s->ci95_low : ranks.low, "not a finite number");
    set_statistic(row, group, "ci95_high", few ? s->ci95_high : ranks.high, "not a finite number");
    set_statistic(row, group, "independent", few ? NAN : ranks.independent, "needs 6 samples");
    set_statistic(row, group, "blocks95_low", few ? NAN : blocks.low, "needs 6 samples");
    set_statistic(row, group, "blocks95_high", few ? NAN : blocks.high, "needs 6 samples");
}

static void set_trend(struct row *row, const char *group, const double *samples, size_t n)
{
    char path[SCHEMA_PATH];
    struct drift drift = drift_find(samples, n);
    set_statistic(row, group, "drift", drift.change, "needs 10 samples");
    set_statistic(row, group, "drift_p", drift.p, "needs 10 samples");
    snprintf(path, sizeof path, "%s.slow_start", group);
    row_set_count(row, path, (int64_t)slow_start_find(samples, n).runs);
}

void row_set_samples(struct row *row, const char *group, const double *samples, size_t n)
{
    struct summary s = summarize(samples, n);
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.samples", group);
    row_set_reals(row, path, samples, n);
    snprintf(path, sizeof path, "%s.n", group);
    row_set_count(row, path, (int64_t)s.n);
    set_statistic(row, group, "mean", s.mean, "not a finite number");
    set_statistic(row, group, "std", s.std, "needs 2 samples");
    set_statistic(row, group, "min", s.min, "not a finite number");
    set_statistic(row, group, "max", s.max, "not a finite number");
    set_statistic(row, group, "median", s.median, "not a finite number");
    set_statistic(row, group, "p95", s.p95, "needs 20 samples");
    set_statistic(row, group, "p99", s.p99, "needs 100 samples");
    set_intervals(row, group, samples, &s);
    set_statistic(row, group, "cv", s.cv, "needs 2 samples and a mean that is not 0");
    snprintf(path, sizeof path, "%s.outliers", group);
    row_set_count(row, path, (int64_t)s.outliers);
    set_trend(row, group, samples, n);
}

bool row_get_text(const struct row *row, const char *path, const char **value)
{
    return value_read_text(at(row, path), value);
}

bool row_get_count(const struct row *row, const char *path, int64_t *value)
{
    return value_read_count(at(row, path), value);
}

bool row_get_real(const struct row *row, const char *path, double *value)
{
    return value_read_real(at(row, path), value);
}

size_t row_reals_count(const struct row *row, const char *path)
{
    return value_kind(at(row, path)) == VALUE_ARRAY ? value_size(at(row, path)) : 0;
}

bool row_get_reals(const struct row *row, const char *path, double *values, size_t capacity, size_t *n)
{
    const struct value *array = at(row, path);
    if (value_kind(array) != VALUE_ARRAY || value_size(array) > capacity)
        return false;
    *n = 0;
    for (struct walk w = value_walk(array); walk_next(&w); (*n)++)
        if (!value_read_real(w.value, &values[*n]))
            values[*n] = 0;
    return true;
}

const char *row_reason(const struct row *row, const char *path)
{
    const json_t *reasons = json_object_get(json_of_row(row), "reasons");
    char at[SCHEMA_PATH];
    if (snprintf(at, sizeof at, "%s", path) >= SCHEMA_PATH)
        return NULL;
    for (;;) {
        const char *reason = json_string_value(json_object_get(reasons, at));
        char *dot = strrchr(at, '.');
        if (reason || !dot)
            return reason;
        *dot = '\0';
    }
}

bool row_is_ok(const struct row *row)
{
    const char *status;
    return row_get_text(row, "status", &status) && strcmp(status, "ok") == 0;
}

bool row_write(const struct row *row, FILE *out)
{
    return value_write(value_of_json(json_of_row(row)), out) && putc('\n', out) != EOF;
}
