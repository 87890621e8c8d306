#include "graphs/components.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/arithmetic.h"

int64_t components_visit(const struct csr *g, int64_t node, int32_t *queue, int64_t length, bool *seen)
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

int64_t components_find(const struct csr *g, const struct csr *out, int64_t *start, int32_t *node, bool *seen)
{
    int64_t count = 0, length = 0;
    for (int64_t i = 0; i < g->nodes; i++)
        seen[i] = false;
    for (int64_t first = 0; first < g->nodes; first++) {
        if (seen[first])
            continue;
        start[count++] = length;
        seen[first] = true;
        node[length] = (int32_t)first;
        for (int64_t at = length++; at < length; at++) {
            length = components_visit(g, node[at], node, length, seen);
            if (out)
                length = components_visit(out, node[at], node, length, seen);
        }
    }
    start[count] = length;
    return count;
}

/* Marks the nodes of the largest component of each graph. */
static void mark_giant_components(const struct batch *b, const int64_t *start, int64_t count,
                                  const int32_t *node, bool *kept)
{
    int64_t c = 0;
    for (int64_t g = 0; g < b->graphs; g++) {
        int64_t largest = c;
        for (; c < count && start[c] < b->offset[g + 1]; c++) {
            if (start[c + 1] - start[c] > start[largest + 1] - start[largest])
                largest = c;
            for (int64_t i = start[c]; i < start[c + 1]; i++)
                kept[node[i]] = false;
        }
        for (int64_t i = start[largest]; i < start[largest + 1]; i++)
            kept[node[i]] = true;
    }
}

/* Moves the kept rows to the front, in place: no row overwrites one that has not been read yet. */
static void compact(struct batch *b, const bool *kept, int32_t *number)
{
    struct csr *g = &b->adj;
    int64_t nodes = 0, edges = 0, first = 0;
    for (int64_t i = 0; i < g->nodes; i++)
        number[i] = kept[i] ? (int32_t)nodes++ : -1;
    b->pairs = nodes = 0;
    for (int64_t n = 0, i = 0; n < b->graphs; n++) {
        for (; i < b->offset[n + 1]; i++) {
            int64_t end = g->row_ptr[i + 1];
            for (; first < end && kept[i]; first++)
                g->col[edges++] = number[g->col[first]];
            first = end;
            if (kept[i])
                g->row_ptr[++nodes] = edges;
        }
        b->offset[n + 1] = nodes;
        b->pairs += (nodes - b->offset[n]) * (nodes - b->offset[n]);
    }
    g->nodes = nodes;
    g->edges = edges;
}

int64_t components_bytes(int64_t nodes)
{
    return nodes * (int64_t)(sizeof(int64_t) + sizeof(int32_t) + sizeof(bool));
}

bool batch_keep_giant_components(struct batch *b, char *error, size_t error_size)
{
    int64_t n = b->adj.nodes;
    int64_t *start = reallocarray(NULL, (size_t)n + 1, sizeof *start);
    int32_t *node = reallocarray(NULL, (size_t)n, sizeof *node);
    bool *seen = reallocarray(NULL, (size_t)n, sizeof *seen);
    bool done = start && node && seen;
    if (done) {
        int64_t count = components_find(&b->adj, NULL, start, node, seen);
        mark_giant_components(b, start, count, node, seen);
        compact(b, seen, node);
        b->out = b->adj;
        b->peak = max_of(b->peak, csr_bytes(&b->adj) + components_bytes(n));
    } else
        snprintf(error, error_size, "no memory for the components of %" PRId64 " nodes", n);
    free(start);
    free(node);
    free(seen);
    return done;
}
