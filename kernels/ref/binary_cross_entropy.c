/*
 * Cross-entropy of sigmoid(y) against labels 0 or 1, each entry a task of its own; the mean over the n = N M
 * entries.
 *
 *   loss = sum (log(1 + exp(y)) - label y) / n    dy = dloss (1 / (1 + exp(-y)) - label) / n
 *
 * log(1 + exp(y)) = max(y, 0) + log1p(exp(-|y|)) does not overflow, and keeps the small loss of a large y
 * that is right.
 */
#include "kernels/ref/loops.h"

REF(binary_cross_entropy, 0)
{
    if (!rows_any(rows_wanted(a->call, a->loss)))
        return;
    real sum = R(0);
    for (int64_t i = 0; i < a->y.rows; i++)
        for (int64_t k = 0; k < a->y.cols; k++) {
            real y = AT(a->y, i, k), label = R(*index_at(a->label, i, k));
            sum += r_max(y, R(0)) - label * y + r_log1p(r_exp(-r_max(y, -y)));
        }
    AT(a->loss, 0, 0) = sum / R(mat_size(a->y));
}

REF(binary_cross_entropy_backward, 0)
{
    real share = R(1 / (double)mat_size(a->y));
    struct rows rows = rows_wanted(a->call, a->dy);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->dy.cols; k++) {
            real p = R(1) / (R(1) + r_exp(-AT(a->y, i, k)));
            put(a->dy, i, k, AT(a->dloss, 0, 0) * (share * (p - R(*index_at(a->label, i, k)))));
        }
}
