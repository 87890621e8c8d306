/* The members of a row, by the fields of the schema. */
#ifndef GTMARK_ANALYSIS_ROW_FIELDS_H
#define GTMARK_ANALYSIS_ROW_FIELDS_H

#include "analysis/record/row_struct.h"
#include "analysis/record/schema.h"

#include <math.h>

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

/* A count as a real; NAN if it is absent. */
static inline double count_real(int64_t count)
{
    return count == COUNT_ABSENT ? NAN : (double)count;
}

/* Makes a field absent. */
void field_clear(struct row *row, const struct field *f);

/* Whether the row has a field. */
bool row_has_field(const struct row *row, const struct field *f);

/* A real, or a count, rounded; false, with *value unchanged, if the row has none. */
bool field_number(const struct row *row, const struct field *f, double *value);

/* An order of rows by a field: negative, 0 if it is the same in both or absent in both, positive. */
int row_order(const struct row *a, const struct row *b, const struct field *f);

#endif
