/*
 * Linear layer with fused bias and activation.
 *
 *   z  = x w' + b                  x: N x D, w: M x D, b: 1 x M, z: N x M
 *   y  = act(z)                    pre = z is saved for the backward of an activation
 *   dz = dy * act'(z)
 *   dx = dz w    dw = dz' x    db = sum of dz over rows
 */
#include "kernels/ref/activation.h"

REF(linear, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t j = 0; j < a->y.cols; j++) {
            real z = dot(a->x, i, a->w, j);
            if (mat_present(a->b))
                z += AT(a->b, 0, j);
            if (mat_present(a->pre))
                AT(a->pre, i, j) = z;
            AT(a->y, i, j) = activate(a->act, z);
        }
}

/* dz_ij for the columns j of row i */
static void dz_row(const struct linear_backward_args *a, int64_t i, struct rows columns, struct mat dz)
{
    for (int64_t j = columns.first; j < columns.end; j++) {
        real z = a->act ? AT(a->pre, i, j) : R(0);
        AT(dz, 0, j) = activate_backward(a->act, z, AT(a->dy, i, j));
    }
}

REF(linear_backward, a->dy.cols)
{
    struct rows dx = rows_wanted(a->call, a->dx);
    struct rows dw = rows_wanted(a->call, a->dw);
    struct rows db = rows_wanted(a->call, a->db);
    struct rows all = {0, a->dy.cols}, none = {0, 0};
    struct mat dz = scratch_row(a->call, 0, a->dy.cols);
    begin_sums(a->call, a->dx);
    begin_sums(a->call, a->dw);
    begin_sums(a->call, a->db);
    for (int64_t i = 0; i < a->dy.rows; i++) {
        struct rows in_dx = rows_has(dx, i) ? all : none, in_db = rows_any(db) ? all : none;
        dz_row(a, i, rows_any(in_dx) || rows_any(in_db) ? all : dw, dz);
        for (int64_t j = in_dx.first; j < in_dx.end; j++)
            add_scaled(a->dx, i, AT(dz, 0, j), a->w, j);
        for (int64_t j = dw.first; j < dw.end; j++)
            add_scaled(a->dw, j, AT(dz, 0, j), a->x, i);
        for (int64_t j = in_db.first; j < in_db.end; j++)
            AT(a->db, 0, j) += AT(dz, 0, j);
    }
}
