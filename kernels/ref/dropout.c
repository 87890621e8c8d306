/*
 * Dropout (kernels/mask.h), and its gradient with the same mask:
 *
 *   y_ik = x_ik / (1 - p) if entry i M + k is kept in step t, otherwise 0
 *   dx_ik (+)= dy_ik / (1 - p) if it is kept, otherwise 0
 */
#include "kernels/mask.h"
#include "kernels/ref/loops.h"

REF(dropout, 0)
{
    struct mask m = mask_of(a->key, *double_at(a->schedule, 0), a->p);
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->y.cols; k++) {
            real kept = AT(a->x, i, k) * R(m.scale);
            AT(a->y, i, k) = mask_keeps(m, i * a->y.cols + k) ? kept : R(0);
        }
}

REF(dropout_backward, 0)
{
    struct mask m = mask_of(a->key, *double_at(a->schedule, 0), a->p);
    struct rows rows = rows_wanted(a->call, a->dx);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->dx.cols; k++) {
            real kept = AT(a->dy, i, k) * R(m.scale);
            put(a->dx, i, k, mask_keeps(m, i * a->dx.cols + k) ? kept : R(0));
        }
}
