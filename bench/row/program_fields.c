#include "bench/row/program_fields.h"

#include <string.h>

const char *program_path(char text[SCHEMA_PATH], enum program_kind kind, const char *field)
{
    stpcpy(stpcpy(stpcpy(text, program_name(kind)), "."), field);
    return text;
}

void row_set_count_or_null(struct row *row, const char *field, int64_t value)
{
    if (value >= 0)
        row_set_count(row, field, value);
    else
        row_omit(row, field, "exceeds 63 bits");
}

void program_set_count(struct row *row, enum program_kind kind, const char *field, int64_t value)
{
    char path[SCHEMA_PATH];
    row_set_count_or_null(row, program_path(path, kind, field), value);
}

void program_set_real(struct row *row, enum program_kind kind, const char *field, double value)
{
    char path[SCHEMA_PATH];
    row_set_real(row, program_path(path, kind, field), value);
}

void program_set_text(struct row *row, enum program_kind kind, const char *field, const char *value)
{
    char path[SCHEMA_PATH];
    row_set_text(row, program_path(path, kind, field), value);
}

void program_omit(struct row *row, enum program_kind kind, const char *field, const char *reason)
{
    char path[SCHEMA_PATH];
    row_omit(row, program_path(path, kind, field), reason);
}
