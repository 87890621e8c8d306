/* cast   y = x in F32, rounded to BF16 */
#include "kernels/cpu/cpu.h"

/* Elements that one thread rounds in a few times the cost of a fork. */
enum { GRAIN = 1 << 15 };

void CPU(cast)(const void *args)
{
    const struct cast_args *a = args;
#pragma omp parallel for schedule(static) num_threads(threads_for(&a->call, mat_size(a->y), GRAIN))
    for (int64_t i = 0; i < a->y.rows; i++) {
        uint16_t *restrict y = (uint16_t *)a->y.data + i * a->y.ld;
        const float *restrict x = (const float *)a->x.data + i * a->x.ld;
#pragma omp simd
        for (int64_t k = 0; k < a->y.cols; k++)
            y[k] = bf16_of_float(x[k]);
    }
}
