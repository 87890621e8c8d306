/*
 * Scalar products of rows.
 *
 *   y_i = sum of a_ik b_ik    da_ik = dy_i b_ik    db_ik = dy_i a_ik
 */
#include "kernels/ref/loops.h"

REF(row_dot, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        AT(a->y, i, 0) = dot(a->a, i, a->b, i);
}

static void scale_rows(struct call call, struct mat to, struct mat scale, struct mat from)
{
    struct rows rows = rows_wanted(call, to);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < to.cols; k++)
            put(to, i, k, AT(scale, i, 0) * AT(from, i, k));
}

REF(row_dot_backward, 0)
{
    scale_rows(a->call, a->da, a->dy, a->b);
    scale_rows(a->call, a->db, a->dy, a->a);
}
