/*
 * The ops of attention with dropout of its probabilities are those without, and a mask: their arguments as
 * two parts. The probabilities of all heads are an H x P matrix: those of query i and key j of a graph, both
 * counted within the graph of n nodes, are at row h and column (pairs of the graphs before) + i n + j. Those
 * of attention over edges are an E x H matrix.
 */
#ifndef GTMARK_KERNELS_DROPPED_H
#define GTMARK_KERNELS_DROPPED_H

#include "kernels/mask.h"
#include "kernels/ops.h"

static inline struct attention_args attention_of(const struct dropout_attention_args *a)
{
    struct attention_args plain = {a->call, a->y, a->lse, a->q, a->k, a->v, a->graphs, a->heads};
    return plain;
}

static inline struct attention_backward_args
attention_backward_of(const struct dropout_attention_backward_args *a)
{
    struct attention_backward_args plain = {a->call, a->dq, a->dk, a->dv,  a->dy,     a->y,
                                            a->q,    a->k,  a->v,  a->lse, a->graphs, a->heads};
    return plain;
}

static inline struct sparse_attention_args sparse_attention_of(const struct dropout_sparse_attention_args *a)
{
    struct sparse_attention_args plain = {a->call, a->y, a->lse, a->q, a->k, a->v, a->adj, a->heads};
    return plain;
}

static inline struct sparse_attention_backward_args
sparse_attention_backward_of(const struct dropout_sparse_attention_backward_args *a)
{
    struct sparse_attention_backward_args plain = {a->call, a->dq, a->dk, a->dv,  a->dy,  a->y,
                                                   a->q,    a->k,  a->v,  a->lse, a->adj, a->heads};
    return plain;
}

#endif
