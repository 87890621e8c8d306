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

static void write_reals(FILE *out, const struct row *row, const char *path)
{
    size_t n = row_reals_count(row, path);
    double *reals = malloc((n + 1) * sizeof *reals);
    if (!reals)
        abort();
    row_get_reals(row, path, reals, n, &n);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            putc(';', out);
        write_real(out, reals[i]);
    }
    free(reals);
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
        write_reals(out, row, path);
}

void csv_header(FILE *out)
{
    for (size_t i = 0; i < schema_fields_count; i++)
        fprintf(out, "%s%s", i > 0 ? "," : "", schema_fields[i].path);
    putc('\n', out);
}

void csv_row(FILE *out, const struct row *row)
{
    for (size_t i = 0; i < schema_fields_count; i++) {
        if (i > 0)
            putc(',', out);
        write_field(out, row, schema_fields[i].path);
    }
    putc('\n', out);
}
