/*
 * Dropout (kernels/mask.h): y = x / (1 - p) where kept, otherwise 0; dx (+)= dy / (1 - p) with the same mask.
 * Contiguous matrices are one run of elements, others are divided by rows (elementwise.h).
 */
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/mask.h"

/* n elements, of which the first is entry `first`. */
static void drop(struct mask m, int64_t first, int64_t n, float *restrict y, bool acc,
                 const float *restrict x)
{
    float scale = (float)m.scale;
    struct mask_buffer buffer;
    for (int64_t run; n > 0; first += run, n -= run, y += run, x += run) {
        run = min_of(MASK_RUN, n);
        const mask_half *numbers = mask_numbers(m, first, run, &buffer);
        if (acc) {
#pragma omp simd
            for (int64_t k = 0; k < run; k++)
                y[k] += mask_apply(m, numbers[k], scale, x[k]);
        } else {
#pragma omp simd
            for (int64_t k = 0; k < run; k++)
                y[k] = mask_apply(m, numbers[k], scale, x[k]);
        }
    }
}

static void drop_all(const struct call *call, struct mask m, struct mat y, struct mat x)
{
    struct pieces p = pieces_of(y.rows, y.cols, (const struct mat[]){y, x}, 2);
    int threads = threads_for(call, mat_size(y), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < p.count; i++)
        drop(m, i * p.size, piece_size(p, i), piece(p, y, i), y.acc, piece(p, x, i));
}

void CPU(dropout)(const void *args)
{
    const struct dropout_args *a = args;
    drop_all(&a->call, mask_of(a->key, *(const double *)a->schedule.data, a->p), a->y, a->x);
}

void CPU(dropout_backward)(const void *args)
{
    const struct dropout_backward_args *a = args;
    drop_all(&a->call, mask_of(a->key, *(const double *)a->schedule.data, a->p), a->dx, a->dy);
}
