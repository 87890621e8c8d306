/*
 * Cross-entropy of each row's softmax against the row's label, a column.
 *
 *   lse_i = log sum_k exp(y_ik)    loss = sum_i (lse_i - y_i,label) / N
 *   dy_ik = dloss (exp(y_ik - lse_i) - [k is the label]) / N
 *
 * The largest entry of the row is subtracted before exp to prevent overflow.
 */
#include "kernels/ref/loops.h"

static real log_sum_exp(struct mat y, int64_t i)
{
    real top = AT(y, i, 0), sum = R(0);
    for (int64_t k = 1; k < y.cols; k++)
        top = r_max(top, AT(y, i, k));
    for (int64_t k = 0; k < y.cols; k++)
        sum += r_exp(AT(y, i, k) - top);
    return top + r_log(sum);
}

REF(cross_entropy, 0)
{
    bool loss = rows_any(rows_wanted(a->call, a->loss));
    struct rows all = {0, a->y.rows}, rows = loss ? all : rows_wanted(a->call, a->lse);
    real sum = R(0);
    for (int64_t i = rows.first; i < rows.end; i++) {
        real lse = log_sum_exp(a->y, i);
        sum += lse - AT(a->y, i, *index_at(a->label, i, 0));
        if (rows_has(rows_wanted(a->call, a->lse), i))
            AT(a->lse, i, 0) = lse;
    }
    if (loss)
        AT(a->loss, 0, 0) = sum / R(a->y.rows);
}

REF(cross_entropy_backward, 0)
{
    real share = R(1 / (double)a->y.rows);
    struct rows rows = rows_wanted(a->call, a->dy);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->dy.cols; k++) {
            real p = r_exp(AT(a->y, i, k) - AT(a->lse, i, 0));
            if (k == *index_at(a->label, i, 0))
                p = p - R(1);
            put(a->dy, i, k, p * share * AT(a->dloss, 0, 0));
        }
}
