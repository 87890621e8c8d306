/*
 * Rows of length one.
 *
 *   y = x r, r = 1 / sqrt(sum x^2 + eps)    dx = (dy - y sum dy y) r
 *
 * Frameworks divide by max(|x|, e) instead. With eps = e^2 the two differ by less than a relative eps /
 * |x|^2; a row of zeros remains zero in both, and its dx is dy / e.
 */
#include "kernels/ref/loops.h"

REF(l2_norm, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++) {
        real scale = R(1) / r_sqrt(dot(a->x, i, a->x, i) + R(a->eps));
        for (int64_t k = 0; k < a->y.cols; k++)
            AT(a->y, i, k) = AT(a->x, i, k) * scale;
        if (mat_present(a->scale))
            AT(a->scale, i, 0) = scale;
    }
}

REF(l2_norm_backward, 0)
{
    struct rows rows = rows_wanted(a->call, a->dx);
    for (int64_t i = rows.first; i < rows.end; i++) {
        real along = dot(a->dy, i, a->y, i);
        for (int64_t k = 0; k < a->dx.cols; k++)
            put(a->dx, i, k, (AT(a->dy, i, k) - AT(a->y, i, k) * along) * AT(a->scale, i, 0));
    }
}
