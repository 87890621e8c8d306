/* Fields of a row that are lists. */
#include "analysis/record/row_cells.h"

#include "analysis/record/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct items items_new(size_t count)
{
    struct items items = {malloc((count + 1) * sizeof *items.list), count};
    if (!items.list)
        abort();
    return items;
}

struct items items_copy(const union item *list, size_t count, enum field_type type)
{
    struct items copy = items_new(count);
    for (size_t i = 0; i < count; i++) {
        copy.list[i] = list[i];
        if (type == FIELD_TEXTS && !(copy.list[i].text = scan_clean(list[i].text)))
            abort();
    }
    return copy;
}

void items_free(struct items *items, enum field_type type)
{
    for (size_t i = 0; type == FIELD_TEXTS && i < items->count; i++)
        free((char *)items->list[i].text);
    free(items->list);
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int item_order(const union item *a, const union item *b, enum field_type type)
{
    return type == FIELD_TEXTS    ? strcmp(a->text, b->text)
           : type == FIELD_COUNTS ? ORDER(a->count, b->count)
                                  : ORDER(a->real, b->real);
}

int items_order(const struct items *a, const struct items *b, enum field_type type)
{
    int order = ORDER(a->count, b->count);
    for (size_t i = 0; !order && i < a->count; i++)
        order = item_order(&a->list[i], &b->list[i], type);
    return order;
}

void row_set_items(struct row *row, const char *path, const union item *items, size_t n)
{
    const struct field *field = schema_find(path);
    enum field_type type = field && is_list(field->type) ? field->type : FIELD_TEXTS;
    row_empty_cell(row, path, type)->items = items_copy(items, n, type);
}

void row_set_reals(struct row *row, const char *path, const double *values, size_t n)
{
    bool finite = true;
    struct items reals = items_new(n);
    for (size_t i = 0; i < n; i++) {
        reals.list[i].real = values[i];
        finite = finite && isfinite(values[i]);
    }
    row_empty_cell(row, path, FIELD_REALS)->items = reals;
    if (!finite)
        row_set_null(row, path, "not finite numbers");
}

const union item *row_items(const struct row *row, const char *path, size_t *n)
{
    const struct field *field = schema_find(path);
    const struct cell *cell = field && is_list(field->type) ? row_set_cell(row, field) : NULL;
    if (!cell)
        return NULL;
    *n = cell->items.count;
    return cell->items.list;
}

/* The items of a REALS field, or null. */
static const union item *real_items(const struct row *row, const char *path, size_t *n)
{
    const struct field *field = schema_find(path);
    return field && field->type == FIELD_REALS ? row_items(row, path, n) : NULL;
}

size_t row_reals_count(const struct row *row, const char *path)
{
    size_t n = 0;
    real_items(row, path, &n);
    return n;
}

bool row_get_reals(const struct row *row, const char *path, double *values, size_t capacity, size_t *n)
{
    size_t count;
    const union item *reals = real_items(row, path, &count);
    if (!reals || count > capacity)
        return false;
    for (size_t i = 0; i < count; i++)
        values[i] = reals[i].real;
    *n = count;
    return true;
}
