/*
 * AdamW: Adam with decoupled weight decay (Loshchilov and Hutter 2019), eps added after the bias-corrected
 * root as in torch.optim.AdamW. The step t counts from 1 and is stored with the learning rate in schedule =
 * [t, lr], both double, so that replays of a program advance.
 *
 *   m = b1 m + (1 - b1) g    v = b2 v + (1 - b2) g^2
 *   p = p (1 - lr decay) - lr / (1 - b1^t) m / (sqrt(v / (1 - b2^t)) + eps)
 */
#include "kernels/ref/loops.h"

REF(adamw, 0)
{
    double t = *double_at(a->schedule, 0), lr = *double_at(a->schedule, 1);
    real beta1 = R(a->beta1), rest1 = R(1 - a->beta1), beta2 = R(a->beta2), rest2 = R(1 - a->beta2);
    real keep = R(1 - lr * a->decay), step = R(lr / (1 - pow(a->beta1, t)));
    real unbias2 = R(1 / (1 - pow(a->beta2, t))), eps = R(a->eps);
    struct rows rows = rows_wanted(a->call, a->p);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->p.cols; k++) {
            real g = AT(a->g, i, k);
            real m = beta1 * AT(a->m, i, k) + rest1 * g;
            real v = beta2 * AT(a->v, i, k) + rest2 * g * g;
            AT(a->m, i, k) = m;
            AT(a->v, i, k) = v;
            AT(a->p, i, k) = keep * AT(a->p, i, k) - step * m / (r_sqrt(unbias2 * v) + eps);
        }
}

REF(advance, 0)
{
    if (rows_any(rows_wanted(a->call, a->schedule)))
        *double_at(a->schedule, 0) += 1;
}
