/*
 * Mean squared error over the n = N M entries.
 *
 *   loss = sum (y - target)^2 / n    dy = dloss 2 / n (y - target)
 */
#include "kernels/ref/loops.h"

REF(mse, 0)
{
    if (!rows_any(rows_wanted(a->call, a->loss)))
        return;
    real sum = R(0);
    for (int64_t i = 0; i < a->y.rows; i++)
        for (int64_t k = 0; k < a->y.cols; k++) {
            real d = AT(a->y, i, k) - AT(a->target, i, k);
            sum += d * d;
        }
    AT(a->loss, 0, 0) = sum / R(mat_size(a->y));
}

REF(mse_backward, 0)
{
    real scale = R(2 / (double)mat_size(a->y));
    struct rows rows = rows_wanted(a->call, a->dy);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->dy.cols; k++)
            put(a->dy, i, k, AT(a->dloss, 0, 0) * (scale * (AT(a->y, i, k) - AT(a->target, i, k))));
}
