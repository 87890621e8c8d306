#include "bench/row/put.h"

#include <math.h>
#include <stdlib.h>

void put_reason(struct row *row, const void *member, const char *reason)
{
    size_t offset = (size_t)((const char *)member - (const char *)row);
    const struct field *f = schema_fields;
    while (schema_has(f) && f->offset != offset)
        f++;
    if (!schema_has(f))
        abort();
    row_omit(row, f->path, reason);
}

void put_count(struct row *row, int64_t *member, int64_t value)
{
    *member = value;
    if (value < 0)
        put_reason(row, member, "exceeds 63 bits");
}

void put_real(struct row *row, double *member, double value)
{
    *member = value;
    if (!isfinite(value))
        put_reason(row, member, "not a finite number");
}

void put_program_reason(struct row *row, size_t program, const char *group, const char *reason)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.%s", program_name(program), group);
    row_omit(row, path, reason);
}
