/*
 * Which of several ways to compute the same is fastest: timed once for each shape, when it is computed for
 * the first time, outside of captures, on the operands of that call, unless an earlier run did. The context
 * keeps the choice, so that within a run bits do not change. The first way is taken unless another is faster
 * by a margin (product_plan.h).
 */
#ifndef GTMARK_KERNELS_CUDA_CHOICE_H
#define GTMARK_KERNELS_CUDA_CHOICE_H

#include "kernels/cuda/product_plan.h"
#include "kernels/cuda/run.cuh"

/* Of which a way is called in one timing; timings of each way, of which the best counts. */
enum { CHOICE_CALLS = 4, CHOICE_ROUNDS = 3 };

/* Calls that take longer are timed once. */
static const double choice_long = 1e-3;

static inline struct cuda_choice *choice_find(struct cuda_context *c, const int64_t *key)
{
    struct cuda_choice *found = c->choices;
    while (found && memcmp(found->is.key, key, sizeof found->is.key) != 0)
        found = found->next;
    if (found)
        found->used = true;
    return found;
}

static inline struct cuda_choice *choice_add(struct cuda_context *c, const int64_t *key)
{
    struct cuda_choice **last = &c->choices, *added = (struct cuda_choice *)calloc(1, sizeof *added);
    if (!added)
        abort();
    while (*last)
        last = &(*last)->next;
    memcpy(added->is.key, key, sizeof added->is.key);
    added->used = true;
    return *last = added;
}

/*
 * m, or if it is accumulated a matrix of zeros in memory of its own, to be freed (`own`), that can be written
 * again and again; without room for one data is null.
 */
static inline cuda_status choice_result(const struct cuda_context *c, struct mat *m, void **own)
{
    size_t bytes = (size_t)((m->rows - 1) * m->ld + m->cols) * dtype_size(m->dtype);
    *own = NULL;
    if (!m->acc)
        return cudaSuccess;
    cudaError_t status = cudaMalloc(own, bytes);
    m->data = *own;
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* clears it */
        return cudaSuccess;
    }
    return status != cudaSuccess ? status : cudaMemsetAsync(*own, 0, bytes, c->stream);
}

/* Seconds of a call of `queue(way)`, of `calls` between two events. */
template <class F>
static cuda_status choice_time(const struct cuda_context *c, const cudaEvent_t *at, int calls, int way,
                               const F &queue, double *seconds)
{
    float milliseconds = 0;
    cuda_status status = cudaEventRecord(at[0], c->stream);
    for (int i = 0; i < calls && !status.fault; i++)
        status = queue(way);
    if (!status.fault)
        status = cudaEventRecord(at[1], c->stream);
    if (!status.fault)
        status = cudaStreamSynchronize(c->stream);
    if (!status.fault)
        status = cudaEventElapsedTime(&milliseconds, at[0], at[1]);
    *seconds = 1e-3 * (double)milliseconds / calls;
    return status;
}

/* The fewest seconds of each way, which was called before, so that its code is loaded. */
template <class F>
static cuda_status choice_times(const struct cuda_context *c, const cudaEvent_t *at, int ways, const F &queue,
                                double *seconds)
{
    cuda_status status = cudaSuccess;
    for (int way = 0; way < ways && !status.fault; way++)
        status = choice_time(c, at, 1, way, queue, &seconds[way]);
    for (int i = 0; i < CHOICE_ROUNDS * ways && !status.fault; i++) {
        double again = 0, *best = &seconds[i % ways];
        if (*best > choice_long)
            continue;
        status = choice_time(c, at, CHOICE_CALLS, i % ways, queue, &again);
        *best = again < *best ? again : *best;
    }
    return status;
}

/* Times them, and stores the number of the one to take. */
template <class F>
static cuda_status choice_run(const struct cuda_context *c, int ways, const F &queue, double *seconds,
                              int *fastest)
{
    cudaEvent_t at[2] = {NULL, NULL};
    cuda_status status = cudaEventCreate(&at[0]);
    if (!status.fault)
        status = cudaEventCreate(&at[1]);
    if (!status.fault)
        status = choice_times(c, at, ways, queue, seconds);
    for (int i = 0; i < 2; i++)
        if (at[i])
            cudaEventDestroy(at[i]);
    *fastest = choice_fastest(seconds, ways);
    return status;
}

/* Adds the times to the choice; they are 0 if nothing was timed. */
static inline void choice_add_times(struct cuda_choice *to, int ways, const double *seconds)
{
    to->timed = seconds[0] > 0;
    for (int way = 0; way < ways && to->timed; way++) {
        size_t length = strlen(to->text);
        snprintf(to->text + length, sizeof to->text - length, "%s%.4g%s", way ? " " : ", ",
                 1e6 * seconds[way], way + 1 < ways ? "" : " us");
    }
}

#endif
