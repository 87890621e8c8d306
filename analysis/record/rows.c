/* Sequences of rows are vectors of pointers. */
#include "analysis/record/row.h"
#include "analysis/statistics/allocate.h"

struct rows {
    struct row **list;
    size_t count;
    bool owner;
};

static struct rows *make_rows(bool owner)
{
    struct rows *rows = allocate(1, sizeof *rows);
    rows->owner = owner;
    return rows;
}

struct rows *rows_new(void)
{
    return make_rows(true);
}

struct rows *rows_new_view(void)
{
    return make_rows(false);
}

void rows_free(struct rows *rows)
{
    if (!rows)
        return;
    for (size_t i = 0; i < rows->count && rows->owner; i++)
        row_free(rows->list[i]);
    free(rows->list);
    free(rows);
}

size_t rows_count(const struct rows *rows)
{
    return rows->count;
}

struct row *rows_at(const struct rows *rows, size_t i)
{
    return i < rows->count ? rows->list[i] : NULL;
}

void rows_insert(struct rows *rows, size_t i, struct row *row)
{
    if (i > rows->count)
        abort();
    rows->list = grow(rows->list, rows->count, sizeof *rows->list);
    memmove(rows->list + i + 1, rows->list + i, (rows->count++ - i) * sizeof *rows->list);
    rows->list[i] = row;
}

void rows_append(struct rows *rows, struct row *row)
{
    rows_insert(rows, rows->count, row);
}

struct row *rows_take(struct rows *rows, size_t i)
{
    if (i >= rows->count)
        abort();
    struct row *row = rows->list[i];
    memmove(rows->list + i, rows->list + i + 1, (--rows->count - i) * sizeof *rows->list);
    return row;
}

void rows_replace(struct rows *rows, size_t i, struct row *row)
{
    struct row *old = rows_take(rows, i);
    rows_insert(rows, i, row);
    if (rows->owner)
        row_free(old);
}
