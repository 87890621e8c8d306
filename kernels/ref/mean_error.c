/*
 * Mean squared (power 2) and mean absolute error (power 1) over the n = N M entries.
 *
 *   loss = sum |y - target|^power / n
 *   dy = dloss 2 / n (y - target), or dloss / n sign(y - target)
 *
 * Where y = target the gradient is 0, of the absolute error one of the subgradients there.
 */
#include "kernels/ref/loops.h"

REF(mean_error, 0)
{
    if (!rows_any(rows_wanted(a->call, a->loss)))
        return;
    real sum = R(0);
    for (int64_t i = 0; i < a->y.rows; i++)
        for (int64_t k = 0; k < a->y.cols; k++) {
            real d = AT(a->y, i, k) - AT(a->target, i, k);
            sum += a->power == 2 ? d * d : r_max(d, -d);
        }
    AT(a->loss, 0, 0) = sum / R(mat_size(a->y));
}

/* The gradient at a difference d, with `scale` = power / n. */
static real slope(int power, real dloss, real scale, real d)
{
    if (power == 2)
        return dloss * (scale * d);
    real g = dloss * scale;
    return r_choose(d, g, r_gate(-d, -g));
}

REF(mean_error_backward, 0)
{
    real scale = R(a->power / (double)mat_size(a->y));
    struct rows rows = rows_wanted(a->call, a->dy);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->dy.cols; k++)
            put(a->dy, i, k,
                slope(a->power, AT(a->dloss, 0, 0), scale, AT(a->y, i, k) - AT(a->target, i, k)));
}
