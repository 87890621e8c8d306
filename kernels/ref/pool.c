/*
 * Mean, sum and maximum over the rows of each graph. Graph g has n_g rows of x and row g of y.
 *
 *   mean   y_g = sum of x_i over i in g / n_g    dx_i = dy_g / n_g for i in g
 *   sum    y_g = sum of x_i over i in g          dx_i = dy_g
 *   max    y_g = max of x_i over i in g          dx_i = dy_g / (number of largest entries) where x_i is y_g
 *
 * Of graphs whose rows several ranks have, the largest entries and their number are found over all ranks.
 */
#include "kernels/ref/loops.h"

#include <float.h>

REF(mean_pool, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t g = rows.first; g < rows.end; g++) {
        struct rows graph = graph_rows(a->graphs, g);
        for (int64_t k = 0; k < a->y.cols; k++) {
            real sum = R(0);
            for (int64_t i = graph.first; i < graph.end; i++)
                sum += AT(a->x, i, k);
            AT(a->y, g, k) = sum / R(graph.end - graph.first);
        }
    }
}

REF(mean_pool_backward, 0)
{
    for (int64_t g = 0; g < graph_count(a->graphs); g++) {
        struct rows graph = graph_rows(a->graphs, g);
        struct rows wanted = rows_common(graph, rows_wanted(a->call, a->dx));
        for (int64_t k = 0; k < a->dy.cols && rows_any(wanted); k++) {
            real share = AT(a->dy, g, k) / R(graph.end - graph.first);
            for (int64_t i = wanted.first; i < wanted.end; i++)
                put(a->dx, i, k, share);
        }
    }
}

REF(sum_pool, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t g = rows.first; g < rows.end; g++) {
        struct rows graph = graph_rows(a->graphs, g);
        for (int64_t k = 0; k < a->y.cols; k++) {
            real sum = R(0);
            for (int64_t i = graph.first; i < graph.end; i++)
                sum += AT(a->x, i, k);
            AT(a->y, g, k) = sum;
        }
    }
}

REF(sum_pool_backward, 0)
{
    for (int64_t g = 0; g < graph_count(a->graphs); g++) {
        struct rows wanted = rows_common(graph_rows(a->graphs, g), rows_wanted(a->call, a->dx));
        for (int64_t i = wanted.first; i < wanted.end; i++)
            for (int64_t k = 0; k < a->dy.cols; k++)
                put(a->dx, i, k, AT(a->dy, g, k));
    }
}

REF(max_pool, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t g = rows.first; g < rows.end; g++) {
        struct rows graph = graph_rows(a->graphs, g);
        for (int64_t k = 0; k < a->y.cols; k++) {
            real top = R(-FLT_MAX); /* of no rows */
            for (int64_t i = graph.first; i < graph.end; i++)
                top = r_max(top, AT(a->x, i, k));
            AT(a->y, g, k) = top;
        }
    }
}

REF(max_pool_backward, 0)
{
    for (int64_t g = 0; g < graph_count(a->graphs); g++) {
        struct rows graph = graph_rows(a->graphs, g);
        struct rows wanted = rows_common(graph, rows_wanted(a->call, a->dx));
        for (int64_t k = 0; k < a->dy.cols && rows_any(wanted); k++) {
            real largest = R(0);
            for (int64_t i = graph.first; i < graph.end; i++)
                largest += r_match(AT(a->x, i, k), AT(a->y, g, k), R(1));
            real share = AT(a->dy, g, k) / largest;
            for (int64_t i = wanted.first; i < wanted.end; i++)
                put(a->dx, i, k, r_match(AT(a->x, i, k), AT(a->y, g, k), share));
        }
    }
}

REF(count_largest, 0)
{
    struct rows rows = rows_wanted(a->call, a->count);
    for (int64_t g = rows.first; g < rows.end; g++) {
        struct rows graph = graph_rows(a->graphs, g);
        for (int64_t k = 0; k < a->count.cols; k++) {
            real matches = R(0);
            for (int64_t i = graph.first; i < graph.end; i++)
                matches += r_match(AT(a->x, i, k), AT(a->y, g, k), R(1));
            AT(a->count, g, k) = matches;
        }
    }
}

REF(share_largest, 0)
{
    struct rows all = rows_wanted(a->call, a->dx), none = rows_of_none(a->graphs, all);
    for (int64_t g = 0; g < graph_count(a->graphs); g++) {
        struct rows wanted = rows_common(graph_rows(a->graphs, g), all);
        for (int64_t k = 0; k < a->dy.cols && rows_any(wanted); k++) {
            real share = AT(a->dy, g, k) / AT(a->count, g, k);
            for (int64_t i = wanted.first; i < wanted.end; i++)
                put(a->dx, i, k, r_match(AT(a->x, i, k), AT(a->y, g, k), share));
        }
    }
    clear_rows(a->dx, none);
}
