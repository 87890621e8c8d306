/*
 * Inner products of columns, weighted by the rows' masses: used by the Rayleigh-Ritz procedure and for
 * orthonormalising blocks.
 *
 *   g_rc = sum of x_ir m_i y_ic
 */
#include "kernels/ref/loops.h"

REF(gram, a->x.rows)
{
    struct rows rows = rows_wanted(a->call, a->g);
    struct mat column = scratch_row(a->call, 0, a->x.rows);
    for (int64_t r = rows.first; r < rows.end; r++) {
        for (int64_t i = 0; i < a->x.rows; i++)
            AT(column, 0, i) = mat_present(a->m) ? AT(a->m, i, 0) * AT(a->x, i, r) : AT(a->x, i, r);
        for (int64_t c = 0; c < a->g.cols; c++) {
            real sum = R(0);
            for (int64_t i = 0; i < a->x.rows; i++)
                sum += AT(column, 0, i) * AT(a->y, i, c);
            put_double(a->g, r, c, sum);
        }
    }
}
