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

static json_t *sound_row(int which)
{
    json_t *row = json_object();
    double samples[] = {1, 2.5, 2 + which};
    row_set_samples(row, "step.time", samples, 3);
    for (size_t i = 0; i < schema_fields_count; i++) {
        const struct field *f = &schema_fields[i];
        if (row_get(row, f->path))
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

static json_t *value_of_type(json_type type)
{
    return type == JSON_STRING    ? json_string("text")
           : type == JSON_INTEGER ? json_integer(1)
           : type == JSON_REAL    ? json_real(0.5)
           : type == JSON_ARRAY   ? json_array()
           : type == JSON_OBJECT  ? json_object()
                                  : json_true();
}

/* Made at the first call: that takes longer than all that is done with one. A copy, to be freed. */
static json_t *sound_record(void)
{
    static json_t *record;
    if (record)
        return json_deep_copy(record);
    json_t *context = json_object();
    for (size_t i = 0; i < schema_head_count; i++)
        json_object_set_new(context, schema_head[i].name, value_of_type(schema_head[i].type));
    record = record_new("fuzz", "fuzz", context);
    char error[MESSAGE_SIZE];
    for (int i = 0; i < 2; i++)
        require(record_add(record, sound_row(i), error), "the row is sound");
    return json_deep_copy(record);
}

/* Null: the place is to be left empty. */
static json_t *value_at(unsigned index)
{
    /* A file has 15 digits of them: the largest double would come back as infinity, which JSON lacks. */
    static const double reals[] = {0.5, -1, 0, 1e-300, 1e308, -1e308, DBL_TRUE_MIN};
    static const json_int_t counts[] = {0, -1, 1, INT64_MAX, INT64_MIN, 1000};
    static const char *const texts[] = {"", "ok", "oom", "failed", "a\tb\033[2J", "%s%n", "\"", "é,x"};
    enum { REALS = sizeof reals / sizeof *reals, COUNTS = sizeof counts / sizeof *counts };
    enum { TEXTS = sizeof texts / sizeof *texts };
    if (index < REALS)
        return json_real(reals[index]);
    if ((index -= REALS) < COUNTS)
        return json_integer(counts[index]);
    if ((index -= COUNTS) < TEXTS)
        return json_string(texts[index]);
    index -= TEXTS;
    return index == 0   ? NULL
           : index == 1 ? json_null()
           : index == 2 ? json_true()
           : index == 3 ? json_array()
           : index == 4 ? json_object()
           : index == 5 ? json_pack("[f, f, i]", 0.5, 1e300, -1)
           : index == 6 ? json_pack("{s: {s: s}}", "a", "b", "c")
                        : json_stringn("\0 x", 3);
}

static void put(json_t *object, const char *name, json_t *value)
{
    if (value)
        json_object_set_new(object, name, value);
    else
        json_object_del(object, name);
}

/* Puts the value at a path of the row, cut to so many names, unless there is no object there any more. */
static void put_at_path(json_t *row, const char *path, int names, json_t *value)
{
    char copy[SCHEMA_PATH], *rest = copy;
    snprintf(copy, sizeof copy, "%s", path);
    char *name = strsep(&rest, ".");
    while (rest && --names > 0 && json_is_object(json_object_get(row, name))) {
        row = json_object_get(row, name);
        name = strsep(&rest, ".");
    }
    put(row, name, value);
}

static void edit(json_t *record, const uint8_t bytes[EDIT])
{
    unsigned where = bytes[1] + 256U * (bytes[0] & 1);
    json_t *row = json_array_get(json_object_get(record, "rows"), bytes[0] >> 1 & 1);
    json_t *value = value_at(bytes[2]);
    int names = bytes[0] >> 2 & 3;
    if (bytes[0] >> 4 == 0)
        put(record, schema_head[where % schema_head_count].name, value);
    else if (bytes[0] >> 4 == 1)
        put(row, "reasons", value);
    else if (bytes[0] >> 4 == 2)
        put(json_object_get(row, "reasons"), schema_fields[where % schema_fields_count].path, value);
    else
        put_at_path(row, schema_fields[where % schema_fields_count].path, names ? names : 9, value);
}

/* The name of a file in memory with this content. */
static void store(int file, const char *text, size_t size, char name[FILE_NAME])
{
    snprintf(name, FILE_NAME, "/proc/self/fd/%d", file);
    require(ftruncate(file, 0) == 0 && pwrite(file, text, size, 0) == (ssize_t)size, "memory");
}

static void show(const json_t *record, FILE *out)
{
    const json_t *rows = json_object_get(record, "rows");
    struct table t = {.out = out};
    t.axes_count = axes_varying(rows, t.axes);
    table_header(&t);
    csv_header(out);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        table_row(&t, json_array_get(rows, i));
        csv_row(out, json_array_get(rows, i));
        require(record_write_line(record, json_array_get(rows, i), out), "a line is written");
    }
    json_t *fits = fits_of(rows);
    fits_print(fits, out);
    fits_warn(fits, out);
    json_decref(fits);
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

static void use(const json_t *record, int file, char name[FILE_NAME])
{
    char *text = NULL, error[MESSAGE_SIZE];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    require(out && record_write(record, out) && fclose(out) == 0, "memory");
    store(file, text, size, name);
    free(text);
    json_t *again = record_load(name, error);
    require(again != NULL, "what was written can be read");
    json_decref(again);
    out = open_memstream(&text, &size);
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
        json_t *record = sound_record();
        for (size_t at = 1; at + EDIT <= size; at += EDIT)
            edit(record, data + at);
        text = json_dumps(record, 0);
        store(file, text, strlen(text), name);
        json_decref(record);
    }
    json_t *record = record_load(name, error), *any = record_load_any(name, error);
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
    json_decref(record);
    json_decref(any);
    free(text);
    close(file);
    return 0;
}
