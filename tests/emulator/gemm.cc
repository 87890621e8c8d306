/*
 * Products of column-major matrices, shared by cuBLAS and cublasLt.
 *
 * Tensor cores add a few products to a sum at a time, all aligned to the largest of them, without the bits
 * below a float's last (M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior of NVIDIA tensor
 * cores", 2021).
 */
#include "tests/emulator/emulator.h"

#include <algorithm>
#include <cmath>
#include <vector>

enum { TOGETHER = 8 };

/* sum + the products of `count` entries, truncated. */
static double add_truncated(double sum, const double *a, const double *b, int64_t count)
{
    double most = fabs(sum), total;
    int exponent;
    double exact = sum;
    for (int64_t l = 0; l < count; l++) {
        most = fmax(most, fabs(a[l] * b[l]));
        exact += a[l] * b[l];
    }
    if (!std::isfinite(exact) || most == 0)
        return exact;
    frexp(most, &exponent);
    const double unit = ldexp(1, exponent - 24);
    total = trunc(sum / unit);
    for (int64_t l = 0; l < count; l++)
        total += trunc(a[l] * b[l] / unit);
    frexp(total, &exponent);
    const double last = exponent > 24 ? ldexp(1, exponent - 24) : 1;
    return trunc(total / last) * last * unit;
}

/* Row i of op(a), which is read once. */
static void read_row(const struct gemm *g, int64_t i, std::vector<double> *row)
{
    for (int64_t l = 0; l < g->inner; l++)
        (*row)[(size_t)l] = (double)g->round(g->a_transposed ? g->a[l + i * g->lda] : g->a[i + l * g->lda]);
}

/* op(b), column by column. */
static std::vector<double> read_columns(const struct gemm *g)
{
    std::vector<double> b((size_t)(g->inner * g->cols));
    for (int64_t j = 0; j < g->cols; j++)
        for (int64_t l = 0; l < g->inner; l++)
            b[(size_t)(j * g->inner + l)] =
                (double)g->round(g->b_transposed ? g->b[j + l * g->ldb] : g->b[l + j * g->ldb]);
    return b;
}

void gemm_run(const struct gemm *g)
{
    std::vector<double> row((size_t)g->inner);
    const std::vector<double> columns = read_columns(g);
    for (int64_t i = 0; i < g->rows; i++) {
        read_row(g, i, &row);
        for (int64_t j = 0; j < g->cols; j++) {
            const double *column = &columns[(size_t)(j * g->inner)];
            double sum = 0;
            for (int64_t l = 0; l < g->inner && !g->tensor; l++)
                sum += row[(size_t)l] * column[l];
            for (int64_t l = 0; l < g->inner && g->tensor; l += TOGETHER)
                sum = add_truncated(sum, &row[(size_t)l], column + l,
                                    std::min<int64_t>(TOGETHER, g->inner - l));
            float *c = &g->c[i + j * g->ldc];
            /* c is not read if beta is 0. */
            *c = (float)((double)g->alpha * sum + (g->beta != 0 ? (double)g->beta * (double)*c : 0));
        }
    }
}
