/*
 * Normalisation by sums that several ranks have together: batch norm (Ioffe and Szegedy 2015), of which all
 * rows are one graph and each column has sums of its own (M = D), and graph norm (graph_norm.c), with one of
 * each for all entries of a graph (M = 1). n is the number of entries that the sums are of, on all ranks.
 *
 *   mean = sum / n    rstd = 1 / sqrt(squares / n + eps)    h = (x - mean) rstd    y = h gain + bias
 *   g = dy gain    s = sum g    t = sum g h    dx = (g - s / n - h t / n) rstd    dgain = sum dy h    dbias =
 * sum dy
 *
 * With M = D the gain is a factor of dx instead, and s and t are those of dy, as in batch_norm.c.
 *
 * squares are of distances from a mean: first that of a rank's own entries, then, once it is known, that of
 * all (Chan, Golub and LeVeque 1983). Sums of squares alone would lose the variance of columns far from zero.
 */
#include "kernels/ref/loops.h"

/* The columns that have sums c of M. */
static struct rows columns_of(struct mat x, int64_t M, int64_t c)
{
    struct rows all = {0, x.cols}, one = {c, c + 1};
    return M == 1 ? all : one;
}

static double entries_of(struct mat n, int64_t g)
{
    return *double_at(n, g * n.ld);
}

/* Of column c of the sums of graph g. */
struct moments {
    real mean, rstd;
};

static struct moments moments_of(struct mat sum, struct mat squares, struct mat n, double eps, int64_t g,
                                 int64_t c)
{
    double entries = entries_of(n, g);
    struct moments m;
    m.mean = AT(sum, g, c) / R(entries);
    m.rstd = R(1) / r_sqrt(AT(squares, g, c) / R(entries) + R(eps));
    return m;
}

static void add_rows(const struct norm_sums_args *a, int64_t g, int64_t c)
{
    struct rows graph = graph_rows(a->graphs, g), columns = columns_of(a->x, a->sum.cols, c);
    int64_t entries = (graph.end - graph.first) * (columns.end - columns.first);
    real sum = R(0), squares = R(0);
    for (int64_t i = graph.first; i < graph.end; i++)
        for (int64_t k = columns.first; k < columns.end; k++)
            sum += AT(a->x, i, k);
    real mean = sum / R(entries > 0 ? entries : 1);
    for (int64_t i = graph.first; i < graph.end; i++)
        for (int64_t k = columns.first; k < columns.end; k++) {
            real centred = AT(a->x, i, k) - mean;
            squares += centred * centred;
        }
    if (rows_has(rows_wanted(a->call, a->sum), g)) {
        AT(a->sum, g, c) = sum;
        AT(a->squares, g, c) = squares;
    }
}

REF(norm_sums, 0)
{
    for (int64_t g = 0; g < a->sum.rows; g++)
        for (int64_t c = 0; c < a->sum.cols && rows_has(rows_wanted(a->call, a->sum), g); c++)
            add_rows(a, g, c);
}

/* Ranks without entries add nothing. */
REF(norm_shift, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t g = rows.first; g < rows.end; g++)
        for (int64_t c = 0; c < a->y.cols; c++) {
            double own = entries_of(a->own, g);
            real mean = AT(a->total, g, c) / R(entries_of(a->n, g));
            real off = AT(a->sum, g, c) - R(own) * mean;
            AT(a->y, g, c) = AT(a->squares, g, c) + off * off / R(own > 0 ? own : 1);
        }
}

static void normalise(const struct norm_by_sums_args *a, int64_t g, int64_t c, struct rows wanted)
{
    struct moments m = moments_of(a->sum, a->squares, a->n, a->eps, g, c);
    struct rows columns = columns_of(a->x, a->sum.cols, c);
    for (int64_t i = wanted.first; i < wanted.end; i++)
        for (int64_t k = columns.first; k < columns.end; k++)
            AT(a->y, i, k) = (AT(a->x, i, k) - m.mean) * m.rstd * AT(a->gain, 0, k) + AT(a->bias, 0, k);
}

REF(norm_by_sums, 0)
{
    struct rows all = rows_wanted(a->call, a->y), none = rows_of_none(a->graphs, all);
    for (int64_t g = 0; g < graph_count(a->graphs); g++) {
        struct rows wanted = rows_common(graph_rows(a->graphs, g), all);
        for (int64_t c = 0; c < a->sum.cols && rows_any(wanted); c++)
            normalise(a, g, c, wanted);
    }
    clear_rows(a->y, none);
}

/* Column k, of group c: adds to s and t. */
static void add_column(const struct norm_gradient_sums_args *a, int64_t g, int64_t k, struct moments m,
                       real *s, real *t)
{
    struct rows graph = graph_rows(a->graphs, g);
    real dy = R(0), dn = R(0);
    for (int64_t i = graph.first; i < graph.end; i++) {
        dy += AT(a->dy, i, k);
        dn += AT(a->dy, i, k) * (AT(a->x, i, k) - m.mean);
    }
    dn = dn * m.rstd;
    if (rows_any(rows_wanted(a->call, a->dgain)))
        AT(a->dgain, 0, k) += dn;
    if (rows_any(rows_wanted(a->call, a->dbias)))
        AT(a->dbias, 0, k) += dy;
    if (a->sum.cols > 1) {
        *s = dy;
        *t = dn;
    } else {
        *s += dy * AT(a->gain, 0, k);
        *t += dn * AT(a->gain, 0, k);
    }
}

static void add_sums(const struct norm_gradient_sums_args *a, int64_t g, int64_t c)
{
    struct moments m = moments_of(a->sum, a->squares, a->n, a->eps, g, c);
    struct rows columns = columns_of(a->x, a->sum.cols, c);
    real s = R(0), t = R(0);
    for (int64_t k = columns.first; k < columns.end; k++)
        add_column(a, g, k, m, &s, &t);
    if (rows_has(rows_wanted(a->call, a->s), g)) {
        AT(a->s, g, c) = s;
        AT(a->t, g, c) = t;
    }
}

REF(norm_gradient_sums, 0)
{
    bool shared = rows_any(rows_wanted(a->call, a->dgain)) || rows_any(rows_wanted(a->call, a->dbias));
    struct rows wanted = rows_wanted(a->call, a->s);
    begin_sums(a->call, a->dgain);
    begin_sums(a->call, a->dbias);
    for (int64_t g = 0; g < graph_count(a->graphs); g++)
        for (int64_t c = 0; c < a->sum.cols && (shared || rows_has(wanted, g)); c++)
            add_sums(a, g, c);
}

static void pass_back(const struct norm_gradient_args *a, int64_t g, int64_t c, struct rows wanted)
{
    struct moments m = moments_of(a->sum, a->squares, a->n, a->eps, g, c);
    struct rows columns = columns_of(a->x, a->sum.cols, c);
    double entries = entries_of(a->n, g);
    bool each = a->sum.cols > 1;
    real s = AT(a->s, g, c) / R(entries), t = AT(a->t, g, c) / R(entries) * m.rstd;
    real slope = each ? m.rstd * AT(a->gain, 0, c) : m.rstd;
    for (int64_t i = wanted.first; i < wanted.end; i++)
        for (int64_t k = columns.first; k < columns.end; k++) {
            real dn = each ? AT(a->dy, i, k) : AT(a->dy, i, k) * AT(a->gain, 0, k);
            put(a->dx, i, k, (dn - s - (AT(a->x, i, k) - m.mean) * t) * slope);
        }
}

REF(norm_gradient, 0)
{
    struct rows all = rows_wanted(a->call, a->dx), none = rows_of_none(a->graphs, all);
    for (int64_t g = 0; g < graph_count(a->graphs); g++) {
        struct rows wanted = rows_common(graph_rows(a->graphs, g), all);
        for (int64_t c = 0; c < a->sum.cols && rows_any(wanted); c++)
            pass_back(a, g, c, wanted);
    }
    clear_rows(a->dx, none);
}

static void move(struct mat running, int64_t k, double momentum, real value)
{
    AT(running, 0, k) = R(1 - momentum) * AT(running, 0, k) + R(momentum) * value;
}

REF(move_statistics, 0)
{
    double n = entries_of(a->n, 0), rest = n > 1 ? n - 1 : 1;
    if (!rows_any(rows_wanted(a->call, a->running_mean)))
        return;
    for (int64_t k = 0; k < a->sum.cols; k++) {
        move(a->running_mean, k, a->momentum, AT(a->sum, 0, k) / R(n));
        move(a->running_var, k, a->momentum, AT(a->squares, 0, k) / R(rest));
    }
}
