/* An activation alone, y = act(x), and its backward, dx (+)= dy * act'(x), divided as in elementwise.h. */
#include "kernels/cpu/activation.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/vectors.h"

INLINE void apply(int act, int64_t n, float *restrict y, const float *restrict x)
{
#pragma omp simd
    for (int64_t k = 0; k < n; k++)
        y[k] = activation(act, x[k]);
}

INLINE void apply_backward(int act, int64_t n, float *restrict dx, bool acc, const float *restrict dy,
                           const float *restrict x)
{
    if (acc) {
#pragma omp simd
        for (int64_t k = 0; k < n; k++)
            dx[k] += activation_backward(act, x[k], dy[k]);
    } else {
#pragma omp simd
        for (int64_t k = 0; k < n; k++)
            dx[k] = activation_backward(act, x[k], dy[k]);
    }
}

/* Calls f with the activation as a constant, for which its loop is compiled. */
#define WITH_CONSTANT(act, f, ...)                                                                           \
    switch (act) {                                                                                           \
    case ACT_GELU:                                                                                           \
        f(ACT_GELU, __VA_ARGS__);                                                                            \
        break;                                                                                               \
    case ACT_GELU_TANH:                                                                                      \
        f(ACT_GELU_TANH, __VA_ARGS__);                                                                       \
        break;                                                                                               \
    case ACT_RELU:                                                                                           \
        f(ACT_RELU, __VA_ARGS__);                                                                            \
        break;                                                                                               \
    default:                                                                                                 \
        f(ACT_NONE, __VA_ARGS__);                                                                            \
    }

void CPU(activate)(const void *args)
{
    const struct activate_args *a = args;
    struct pieces p = pieces_of(a->y.rows, a->y.cols, (const struct mat[]){a->y, a->x}, 2);
#pragma omp parallel for schedule(static) num_threads(threads_for(&a->call, mat_size(a->y), GRAIN))
    for (int64_t i = 0; i < p.count; i++)
        WITH_CONSTANT(a->act, apply, piece_size(p, i), piece(p, a->y, i), piece(p, a->x, i))
}

void CPU(activate_backward)(const void *args)
{
    const struct activate_backward_args *a = args;
    struct pieces p = pieces_of(a->dx.rows, a->dx.cols, (const struct mat[]){a->dx, a->dy, a->x}, 3);
#pragma omp parallel for schedule(static) num_threads(threads_for(&a->call, mat_size(a->dx), GRAIN))
    for (int64_t i = 0; i < p.count; i++)
        WITH_CONSTANT(a->act, apply_backward, piece_size(p, i), piece(p, a->dx, i), a->dx.acc,
                      piece(p, a->dy, i), piece(p, a->x, i))
}
