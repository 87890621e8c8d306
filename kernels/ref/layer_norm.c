/*
 * Layer normalisation over the D entries of each row (Ba, Kiros, Hinton 2016).
 *
 *   mean = sum x / D    var = sum (x - mean)^2 / D    rstd = 1 / sqrt(var + eps)    stats = [mean, rstd]
 *   n = (x - mean) rstd    y = n gain + bias
 *
 * add_layer_norm is the same for x = a + b, the residual connection.
 *
 *   g = dy gain    dx = (g - sum g / D - n sum (g n) / D) rstd    dgain = sum dy n    dbias = sum dy
 *
 * The variance uses a second pass over the row, because sum x^2 / D - mean^2 would cancel.
 */
#include "kernels/ref/loops.h"

/* y_i from x_i; mean and rstd are written if stats is present. */
static void normalise(struct mat y, struct mat stats, struct mat x, struct mat gain, struct mat bias,
                      double eps, int64_t i)
{
    int64_t D = x.cols;
    real sum = R(0), squares = R(0);
    for (int64_t k = 0; k < D; k++)
        sum += AT(x, i, k);
    real mean = sum / R(D);
    for (int64_t k = 0; k < D; k++) {
        real centred = AT(x, i, k) - mean;
        squares += centred * centred;
    }
    real rstd = R(1) / r_sqrt(squares / R(D) + R(eps));
    for (int64_t k = 0; k < D; k++)
        AT(y, i, k) = (AT(x, i, k) - mean) * rstd * AT(gain, 0, k) + AT(bias, 0, k);
    if (mat_present(stats)) {
        AT(stats, i, 0) = mean;
        AT(stats, i, 1) = rstd;
    }
}

REF(layer_norm, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        normalise(a->y, a->stats, a->x, a->gain, a->bias, a->eps, i);
}

REF(add_layer_norm, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    struct mat sum = mat_present(a->sum) ? a->sum : a->y; /* y holds the sum until it is normalised */
    for (int64_t i = rows.first; i < rows.end; i++) {
        for (int64_t k = 0; k < a->y.cols; k++)
            AT(sum, i, k) = AT(a->a, i, k) + AT(a->b, i, k);
        normalise(a->y, a->stats, sum, a->gain, a->bias, a->eps, i);
    }
}

static void dx_row(const struct layer_norm_backward_args *a, int64_t i, struct mat n, struct mat g)
{
    int64_t D = n.cols;
    real sum_g = R(0), sum_gn = R(0);
    for (int64_t k = 0; k < D; k++) {
        AT(g, 0, k) = AT(a->dy, i, k) * AT(a->gain, 0, k);
        sum_g += AT(g, 0, k);
        sum_gn += AT(g, 0, k) * AT(n, 0, k);
    }
    real mean_g = sum_g / R(D), mean_gn = sum_gn / R(D), rstd = AT(a->stats, i, 1);
    for (int64_t k = 0; k < D; k++)
        put(a->dx, i, k, (AT(g, 0, k) - mean_g - AT(n, 0, k) * mean_gn) * rstd);
}

REF(layer_norm_backward, 2 * a->x.cols)
{
    int64_t D = a->x.cols;
    struct rows dx = rows_wanted(a->call, a->dx);
    bool dgain = rows_any(rows_wanted(a->call, a->dgain));
    bool dbias = rows_any(rows_wanted(a->call, a->dbias));
    struct rows all = {0, a->x.rows}, rows = dgain || dbias ? all : dx;
    struct mat n = scratch_row(a->call, 0, D), g = scratch_row(a->call, D, D);
    begin_sums(a->call, a->dgain);
    begin_sums(a->call, a->dbias);
    for (int64_t i = rows.first; i < rows.end; i++) {
        for (int64_t k = 0; k < D; k++)
            AT(n, 0, k) = (AT(a->x, i, k) - AT(a->stats, i, 0)) * AT(a->stats, i, 1);
        if (rows_has(dx, i))
            dx_row(a, i, n, g);
        for (int64_t k = 0; k < D && dgain; k++)
            AT(a->dgain, 0, k) += AT(a->dy, i, k) * AT(n, 0, k);
        for (int64_t k = 0; k < D && dbias; k++)
            AT(a->dbias, 0, k) += AT(a->dy, i, k);
    }
}
