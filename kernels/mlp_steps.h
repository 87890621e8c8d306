/*
 * The ops mlp and mlp_backward in steps, by a backend's kernels of linear and linear_backward: the hidden
 * panels are in scratch, one after the other, and so is the scratch of the steps, at the end.
 */
#ifndef GTMARK_KERNELS_MLP_STEPS_H
#define GTMARK_KERNELS_MLP_STEPS_H

#include "kernels/arithmetic.h"
#include "kernels/ops.h"

struct mlp_steps {
    void (*linear)(const void *args), (*backward)(const void *args);
    int64_t (*linear_scratch)(const void *args), (*backward_scratch)(const void *args); /* null: none */
};

/* Bytes of n panels of x.rows x up.rows. */
static inline int64_t mlp_panels(struct mat x, struct mat up, int n)
{
    return n * round_up(x.rows * up.rows * (int64_t)dtype_size(x.dtype), 64);
}

/* Panel n, or the scratch after n of them. Not by a pointer's offset: without a size yet, scratch is null. */
static inline void *mlp_panel_at(const struct call *call, struct mat x, struct mat up, int n)
{
    return (void *)((uintptr_t)call->scratch + (uintptr_t)mlp_panels(x, up, n));
}

static inline struct mat mlp_panel(const struct call *call, struct mat x, struct mat up, int n)
{
    return (struct mat){.data = mlp_panel_at(call, x, up, n),
                        .rows = x.rows,
                        .cols = up.rows,
                        .ld = up.rows,
                        .dtype = x.dtype};
}

struct mlp_layers {
    struct linear_args up, down;
};

static inline struct mlp_layers mlp_layers_of(const struct mlp_args *a)
{
    struct mat h = mlp_panel(&a->call, a->x, a->up, 0);
    struct call call = a->call;
    call.scratch = mlp_panel_at(&a->call, a->x, a->up, 1);
    return (struct mlp_layers){{.call = call, .y = h, .x = a->x, .w = a->up, .b = a->b, .act = a->act},
                               {.call = call, .y = a->y, .x = h, .w = a->down, .b = a->c}};
}

static inline void mlp_in_steps(const struct mlp_args *a, const struct mlp_steps *k)
{
    struct mlp_layers l = mlp_layers_of(a);
    k->linear(&l.up);
    k->linear(&l.down);
}

static inline int64_t mlp_in_steps_scratch(const struct mlp_args *a, const struct mlp_steps *k)
{
    struct mlp_layers l = mlp_layers_of(a);
    return mlp_panels(a->x, a->up, 1) +
           (k->linear_scratch ? max_of(k->linear_scratch(&l.up), k->linear_scratch(&l.down)) : 0);
}

struct mlp_backward_layers {
    struct linear_args up;
    struct linear_backward_args down, first;
};

static inline struct mlp_backward_layers mlp_backward_layers_of(const struct mlp_backward_args *a)
{
    struct mat h = mlp_panel(&a->call, a->x, a->up, 0), dh = mlp_panel(&a->call, a->x, a->up, 1);
    struct mat pre = a->act ? mlp_panel(&a->call, a->x, a->up, 2) : (struct mat){0};
    struct call call = a->call;
    call.scratch = mlp_panel_at(&a->call, a->x, a->up, 3);
    return (struct mlp_backward_layers){
        {.call = call, .y = h, .pre = pre, .x = a->x, .w = a->up, .b = a->b, .act = a->act},
        {.call = call, .dx = dh, .dw = a->ddown, .db = a->dc, .dy = a->dy, .x = h, .w = a->down},
        {.call = call,
         .dx = a->dx,
         .dw = a->dup,
         .db = a->db,
         .dy = dh,
         .x = a->x,
         .w = a->up,
         .pre = pre,
         .act = a->act}};
}

static inline void mlp_backward_in_steps(const struct mlp_backward_args *a, const struct mlp_steps *k)
{
    struct mlp_backward_layers l = mlp_backward_layers_of(a);
    k->linear(&l.up);
    k->backward(&l.down);
    k->backward(&l.first);
}

static inline int64_t mlp_backward_in_steps_scratch(const struct mlp_backward_args *a,
                                                    const struct mlp_steps *k)
{
    struct mlp_backward_layers l = mlp_backward_layers_of(a);
    int64_t step = max_of(k->backward_scratch(&l.down), k->backward_scratch(&l.first));
    return mlp_panels(a->x, a->up, 3) + max_of(step, k->linear_scratch ? k->linear_scratch(&l.up) : 0);
}

#endif
