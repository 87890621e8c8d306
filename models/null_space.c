#include "models/null_space.h"

#include <string.h>

/* Appends the unseen neighbours of a node to the queue, whose length is returned. */
static int64_t visit(const struct csr *g, int64_t node, int32_t *queue, int64_t length, bool *seen)
{
    for (int64_t e = g->row_ptr[node]; e < g->row_ptr[node + 1]; e++) {
        int32_t other = g->col[e];
        if (!seen[other]) {
            seen[other] = true;
            queue[length++] = other;
        }
    }
    return length;
}

bool components_find(struct components *c, const struct batch *b, struct eager *e)
{
    int64_t n = b->adj.nodes, length = 0;
    *c = (struct components){.nodes = n};
    bool *seen = eager_take(e, n);
    c->start = eager_take(e, (n + 1) * 8);
    c->node = eager_take(e, n * 4);
    bool taken = seen && c->start && c->node;
    for (int64_t i = 0; taken && i < n; i++)
        seen[i] = false;
    for (int64_t first = 0; taken && first < n; first++) {
        if (seen[first])
            continue;
        c->start[c->count++] = length;
        seen[first] = true;
        c->node[length] = (int32_t)first;
        for (int64_t at = length++; at < length; at++)
            length = visit(&b->adj, c->node[at], c->node, length, seen);
    }
    eager_give(e, seen, n);
    if (taken)
        c->start[c->count] = length;
    else
        components_free(c, e);
    return taken;
}

void components_free(struct components *c, struct eager *e)
{
    eager_give(e, c->start, (c->nodes + 1) * 8);
    eager_give(e, c->node, c->nodes * 4);
    *c = (struct components){0};
}
