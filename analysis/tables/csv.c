/* Comma-separated values. */
#include "analysis/tables/csv.h"

#include "analysis/record/row.h"
#include "analysis/record/schema.h"

#include <stdlib.h>
#include <string.h>

void csv_text(FILE *out, const char *text)
{
    if (*text && !strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

static void write_real(FILE *out, double real)
{
    char text[VALUE_REAL_TEXT];
    value_format_real(text, real);
    fputs(text, out);
}

static void write_list(FILE *out, const struct row *row, const struct field *field)
{
    char *text = NULL;
    size_t n = 0, size;
    const union item *items = row_items(row, field->path, &n);
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        abort();
    for (size_t i = 0; i < n; i++) {
        fputs(i > 0 ? ";" : "", memory);
        if (field->type == FIELD_REALS)
            write_real(memory, items[i].real);
        else if (field->type == FIELD_COUNTS)
            fprintf(memory, "%lld", (long long)items[i].count);
        else
            fputs(items[i].text, memory);
    }
    fclose(memory);
    if (items && n > 0)
        csv_text(out, text);
    free(text);
}

/* Formats numbers as in the JSON file. */
static void write_field(FILE *out, const struct row *row, const char *path)
{
    const char *text;
    int64_t count;
    double real;
    if (row_get_text(row, path, &text))
        csv_text(out, text);
    else if (row_get_count(row, path, &count))
        fprintf(out, "%lld", (long long)count);
    else if (row_get_real(row, path, &real))
        write_real(out, real);
    else
        write_list(out, row, schema_find(path));
}

/* Of the field at an index; fields null: all of the schema. */
static const char *path_at(const char *const *fields, size_t i)
{
    return fields ? fields[i] : schema_fields[i].path;
}

void csv_header(FILE *out, const char *const *fields, size_t count)
{
    for (size_t i = 0; i < (fields ? count : schema_fields_count); i++)
        fprintf(out, "%s%s", i > 0 ? "," : "", path_at(fields, i));
    putc('\n', out);
}

void csv_row(FILE *out, const struct row *row, const char *const *fields, size_t count)
{
    for (size_t i = 0; i < (fields ? count : schema_fields_count); i++) {
        if (i > 0)
            putc(',', out);
        write_field(out, row, path_at(fields, i));
    }
    putc('\n', out);
}
