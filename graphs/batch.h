/* A batch of graphs, and the configuration that it is generated from (graphs/graph.h). */
#ifndef GTMARK_GRAPHS_BATCH_H
#define GTMARK_GRAPHS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graphs/csr.h"
#include "kernels/cancel.h"

/* What building a batch may take. */
struct graph_limits {
    int64_t memory; /* bytes; 0: any */
    struct cancel cancel;
};

/* See graphs/batching.h; batches are made in the first two ways. */
enum batching { BATCHING_RAGGED, BATCHING_PADDED, BATCHING_BUCKETED, BATCHING_PACKED, BATCHINGS };

struct graph_config {
    const char *family; /* a name (graphs/name.h); a file and a shape ignore nodes and degree, and a file has
                           its own number of graphs: `graphs` must be 1 */
    int64_t nodes;      /* N: nodes per graph, in a batch on average; for NAME:giant, of the whole graph */
    double degree;      /* requested mean degree */
    int64_t graphs;     /* B */
    uint64_t seed;
    enum batching batching; /* ragged or padded */
    struct graph_limits limits;
    int rank, ranks; /* the part of the batch to make (struct batch_part); ranks 0: all of it */
    bool by_nodes;   /* of several ranks: parts are nodes (struct halo), not graphs */
    const struct partition *partition; /* by_nodes: which (graphs/partition.h); null: consecutive ones */
};

/*
 * Which part of the batch of several ranks this is: consecutive graphs, and where they begin in the batch.
 * A rank for which there is no graph has a placeholder, a graph of one node without edges, and is `empty`.
 */
struct batch_part {
    bool empty;
    int64_t graph, node, edge;
    int64_t graphs, nodes; /* of all ranks together */
};

/*
 * What a part has of a batch that is divided by its nodes (graphs/halo.h), not by its graphs. adj has its own
 * nodes, numbered from 0; the senders of other ranks are halo nodes, numbered after them in their order in
 * the batch. With a partition all these are its new numbers. out has a row for each of both. Ranks 0: not
 * divided so.
 */
struct halo {
    int ranks;
    int64_t nodes;             /* own; 0: a rank with a placeholder */
    int64_t halo_nodes, sends; /* rows that come from other ranks and go there in an exchange */
    int64_t cut;               /* edges from halo nodes */
    int64_t *first;            /* ranks + 1: the first node of each rank */
    int64_t *get_at;           /* ranks + 1: of rank p are the halo nodes get_at[p] .. get_at[p + 1] - 1 */
    int64_t *send_at; /* ranks + 1: to rank p go the nodes send[send_at[p]] .. send[send_at[p + 1] - 1] */
    int32_t *send;
    int64_t *offset; /* graphs + 1: of the whole batch */
    int32_t *node;   /* nodes: which of the batch these are; null: from part.node on */
};

/*
 * Numbers beside the graph, `cols` for each of its rows; 0: none. value is null in a shape. With types above
 * 0 there is one column, of whole numbers from 0 to types - 1.
 */
struct batch_table {
    float *value;
    int64_t cols, types;
};

/* What the files of the graph say of its nodes, edges (in the order of adj.col) and graphs: see
 * graphs/inputs.h. */
struct batch_inputs {
    struct batch_table features, edge_features, targets;
    int64_t *label;  /* of each node, below classes */
    int64_t classes; /* 0: no labels */
};

/* What the reader of a file did that its author may not have meant; null: nothing. */
struct file_notes {
    const char *header, *columns;
};

struct batch {
    struct csr adj;
    struct csr out;    /* the transpose: row j lists the receivers of j; the arrays of adj if symmetric */
    bool symmetric;    /* every edge occurs equally often in both directions */
    int32_t *out_edge; /* the position in adj.col of each edge of out.col; null without batch_number_edges */
    int64_t graphs;
    int64_t *offset; /* graphs + 1: graph g owns nodes offset[g] .. offset[g + 1] - 1, at least one */
    int64_t *nodes;  /* graphs: if padded, how many nodes of each graph are its own, the first; else null */
    int64_t pairs;   /* the sum of the squared sizes: what dense attention works on */
    bool clamped;    /* a graph has too few nodes for the requested degree, and has all possible edges */
    int64_t entries; /* edges in the file, of which one may stand for both directions; 0 if generated */
    struct file_notes notes;
    struct batch_inputs inputs;
    struct batch_part part;
    struct halo halo;
    int64_t peak; /* peak bytes of making it, without offset */
};

/* Whether making b may take this much; if not, a line in error, and b->peak says what it needs. */
bool batch_can_alloc(struct batch *b, const struct graph_config *c, int64_t bytes, char *error,
                     size_t error_size);

/* Peak bytes of making b, beside those of adj (csr_bytes). b may be from batch_shape. */
int64_t batch_scratch(const struct batch *b);

/* Frees the arrays, but not the offsets and what is known of the rest. */
void batch_drop_arrays(struct batch *b);

/* Frees the values of b->inputs, but keeps what is known of them. */
void batch_drop_inputs(struct batch *b);

/* Frees the batch, but keeps b->peak. */
void batch_drop(struct batch *b);

/* Frees the arrays and leaves an empty b; freeing it again does nothing. */
void batch_free(struct batch *b);

#endif
