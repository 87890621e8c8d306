/*
 * Embedding: each row is the sum of the rows of a table that its indices name. Several tables, one for each
 * kind of type, are stacked in one, with indices that begin where their table does. With one index per row it
 * gathers rows of any matrix.
 *
 *   y_i = sum over t of table_index(i, t)    dtable_r = sum of dy_i over all (i, t) with index(i, t) = r
 *
 * index: N x H, from 0 to M - 1; table: M x D.
 */
#include "kernels/ref/loops.h"

REF(embedding, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->y.cols; k++) {
            real sum = AT(a->table, *index_at(a->index, i, 0), k);
            for (int64_t t = 1; t < a->index.cols; t++)
                sum += AT(a->table, *index_at(a->index, i, t), k);
            AT(a->y, i, k) = sum;
        }
}

REF(embedding_backward, 0)
{
    struct rows rows = rows_wanted(a->call, a->dtable);
    begin_sums(a->call, a->dtable);
    for (int64_t i = 0; i < a->dy.rows; i++)
        for (int64_t t = 0; t < a->index.cols; t++) {
            int64_t r = *index_at(a->index, i, t);
            for (int64_t k = 0; k < a->dy.cols && rows_has(rows, r); k++)
                AT(a->dtable, r, k) += AT(a->dy, i, k);
        }
}
