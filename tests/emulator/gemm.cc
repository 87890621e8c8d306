/* Products of column-major matrices, shared by cuBLAS and cublasLt. */
#include "tests/emulator/emulator.h"

#include <vector>

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
            for (int64_t l = 0; l < g->inner; l++)
                sum += row[(size_t)l] * column[l];
            float *c = &g->c[i + j * g->ldc];
            /* c is not read if beta is 0. */
            *c = (float)((double)g->alpha * sum + (g->beta != 0 ? (double)g->beta * (double)*c : 0));
        }
    }
}
