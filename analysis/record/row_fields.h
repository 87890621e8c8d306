/* Internal to this folder: the members of a row, by the fields of the schema. */
#ifndef GTMARK_ANALYSIS_ROW_FIELDS_H
#define GTMARK_ANALYSIS_ROW_FIELDS_H

#include "analysis/record/row.h"

static inline const char **field_text(const struct row *row, const struct field *f)
{
    return (const char **)((char *)row + f->offset);
}

static inline int64_t *field_count(const struct row *row, const struct field *f)
{
    return (int64_t *)((char *)row + f->offset);
}

static inline double *field_real(const struct row *row, const struct field *f)
{
    return (double *)((char *)row + f->offset);
}

static inline struct items *field_items(const struct row *row, const struct field *f)
{
    return (struct items *)((char *)row + f->offset);
}

/* Makes a field absent. */
void field_clear(struct row *row, const struct field *f);

/* A copy of a list that lives as long as the row. */
struct items row_keep_items(struct row *row, const union item *list, size_t n, enum field_type type);

/* Reads a row from an object of a file, whose text is json[length]. */
struct row *row_read(const struct value *object, const char *json, size_t length);

#endif
