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

/* sum + the products of `count` entries, of a row and of a column of `cols`, truncated. */
static double add_truncated(double sum, const double *a, const double *b, int64_t cols, int64_t count)
{
    double most = fabs(sum), total;
    int exponent;
    double exact = sum;
    for (int64_t l = 0; l < count; l++) {
        most = fmax(most, fabs(a[l] * b[l * cols]));
        exact += a[l] * b[l * cols];
    }
    if (!std::isfinite(exact) || most == 0)
        return exact;
    frexp(most, &exponent);
    const double unit = ldexp(1, exponent - 24);
    total = trunc(sum / unit);
    for (int64_t l = 0; l < count; l++)
        total += trunc(a[l] * b[l * cols] / unit);
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

/* op(b), row by row. */
static std::vector<double> read_rows(const struct gemm *g)
{
    std::vector<double> b((size_t)(g->inner * g->cols));
    for (int64_t l = 0; l < g->inner; l++)
        for (int64_t j = 0; j < g->cols; j++)
            b[(size_t)(l * g->cols + j)] =
                (double)g->round(g->b_transposed ? g->b[j + l * g->ldb] : g->b[l + j * g->ldb]);
    return b;
}

/* The sums of a row, of all columns side by side. */
static void multiply(const struct gemm *g, const double *row, const double *b, double *sums)
{
    std::fill_n(sums, g->cols, 0.0);
    for (int64_t l = 0; l < g->inner && !g->tensor; l++)
        for (int64_t j = 0; j < g->cols; j++)
            sums[j] += row[l] * b[l * g->cols + j];
    for (int64_t l = 0; l < g->inner && g->tensor; l += TOGETHER)
        for (int64_t j = 0; j < g->cols; j++)
            sums[j] = add_truncated(sums[j], row + l, &b[l * g->cols + j], g->cols,
                                    std::min<int64_t>(TOGETHER, g->inner - l));
}

void gemm_run(const struct gemm *g)
{
    std::vector<double> row((size_t)g->inner), sums((size_t)g->cols);
    const std::vector<double> b = read_rows(g);
    for (int64_t i = 0; i < g->rows; i++) {
        read_row(g, i, &row);
        multiply(g, row.data(), b.data(), sums.data());
        for (int64_t j = 0; j < g->cols; j++) {
            float *c = &g->c[i + j * g->ldc];
            /* c is not read if beta is 0. */
            *c = (float)((double)g->alpha * sums[(size_t)j] +
                         (g->beta != 0 ? (double)g->beta * (double)*c : 0));
        }
    }
}
