/*
 * What ranks that run a program together exchange in it, with the gradients; the sum of those of parameters
 * is the tape's (tape_adamw). Ranks have whole graphs of a batch, or divide its nodes (struct halo).
 */
#ifndef GTMARK_MODELS_PARALLEL_H
#define GTMARK_MODELS_PARALLEL_H

#include "graphs/batch.h"
#include "models/tape/tape.h"

/* The nodes of another rank as keys of this one's: how many, and those of each graph. */
struct key_block {
    int nodes;
    struct offsets keys;
};

/* What a rank must know of the others: its inputs on a tape. */
struct peers {
    int rank, ranks;       /* that divide the nodes; 0: none do */
    int nodes, halo_nodes; /* own nodes: 0 with a placeholder */
    int64_t all;           /* nodes of all ranks */
    struct mat first, get_at, send_at, send;
    struct offsets graphs;         /* of all nodes */
    struct offsets own;            /* the own nodes of each graph, none with a placeholder */
    const struct key_block *block; /* of each rank, for ring attention; null: heads are divided instead */
    struct offsets norm_rows;      /* own rows of each group: all nodes (batch norm), or those of a graph */
    /* Entries of each group on all ranks, and on this one, B x 1, F64; absent: each rank has its groups
     * whole. */
    struct mat norm_entries, norm_own;
};

/* Declares what ranks that divide the nodes need. */
struct peers parallel_inputs(struct tape *t, const struct batch *b);

/* The share of this rank's loss, a mean over its graphs or its nodes, in that of all. */
double parallel_share(const struct batch *b, const struct ranks *ranks, bool of_graphs);

/* x and, below it, the rows of the halo nodes. */
struct mat with_halo(struct tape *t, struct mat x, const struct peers *p);

/*
 * Attention among all nodes of a graph, N x 3 D -> N x D. By heads: each rank computes some heads for all
 * nodes (Jacobs et al., "DeepSpeed Ulysses", 2023). With ring_inputs: each keeps its queries, and blocks of
 * keys and values, those of one rank each, go around (Liu et al., "Ring attention with blockwise transformers
 * for near-infinite context", 2024); `graphs` are the own nodes of each graph, of which ring_inputs returns
 * the pairs.
 */
struct mat ulysses_attention(struct tape *t, struct mat qkv, const struct peers *p, int heads);
struct mat ring_attention(struct tape *t, struct mat qkv, const struct peers *p, const struct offsets *graphs,
                          int heads);
int64_t ring_inputs(struct tape *t, struct peers *p, const struct batch *b);

/* The sum of x over the ranks, or x; and the largest of x over the nodes of each graph, on all ranks. */
struct mat sum_over_ranks(struct tape *t, struct mat x);
struct mat max_over_ranks(struct tape *t, const char *name, struct mat x, const struct peers *p);

/* Running statistics, 1 x D each, and their momentum: of batch norm alone. eps: of any norm. */
struct norm_state {
    struct mat mean, var;
    double momentum, eps;
};

/*
 * The norm of rows of which other ranks have some: batch norm with a state, else graph norm. norm_inputs
 * declares what it needs for matrices of this width, if ranks share the groups.
 */
struct mat norm_over_ranks(struct tape *t, struct mat x, struct mat gain, struct mat bias,
                           const struct peers *p, struct norm_state state);
void norm_inputs(struct tape *t, struct peers *p, const struct batch *b, bool batch, int64_t width);

#endif
