#include "analysis/tables/csv.h"

#include "analysis/statistics/allocate.h"

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

static void write_list(FILE *out, const struct items *items, enum field_type type)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_text(&text, &size);
    for (size_t i = 0; i < items->count; i++) {
        fputs(i > 0 ? ";" : "", memory);
        if (type == FIELD_REALS)
            write_real(memory, items->reals[i]);
        else if (type == FIELD_COUNTS)
            fprintf(memory, "%lld", (long long)items->counts[i]);
        else
            fputs(items->texts[i], memory);
    }
    fclose(memory);
    if (items->count > 0)
        csv_text(out, text);
    free(text);
}

/* Formats numbers as in the JSON file. */
static void write_field(FILE *out, const struct row *row, const struct field *f)
{
    if (!row_has_field(row, f))
        return;
    if (f->type == FIELD_TEXT)
        csv_text(out, *field_text(row, f));
    else if (f->type == FIELD_COUNT)
        fprintf(out, "%lld", (long long)*field_count(row, f));
    else if (f->type == FIELD_REAL)
        write_real(out, *field_real(row, f));
    else
        write_list(out, field_items(row, f), f->type);
}

static const struct field *field_at(const struct field *const *fields, size_t i)
{
    return fields ? fields[i] : &schema_fields[i];
}

void csv_header(FILE *out, const struct field *const *fields, size_t count)
{
    for (size_t i = 0; i < (fields ? count : schema_fields_count); i++)
        fprintf(out, "%s%s", i > 0 ? "," : "", field_at(fields, i)->path);
    putc('\n', out);
}

void csv_row(FILE *out, const struct row *row, const struct field *const *fields, size_t count)
{
    for (size_t i = 0; i < (fields ? count : schema_fields_count); i++) {
        if (i > 0)
            putc(',', out);
        write_field(out, row, field_at(fields, i));
    }
    putc('\n', out);
}
