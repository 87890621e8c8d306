/* GATv2's attention is that with edge features, without them: its arguments, with c, loop and gradients
 * absent. */
#ifndef GTMARK_KERNELS_GATV2_H
#define GTMARK_KERNELS_GATV2_H

#include "kernels/ops.h"

static inline struct edge_gatv2_args edge_gatv2_of(const struct gatv2_args *a)
{
    const struct mat none = {};
    struct edge_gatv2_args with = {a->call, a->y, a->lse, a->l,   a->r,     a->att,
                                   a->b,    none, none,   a->adj, a->heads, a->slope};
    return with;
}

static inline struct edge_gatv2_backward_args edge_gatv2_backward_of(const struct gatv2_backward_args *a)
{
    const struct mat none = {};
    struct edge_gatv2_backward_args with = {a->call, a->dl,  a->dr,  a->datt,  a->db,   none, none,
                                            a->dy,   a->y,   a->l,   a->r,     a->att,  a->b, none,
                                            none,    a->lse, a->adj, a->heads, a->slope};
    return with;
}

#endif
