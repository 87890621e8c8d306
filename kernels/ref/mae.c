/*
 * Mean absolute error (L1 loss) over the n = N M entries.
 *
 *   loss = sum |y - target| / n    dy = dloss / n sign(y - target)
 *
 * Where y = target the gradient is 0, one of the subgradients there.
 */
#include "kernels/ref/loops.h"

REF(mae, 0)
{
    if (!rows_any(rows_wanted(a->call, a->loss)))
        return;
    real sum = R(0);
    for (int64_t i = 0; i < a->y.rows; i++)
        for (int64_t k = 0; k < a->y.cols; k++) {
            real d = AT(a->y, i, k) - AT(a->target, i, k);
            sum += r_max(d, -d);
        }
    AT(a->loss, 0, 0) = sum / R(mat_size(a->y));
}

REF(mae_backward, 0)
{
    real share = R(1 / (double)mat_size(a->y));
    struct rows rows = rows_wanted(a->call, a->dy);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->dy.cols; k++) {
            real d = AT(a->y, i, k) - AT(a->target, i, k), g = AT(a->dloss, 0, 0) * share;
            put(a->dy, i, k, r_choose(d, g, r_gate(-d, -g)));
        }
}
