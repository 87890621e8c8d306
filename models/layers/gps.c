/*
 * The GPS layer (Rampasek et al., "Recipe for a general, powerful, scalable graph transformer", 2022) and the
 * batch it works on.
 *
 *     l = Norm(x + MPNN(x)),  a = Norm(x + attention(x)),  h = l + a,  y = Norm(h + FFN(h))
 *
 * MPNN is message passing; GatedGCN has a residual connection of its own: l = Norm(MPNN(x)). Graph
 * transformers are h = a; message passing alone is y = l. In training, dropout may follow message passing,
 * attention and both linear layers of the FFN.
 */
#include <stdio.h>

#include "kernels/arithmetic.h"
#include "models/layers/layers.h"
#include "models/tape/tape_internal.h"

static struct mat input_rows(struct tape *t, const char *name, int64_t nodes, const int64_t *from)
{
    return input_copy(t, name, I64, nodes + 1, 1, from);
}

/* "NAME.what", until it is used next. */
static const char *name_of(char *text, const char *name, const char *what)
{
    snprintf(text, 64, "%s.%s", name, what);
    return text;
}

/* The edges of a row at most; 0 if they are not there, of what is only planned. */
static int64_t most_edges(const struct csr *g)
{
    int64_t most = 0;
    for (int64_t i = 0; g->row_ptr && i < g->nodes; i++)
        most = max_of(most, g->row_ptr[i + 1] - g->row_ptr[i]);
    return most;
}

struct edges input_edges(struct tape *t, const char *name, const struct batch *b, bool numbered)
{
    char text[64];
    const struct csr *in = &b->adj, *out = &b->out;
    struct edges e = {.row = input_rows(t, name_of(text, name, "row"), in->nodes, in->row_ptr),
                      .most = most_edges(in)};
    e.col = input_copy(t, name_of(text, name, "col"), I32, in->edges, 1, in->col);
    if (b->symmetric) {
        e.out_row = e.row;
        e.out_most = e.most;
        e.out_col = e.col;
    } else if (tape_config(t)->training) {
        e.out_row = input_rows(t, name_of(text, name, "out_row"), out->nodes, out->row_ptr);
        e.out_most = most_edges(out);
        e.out_col = input_copy(t, name_of(text, name, "out_col"), I32, out->edges, 1, out->col);
    }
    if (!numbered || !tape_config(t)->training)
        return e;
    if (b->adj.row_ptr && !b->out_edge)
        tape_contract("the edges of the batch are not numbered");
    e.out_edge = input_copy(t, name_of(text, name, "out_edge"), I32, b->adj.edges, 1, b->out_edge);
    return e;
}

/*
 * For each row, a number if it is a node's, else 0: 1, or 1 / nodes of its graph. Not all rows of a padded
 * batch are, nor is a placeholder.
 */
static const float *node_weights(struct tape *t, const struct batch *b, bool shared)
{
    const int64_t *whole = b->halo.ranks ? b->halo.offset : b->offset;
    float *weight = arena_alloc(t->metadata, (size_t)b->adj.nodes * sizeof *weight);
    for (int64_t g = 0; g < b->graphs; g++) {
        int64_t size = b->nodes ? b->nodes[g] : whole[g + 1] - whole[g];
        int64_t rows = b->nodes ? size : b->offset[g + 1] - b->offset[g];
        for (int64_t i = 0; i < rows && !b->part.empty; i++)
            weight[b->offset[g] + i] = shared ? 1 / (float)size : 1;
    }
    return weight;
}

struct structure tape_structure(struct tape *t, const struct batch *b, bool edges, bool numbered)
{
    struct structure s = {.graphs = {.at = input_rows(t, "graphs", b->graphs, b->offset), .pairs = b->pairs}};
    s.peers = parallel_inputs(t, b);
    if (b->nodes || b->halo.ranks) {
        s.mask = input_reals(t, "nodes.mask", b->adj.nodes, 1, node_weights(t, b, false));
        s.share = input_reals(t, "nodes.share", b->adj.nodes, 1, node_weights(t, b, true));
    }
    if (edges)
        s.adj = input_edges(t, "adjacency", b, numbered);
    return s;
}

static struct mat message_passing(struct tape *t, struct mat x, struct structure *s,
                                  const struct model_config *c)
{
    const char *name = mpnn_name(c->mpnn);
    switch (c->mpnn) {
    case MPNN_GCN:
        return gcn(t, name, x, s);
    case MPNN_GATV2:
    case MPNN_GATV2_EDGE:
        return gatv2(t, name, x, s, (int)c->heads, c->mpnn == MPNN_GATV2_EDGE);
    case MPNN_PNA:
    case MPNN_PNA_EDGE:
        return pna(t, name, x, s, c->mpnn == MPNN_PNA_EDGE);
    case MPNN_GINE:
        return gine(t, name, c->mlp, x, s, c->act);
    case MPNN_GATEDGCN:
        return gatedgcn(t, name, x, s, c->act, c->dropout);
    default:
        return gin(t, name, c->mlp, x, s, c->act);
    }
}

/* The branch of message passing, normalised. */
static struct mat local_branch(struct tape *t, struct mat x, struct structure *s,
                               const struct model_config *c)
{
    static const char norm[] = "norm_local";
    struct mat l = message_passing(t, x, s, c);
    if (c->mpnn == MPNN_GATEDGCN)
        return add_norm(t, norm, c->norm, l, (struct mat){0}, s);
    return add_norm(t, norm, c->norm, x, dropout(t, "dropout_local", l, c->dropout), s);
}

struct mat gps_layer(struct tape *t, const char *name, struct mat x, struct structure *s,
                     const struct model_config *c)
{
    struct mat h = {0};
    span_enter(t, name);
    if (c->mpnn)
        h = local_branch(t, x, s, c);
    if (c->attention) {
        struct mat a = c->attention == ATTENTION_EXPHORMER ? exphormer(t, "attention", x, s, (int)c->heads)
                                                           : attention(t, "attention", c->attention, x, s,
                                                                       (int)c->heads, c->attention_dropout);
        a = dropout(t, "dropout_attention", a, c->dropout);
        a = add_norm(t, "norm_attention", c->norm, x, a, s);
        h = mat_present(h) ? op(t, add, .a = h, .b = a)->y : a;
        struct mat f = ffn(t, "ffn", c->mlp, h, c->ffn, c->act, c->dropout);
        h = add_norm(t, "norm_out", c->norm, h, f, s);
    }
    span_leave(t);
    return h;
}
