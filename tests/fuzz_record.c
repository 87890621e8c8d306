/*
 * Result files made up by libFuzzer. A first byte of 0: the rest is the file. Any other: the rest is edits of
 * a sound file of two rows, three bytes each, which put something wrong, or something rare, in the place of a
 * field or of a group above it: bytes that were right about JSON would hardly ever be.
 *
 * What is loaded goes through whatever reads rows, and must come back from a file as it was.
 */
#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/compare/compare_table.h"
#include "analysis/fits/fits.h"
#include "analysis/record/record.h"
#include "analysis/tables/csv.h"
#include "analysis/tables/table.h"
#include "bench/row/gates.h"

enum { FILE_NAME = 64, INPUT_MAX = 1 << 16, EDIT = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "not so: %s\n", what);
    abort();
}

static struct row *sound_row(int which)
{
    struct row *row = row_new();
    double samples[] = {1, 2.5, 2 + which};
    row_set_samples(row, "step.time", samples, 3);
    for (size_t i = 0; i < schema_fields_count; i++) {
        const struct field *f = &schema_fields[i];
        if (row_has(row, f->path))
            continue;
        if (f->type == FIELD_TEXT)
            row_set_text(row, f->path, strcmp(f->path, "status") == 0 ? "ok" : "text");
        else if (f->type == FIELD_COUNT)
            row_set_count(row, f->path, which + 2);
        else if (f->type == FIELD_REAL)
            row_set_real(row, f->path, which + 0.5);
    }
    row_set_rest_null(row, "a series");
    return row;
}

static struct value *value_of_kind(enum value_kind kind)
{
    return kind == VALUE_TEXT     ? value_new_text("text")
           : kind == VALUE_COUNT  ? value_new_count(1)
           : kind == VALUE_REAL   ? value_new_real(0.5)
           : kind == VALUE_ARRAY  ? value_new_array()
           : kind == VALUE_OBJECT ? value_new_object()
                                  : value_new_flag(true);
}

static char *text_of(const struct record *record, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    require(out && record_write(record, out) && fclose(out) == 0, "memory");
    return text;
}

/* The document is made at the first call: that takes longer than all that is done with one. A copy, to be
 * freed. */
static struct value *sound_document(void)
{
    static struct value *document;
    if (document)
        return value_copy(document);
    struct value *context = value_new_object();
    for (size_t i = 0; i < schema_head_count; i++)
        value_set(context, schema_head[i].name, value_of_kind(schema_head[i].kind));
    struct record *record = record_new("fuzz", "fuzz", context);
    char error[MESSAGE_SIZE];
    size_t size;
    for (int i = 0; i < 2; i++)
        require(record_add(record, sound_row(i), error), "the row is sound");
    char *text = text_of(record, &size);
    document = value_parse(text, error);
    record_free(record);
    free(text);
    return value_copy(document);
}

static struct value *numbers(void)
{
    struct value *array = value_new_array();
    value_append(array, value_new_real(0.5));
    value_append(array, value_new_real(1e300));
    value_append(array, value_new_count(-1));
    return array;
}

static struct value *nested(void)
{
    struct value *outer = value_new_object(), *inner = value_new_object();
    value_set_text(inner, "b", "c");
    value_set(outer, "a", inner);
    return outer;
}

/* Null: the place is to be left empty. */
static struct value *value_of(unsigned index)
{
    /* A file has 15 digits of them: the largest double would come back as infinity, which JSON lacks. */
    static const double reals[] = {0.5, -1, 0, 1e-300, 1e308, -1e308, DBL_TRUE_MIN};
    static const int64_t counts[] = {0, -1, 1, INT64_MAX, INT64_MIN, 1000};
    static const char *const texts[] = {"", "ok", "oom", "failed", "a\tb\033[2J", "%s%n", "\"", "é,x"};
    enum { REALS = sizeof reals / sizeof *reals, COUNTS = sizeof counts / sizeof *counts };
    enum { TEXTS = sizeof texts / sizeof *texts };
    if (index < REALS)
        return value_new_real(reals[index]);
    if ((index -= REALS) < COUNTS)
        return value_new_count(counts[index]);
    if ((index -= COUNTS) < TEXTS)
        return value_new_text(texts[index]);
    index -= TEXTS;
    return index == 0   ? NULL
           : index == 1 ? value_new_null()
           : index == 2 ? value_new_flag(true)
           : index == 3 ? value_new_array()
           : index == 4 ? value_new_object()
           : index == 5 ? numbers()
           : index == 6 ? nested()
                        : value_new_text("\1 x");
}

static void put(struct value *object, const char *name, struct value *value)
{
    if (value_kind(object) != VALUE_OBJECT)
        value_free(value);
    else if (value)
        value_set(object, name, value);
    else
        value_remove(object, name);
}

/* Puts the value at a path of the row, cut to so many names, unless there is no object there any more. */
static void put_at_path(struct value *row, const char *path, int names, struct value *value)
{
    char copy[SCHEMA_PATH], *rest = copy;
    snprintf(copy, sizeof copy, "%s", path);
    char *name = strsep(&rest, ".");
    while (rest && --names > 0 && value_kind(value_get(row, name)) == VALUE_OBJECT) {
        row = value_get(row, name);
        name = strsep(&rest, ".");
    }
    put(row, name, value);
}

static void edit(struct value *document, const uint8_t bytes[EDIT])
{
    unsigned where = bytes[1] + 256U * (bytes[0] & 1);
    struct value *row = value_at(value_get(document, "rows"), bytes[0] >> 1 & 1);
    struct value *value = value_of(bytes[2]);
    int names = bytes[0] >> 2 & 3;
    if (bytes[0] >> 4 == 0)
        put(document, schema_head[where % schema_head_count].name, value);
    else if (bytes[0] >> 4 == 1)
        put(row, "reasons", value);
    else if (bytes[0] >> 4 == 2)
        put(value_get(row, "reasons"), schema_fields[where % schema_fields_count].path, value);
    else
        put_at_path(row, schema_fields[where % schema_fields_count].path, names ? names : 9, value);
}

/* The name of a file in memory with this content. */
static void store(int file, const char *text, size_t size, char name[FILE_NAME])
{
    snprintf(name, FILE_NAME, "/proc/self/fd/%d", file);
    require(ftruncate(file, 0) == 0 && pwrite(file, text, size, 0) == (ssize_t)size, "memory");
}

static void show(const struct record *record, FILE *out)
{
    const struct rows *rows = record_rows(record);
    struct table t = {.out = out};
    t.axes_count = axes_varying(rows, t.axes);
    table_header(&t);
    csv_header(out);
    for (size_t i = 0; i < rows_count(rows); i++) {
        table_row(&t, rows_at(rows, i));
        csv_row(out, rows_at(rows, i));
        require(record_write_line(record, rows_at(rows, i), out), "a line is written");
    }
    struct value *fits = fits_of(rows);
    fits_print(fits, out);
    fits_warn(fits, out);
    value_free(fits);
    struct gates gates = {0};
    struct message error;
    require(gates_parse("latency:1s,error:1,throughput:1/s", &gates, &error), "gates");
    gates_judge(&gates, (const bool[PROGRAMS]){true, true, true}, rows, out);
}

static void compare(const char *name, FILE *out)
{
    struct comparison c = {.programs = {true, true}, .limits = verdict_limits_default()};
    char error[MESSAGE_SIZE];
    if (!comparison_load(&c, (const char *const[]){name, name}, 2, NULL, error))
        return;
    compare_table(out, TABLE_TERMINAL, &c);
    compare_csv(out, &c);
    comparison_free(&c);
}

/* What was loaded comes back from a file as it was. */
static void use(const struct record *record, int file, char name[FILE_NAME])
{
    char error[MESSAGE_SIZE];
    size_t size = 0, again_size = 0;
    char *text = text_of(record, &size);
    store(file, text, size, name);
    struct record *again = record_load(name, error);
    require(again != NULL, "what was written can be read");
    char *again_text = text_of(again, &again_size);
    require(size == again_size && memcmp(text, again_text, size) == 0, "it is as it was");
    free(text);
    free(again_text);
    record_free(again);
    FILE *out = open_memstream(&text, &size);
    show(record, out);
    fclose(out);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > INPUT_MAX)
        return -1;
    char name[FILE_NAME], error[MESSAGE_SIZE] = "", *text = NULL;
    int file = memfd_create("record", MFD_CLOEXEC);
    if (data[0] == 0) {
        store(file, (const char *)data + 1, size - 1, name);
    } else {
        struct value *document = sound_document();
        for (size_t at = 1; at + EDIT <= size; at += EDIT)
            edit(document, data + at);
        text = value_print(document);
        store(file, text, strlen(text), name);
        value_free(document);
    }
    struct record *record = record_load(name, error), *any = record_load_any(name, error);
    require(any || *error, "what is wrong is said");
    require(!record || any, "a sound file is one that any version reads");
    if (any) {
        FILE *out = fopen("/dev/null", "w");
        show(any, out);
        compare(name, out);
        fclose(out);
    }
    if (record)
        use(record, file, name);
    record_free(record);
    record_free(any);
    free(text);
    close(file);
    return 0;
}
