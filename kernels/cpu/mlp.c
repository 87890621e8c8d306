/*
 * Two linear layers with an activation in between: h = act(x up' + b), y = h down' + c. x and y: N x D,
 * up: M x D, down: D x M.
 *
 * A task is a block of rows. Its part of h is computed by strips, each of which gets bias and activation in
 * the first-level cache, and is read by the second product from the second-level cache: it never gets to
 * memory. Both weights are packed once, for all threads. The variant "steps" is two linear layers.
 */
#include "kernels/cpu/finish.h"
#include "kernels/cpu/tasks.h"
#include "kernels/mlp_steps.h"

enum { ROWS = 48 /* of a task: a multiple of all GEMM_ROWS */ };

struct network {
    const struct mlp_args *a;
    struct task_queue *queues;
    float *up, *down, *hidden; /* packed weights, and a panel of h for each thread */
    int64_t per_thread, ld;    /* floats; not a power of two, whose rows would share sets of a cache */
};

static struct network network_of(const struct mlp_args *a, int64_t *bytes)
{
    int64_t d = a->x.cols, m = a->up.rows;
    struct network n = {.a = a, .ld = round_up(m, 16) + 16};
    n.per_thread = ROWS * n.ld + GEMM_GAP;
    float *queues;
    const struct scratch_part parts[] = {{&queues, task_queues_size(a->call.threads)},
                                         {&n.up, gemm_packed_size(d, m)},
                                         {&n.down, gemm_packed_size(m, d) + GEMM_GAP},
                                         {&n.hidden, n.per_thread * a->call.threads}};
    *bytes = 4 * SCRATCH(a->call.scratch, parts);
    n.queues = (struct task_queue *)(void *)queues;
    return n;
}

/* y = act(x w' + b), where w' is m columns wide and packed; strip by strip. */
static void layer(int64_t rows, int64_t m, int64_t k, struct gemm_in x, const float *packed, const float *b,
                  int act, float *y, int64_t ldy)
{
    for (int64_t j = 0; j < m; j += PANEL) {
        struct mat strip = {.data = y + j, .ld = ldy};
        int64_t cols = min_of(PANEL, m - j);
        gemm_biased(rows, cols, k, x, packed + j * k, y + j, ldy, b + j);
        if (act)
            finish_strip(act, rows, cols, strip, strip);
    }
}

/* Block number t of rows. */
static void block(const void *network, int64_t t, void *h)
{
    const struct network *n = network;
    const struct mlp_args *a = n->a;
    int64_t d = a->x.cols, m = a->up.rows, i = t * ROWS, rows = min_of(ROWS, a->y.rows - i);
    layer(rows, m, d, gemm_in(row_of(a->x, i), a->x.ld), n->up, row_of(a->b, 0), a->act, h, n->ld);
    layer(rows, d, m, gemm_in(h, n->ld), n->down, row_of(a->c, 0), ACT_NONE, row_of(a->y, i), a->y.ld);
}

static void pack(struct mat w, int64_t j, float *packed)
{
    gemm_pack(w.cols, min_of(GEMM_COLS, w.rows - j), gemm_transposed(row_of(w, j), w.ld),
              packed + j * w.cols);
}

void CPU(mlp)(const void *args)
{
    const struct mlp_args *a = args;
    int64_t bytes, rows = a->y.rows, d = a->x.cols, m = a->up.rows;
    struct network n = network_of(a, &bytes);
    int threads = threads_for(&a->call, rows * m * d, 1 << 15);
#pragma omp parallel num_threads(threads)
    {
        float *h = n.hidden + omp_get_thread_num() * n.per_thread;
#pragma omp for schedule(static) nowait
        for (int64_t j = 0; j < m; j += GEMM_COLS)
            pack(a->up, j, n.up);
#pragma omp for schedule(static) nowait
        for (int64_t j = 0; j < d; j += GEMM_COLS)
            pack(a->down, j, n.down);
        tasks_run(n.queues, blocks_of(rows, ROWS), &n, h, block);
    }
}

int64_t CPU(mlp_scratch)(const void *args)
{
    int64_t bytes;
    network_of(args, &bytes);
    return bytes;
}

static const struct mlp_steps steps = {CPU(linear), CPU(linear_backward), CPU(linear_scratch),
                                       CPU(linear_backward_scratch)};

void CPU(mlp_steps)(const void *args)
{
    mlp_in_steps(args, &steps);
}

int64_t CPU(mlp_steps_scratch)(const void *args)
{
    return mlp_in_steps_scratch(args, &steps);
}

void CPU(mlp_backward_steps)(const void *args)
{
    mlp_backward_in_steps(args, &steps);
}

int64_t CPU(mlp_backward_steps_scratch)(const void *args)
{
    return mlp_backward_in_steps_scratch(args, &steps);
}
