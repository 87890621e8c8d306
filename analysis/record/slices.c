#include "analysis/record/slices.h"

#include "analysis/statistics/allocate.h"

static int order_in(const struct slices *s, const struct row *a, const struct row *b)
{
    int order = 0;
    for (size_t i = 0; i < s->axes_count && order == 0; i++)
        order = row_order(a, b, s->axes[i]);
    return order;
}

struct order {
    const struct slices *slices;
    const struct field *along;
};

static int by_slice(const void *a, const void *b, void *context)
{
    const struct slice_row *x = a, *y = b;
    const struct order *o = context;
    int order = order_in(o->slices, x->row, y->row);
    order = order || !o->along ? order : row_order(x->row, y->row, o->along);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int by_first(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

size_t slices_axes(const struct rows *rows, const struct field *along, const char *const *any,
                   const struct field *axes[AXES_MAX])
{
    size_t kept = 0, n = along ? axes_beside(rows, along, axes) : axes_varying(rows, axes);
    for (size_t i = 0; i < n; i++)
        if (!has_name(any, axes[i]->path))
            axes[kept++] = axes[i];
    return kept;
}

struct slices slices_of(const struct rows *rows, const struct field *along, const char *const *any)
{
    size_t count = rows_count(rows);
    struct slices s = {.list = allocate(count, sizeof *s.list),
                       .of = allocate(count, sizeof *s.of),
                       .rows = allocate(count, sizeof *s.rows)};
    s.axes_count = slices_axes(rows, along, any, s.axes);
    for (size_t i = 0; i < count; i++)
        s.rows[i] = (struct slice_row){rows_at(rows, i), i};
    qsort_r(s.rows, count, sizeof *s.rows, by_slice, &(struct order){&s, along});
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || order_in(&s, s.rows[i - 1].row, s.rows[i].row) != 0)
            s.list[s.count++] = (struct slice){.first = s.rows[i].index, .rows = &s.rows[i]};
        struct slice *last = &s.list[s.count - 1];
        last->first = s.rows[i].index < last->first ? s.rows[i].index : last->first;
        last->count++;
    }
    qsort(s.list, s.count, sizeof *s.list, by_first);
    for (size_t i = 0; i < s.count; i++)
        for (size_t k = 0; k < s.list[i].count; k++)
            s.of[s.list[i].rows[k].index] = i;
    return s;
}

void slices_free(struct slices *s)
{
    free(s->list);
    free(s->of);
    free(s->rows);
}

const struct slice *slice_with(const struct slices *s, const struct row *row)
{
    const struct slice_row *r = s->rows;
    while (r->row != row)
        r++;
    return &s->list[s->of[r->index]];
}

void slice_name(const struct slices *s, const struct slice *one, char text[AXES_TEXT])
{
    axes_describe_all(one->rows->row, s->axes, s->axes_count, text);
}
