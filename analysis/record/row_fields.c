/* Absent fields, and an order of fields of any type. */
#include "analysis/record/row_fields.h"

#include <math.h>
#include <string.h>

void field_clear(struct row *row, const struct field *f)
{
    if (f->type == FIELD_TEXT)
        *field_text(row, f) = NULL;
    else if (f->type == FIELD_COUNT)
        *field_count(row, f) = COUNT_ABSENT;
    else if (f->type == FIELD_REAL)
        *field_real(row, f) = NAN;
    else
        *field_items(row, f) = (struct items){NULL, 0};
}

bool row_has_field(const struct row *row, const struct field *f)
{
    return f->type == FIELD_TEXT    ? *field_text(row, f) != NULL
           : f->type == FIELD_COUNT ? *field_count(row, f) != COUNT_ABSENT
           : f->type == FIELD_REAL  ? !isnan(*field_real(row, f))
                                    : field_items(row, f)->list != NULL;
}

bool field_number(const struct row *row, const struct field *f, double *value)
{
    bool number = f->type == FIELD_REAL || f->type == FIELD_COUNT;
    if (!number || !row_has_field(row, f))
        return false;
    *value = f->type == FIELD_REAL ? *field_real(row, f) : (double)*field_count(row, f);
    return true;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int item_order(const union item *a, const union item *b, enum field_type type)
{
    return type == FIELD_TEXTS    ? strcmp(a->text, b->text)
           : type == FIELD_COUNTS ? ORDER(a->count, b->count)
                                  : ORDER(a->real, b->real);
}

static int items_order(const struct items *a, const struct items *b, enum field_type type)
{
    int order = ORDER(a->count, b->count);
    for (size_t i = 0; !order && i < a->count; i++)
        order = item_order(&a->list[i], &b->list[i], type);
    return order;
}

int row_order(const struct row *a, const struct row *b, const struct field *f)
{
    bool has_a = row_has_field(a, f), has_b = row_has_field(b, f);
    if (!has_a || !has_b)
        return has_a - has_b;
    return f->type == FIELD_TEXT    ? strcmp(*field_text(a, f), *field_text(b, f))
           : f->type == FIELD_COUNT ? ORDER(*field_count(a, f), *field_count(b, f))
           : f->type == FIELD_REAL  ? ORDER(*field_real(a, f), *field_real(b, f))
                                    : items_order(field_items(a, f), field_items(b, f), f->type);
}
