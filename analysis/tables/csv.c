/* Comma-separated values. */
#include "analysis/tables/csv.h"

#include "analysis/record/row.h"
#include "analysis/record/schema.h"

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

/* Numbers as in the JSON file. */
static void write_value(FILE *out, const json_t *value)
{
    if (json_is_string(value))
        csv_text(out, json_string_value(value));
    else if (json_is_number(value))
        json_dumpf(value, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    for (size_t i = 0; i < json_array_size(value); i++) {
        if (i > 0)
            putc(';', out);
        write_value(out, json_array_get(value, i));
    }
}

void csv_header(FILE *out)
{
    for (size_t i = 0; i < schema_fields_count; i++)
        fprintf(out, "%s%s", i > 0 ? "," : "", schema_fields[i].path);
    putc('\n', out);
}

void csv_row(FILE *out, const json_t *row)
{
    for (size_t i = 0; i < schema_fields_count; i++) {
        if (i > 0)
            putc(',', out);
        write_value(out, row_get(row, schema_fields[i].path));
    }
    putc('\n', out);
}
