/*
 * Batch normalisation over the N entries of each column (Ioffe and Szegedy 2015).
 *
 *   mean = sum x / N    var = sum (x - mean)^2 / N    rstd = 1 / sqrt(var + eps)    stats = [mean; rstd]
 *   n = (x - mean) rstd    y = n gain + bias
 *
 * Running statistics are moving averages of those of the batch, with the unbiased variance: sum (x - mean)^2
 * / (N - 1), divided by 1 for a single row. Inference uses them.
 *
 *   s = sum dy    t = sum dy n    dx = (dy - s / N - n t / N) gain rstd    dgain = t    dbias = s
 */
#include "kernels/ref/loops.h"

static void move(struct mat running, int64_t k, double momentum, real value)
{
    AT(running, 0, k) = R(1 - momentum) * AT(running, 0, k) + R(momentum) * value;
}

static void normalise_column(const struct batch_norm_args *a, struct rows rows, int64_t k)
{
    int64_t N = a->x.rows;
    real sum = R(0), squares = R(0);
    for (int64_t i = 0; i < N; i++)
        sum += AT(a->x, i, k);
    real mean = sum / R(N);
    for (int64_t i = 0; i < N; i++) {
        real centred = AT(a->x, i, k) - mean;
        squares += centred * centred;
    }
    real rstd = R(1) / r_sqrt(squares / R(N) + R(a->eps));
    for (int64_t i = rows.first; i < rows.end; i++)
        AT(a->y, i, k) = (AT(a->x, i, k) - mean) * rstd * AT(a->gain, 0, k) + AT(a->bias, 0, k);
    struct rows stats = rows_wanted(a->call, a->stats);
    if (rows_has(stats, 0))
        AT(a->stats, 0, k) = mean;
    if (rows_has(stats, 1))
        AT(a->stats, 1, k) = rstd;
    real unbiased = squares / R(N > 1 ? N - 1 : 1);
    if (rows_any(rows_wanted(a->call, a->running_mean))) {
        move(a->running_mean, k, a->momentum, mean);
        move(a->running_var, k, a->momentum, unbiased);
    }
}

REF(batch_norm, 0)
{
    for (int64_t k = 0; k < a->x.cols; k++)
        normalise_column(a, rows_wanted(a->call, a->y), k);
}

REF(batch_norm_inference, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t k = 0; k < a->x.cols; k++) {
        real rstd = R(1) / r_sqrt(AT(a->running_var, 0, k) + R(a->eps)), mean = AT(a->running_mean, 0, k);
        for (int64_t i = rows.first; i < rows.end; i++)
            AT(a->y, i, k) = (AT(a->x, i, k) - mean) * rstd * AT(a->gain, 0, k) + AT(a->bias, 0, k);
    }
}

static void column_backward(const struct batch_norm_backward_args *a, int64_t k)
{
    int64_t N = a->x.rows;
    struct mat n = scratch_row(a->call, 0, N);
    real mean = AT(a->stats, 0, k), rstd = AT(a->stats, 1, k), s = R(0), t = R(0);
    for (int64_t i = 0; i < N; i++) {
        AT(n, 0, i) = (AT(a->x, i, k) - mean) * rstd;
        s += AT(a->dy, i, k);
        t += AT(a->dy, i, k) * AT(n, 0, i);
    }
    if (rows_any(rows_wanted(a->call, a->dgain)))
        put(a->dgain, 0, k, t);
    if (rows_any(rows_wanted(a->call, a->dbias)))
        put(a->dbias, 0, k, s);
    if (!mat_present(a->dx))
        return;
    real s_mean = s / R(N), t_mean = t / R(N), slope = AT(a->gain, 0, k) * rstd;
    struct rows rows = rows_wanted(a->call, a->dx);
    for (int64_t i = rows.first; i < rows.end; i++)
        put(a->dx, i, k, (AT(a->dy, i, k) - s_mean - AT(n, 0, i) * t_mean) * slope);
}

REF(batch_norm_backward, a->x.rows)
{
    for (int64_t k = 0; k < a->x.cols; k++)
        column_backward(a, k);
}
