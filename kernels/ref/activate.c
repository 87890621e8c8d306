/* An activation alone: y = act(x), dx = dy * act'(x). */
#include "kernels/ref/activation.h"

REF(activate, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->y.cols; k++)
            AT(a->y, i, k) = activate(a->act, AT(a->x, i, k));
}

REF(activate_backward, 0)
{
    struct rows rows = rows_wanted(a->call, a->dx);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->dx.cols; k++)
            put(a->dx, i, k, activate_backward(a->act, AT(a->x, i, k), AT(a->dy, i, k)));
}
