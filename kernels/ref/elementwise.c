/*
 * Elementwise:
 *
 *   add   y = a + b
 *   copy  y = x, or y += x if y is accumulated
 *   cast    y = x
 *   fill  y = value
 */
#include "kernels/ref/loops.h"

REF(add, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->y.cols; k++)
            AT(a->y, i, k) = AT(a->a, i, k) + AT(a->b, i, k);
}

REF(clone, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->y.cols; k++)
            AT(a->y, i, k) = AT(a->x, i, k);
}

REF(copy, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->y.cols; k++)
            put(a->y, i, k, AT(a->x, i, k));
}

REF(cast, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->y.cols; k++)
            AT(a->y, i, k) = AT(a->x, i, k);
}

REF(fill, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->y.cols; k++)
            AT(a->y, i, k) = R(a->value);
}
