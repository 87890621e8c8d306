/* Rows times a number each: y_i = w_i x_i, dx_i = w_i dy_i. */
#include "kernels/ref/loops.h"

REF(scale_rows, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->y.cols; k++)
            AT(a->y, i, k) = AT(a->w, i, 0) * AT(a->x, i, k);
}

REF(scale_rows_backward, 0)
{
    struct rows rows = rows_wanted(a->call, a->dx);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->dx.cols; k++)
            put(a->dx, i, k, AT(a->w, i, 0) * AT(a->dy, i, k));
}
