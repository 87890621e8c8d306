#include "graphs/batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

bool batch_can_alloc(struct batch *b, const struct graph_config *c, int64_t bytes, char *error, size_t size)
{
    if (c->limits.memory <= 0 || bytes <= c->limits.memory)
        return true;
    b->peak = bytes;
    snprintf(error, size, "building the graph needs %" PRId64 " MiB, more than the %" PRId64 " MiB allowed",
             bytes >> 20, c->limits.memory >> 20);
    return false;
}

int64_t batch_scratch(const struct batch *b)
{
    return b->peak - csr_bytes(&b->adj);
}

void batch_drop_inputs(struct batch *b)
{
    struct batch_inputs *in = &b->inputs;
    free(in->features.value);
    free(in->edge_features.value);
    free(in->targets.value);
    free(in->label);
    in->features.value = in->edge_features.value = in->targets.value = NULL;
    in->label = NULL;
}

static void free_halo(struct halo *h)
{
    free(h->first);
    free(h->get_at);
    free(h->send_at);
    free(h->send);
    free(h->offset);
    free(h->node);
    *h = (struct halo){0};
}

void batch_drop_arrays(struct batch *b)
{
    struct csr adj = b->adj, out = b->out;
    if (out.row_ptr != adj.row_ptr)
        csr_free(&out);
    csr_free(&adj);
    free(b->out_edge);
    free_halo(&b->halo);
    batch_drop_inputs(b);
    b->out_edge = NULL;
    b->adj.row_ptr = b->out.row_ptr = NULL;
    b->adj.col = b->out.col = NULL;
}

void batch_drop(struct batch *b)
{
    int64_t peak = b->peak;
    batch_free(b);
    b->peak = peak;
}

void batch_free(struct batch *b)
{
    batch_drop_arrays(b);
    free(b->offset);
    free(b->nodes);
    *b = (struct batch){0};
}
