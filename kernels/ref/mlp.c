/*
 * Two linear layers with an activation in between. The hidden panel is not stored: the backward computes it
 * once more.
 *
 *   z   = x up' + b                h = act(z)                y = h down' + c
 *   dz  = dy down * act'(z)        dx = dz up
 *   dup = dz' x                    db = sum of dz            ddown = dy' h           dc = sum of dy
 *
 * x and y: N x D, up: M x D, b: 1 x M, down: D x M, c: 1 x D; sums are over rows.
 */
#include "kernels/ref/activation.h"

REF(mlp, a->up.rows)
{
    struct rows rows = rows_wanted(a->call, a->y);
    struct mat h = scratch_row(a->call, 0, a->up.rows);
    for (int64_t i = rows.first; i < rows.end; i++) {
        for (int64_t j = 0; j < h.cols; j++)
            AT(h, 0, j) = activate(a->act, dot(a->x, i, a->up, j) + AT(a->b, 0, j));
        for (int64_t k = 0; k < a->y.cols; k++)
            AT(a->y, i, k) = dot(h, 0, a->down, k) + AT(a->c, 0, k);
    }
}

/* h and dz of row i. */
static void hidden_row(const struct mlp_backward_args *a, int64_t i, struct mat h, struct mat dz)
{
    for (int64_t j = 0; j < h.cols; j++)
        AT(dz, 0, j) = R(0);
    for (int64_t k = 0; k < a->dy.cols; k++)
        add_scaled(dz, 0, AT(a->dy, i, k), a->down, k);
    for (int64_t j = 0; j < h.cols; j++) {
        real z = dot(a->x, i, a->up, j) + AT(a->b, 0, j);
        AT(h, 0, j) = activate(a->act, z);
        AT(dz, 0, j) = activate_backward(a->act, z, AT(dz, 0, j));
    }
}

REF(mlp_backward, 2 * a->up.rows)
{
    struct rows dx = rows_wanted(a->call, a->dx);
    struct rows dup = rows_wanted(a->call, a->dup), ddown = rows_wanted(a->call, a->ddown);
    struct rows db = rows_wanted(a->call, a->db);
    struct mat h = scratch_row(a->call, 0, a->up.rows), dz = scratch_row(a->call, a->up.rows, a->up.rows);
    begin_sums(a->call, a->dx);
    begin_sums(a->call, a->dup);
    begin_sums(a->call, a->db);
    begin_sums(a->call, a->ddown);
    begin_sums(a->call, a->dc);
    for (int64_t i = 0; i < a->dy.rows; i++) {
        hidden_row(a, i, h, dz);
        for (int64_t j = 0; j < h.cols && rows_has(dx, i); j++)
            add_scaled(a->dx, i, AT(dz, 0, j), a->up, j);
        for (int64_t j = dup.first; j < dup.end; j++)
            add_scaled(a->dup, j, AT(dz, 0, j), a->x, i);
        for (int64_t k = ddown.first; k < ddown.end; k++)
            add_scaled(a->ddown, k, AT(a->dy, i, k), h, 0);
        for (int64_t j = 0; j < h.cols && rows_any(db); j++)
            AT(a->db, 0, j) += AT(dz, 0, j);
        for (int64_t k = 0; k < a->dy.cols && rows_any(db); k++)
            AT(a->dc, 0, k) += AT(a->dy, i, k);
    }
}
