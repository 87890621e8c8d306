/* Counts the edges of each node by their kinds, and compares those of the graph and of global nodes. */
#include <stdio.h>
#include <string.h>

#include "graphs/batching.h"
#include "models/encodings/check.h"

/* Whether node i of graph g has the edges of the graph, `drawn` more, and one from each of `globals` nodes.
 */
static bool is_right(const struct encoding_config *c, const struct batch *b, const struct encoding *e,
                     int64_t g, int64_t i, int64_t drawn, int64_t globals)
{
    const struct csr *all = &e->expanded.adj, *graph = &b->adj;
    int64_t real = graph->row_ptr[i], others = 0, v = 0;
    for (int64_t at = all->row_ptr[i]; at < all->row_ptr[i + 1]; at++) {
        int64_t factor = ((const int64_t *)e->factor.data)[at], from = all->col[at];
        if (factor == real && factor < graph->row_ptr[i + 1] && graph->col[factor] == from)
            real++;
        else if (factor == graph->edges && from >= b->offset[g] && from < b->offset[g + 1])
            others++;
        else if (factor != graph->edges + 1 + c->globals + v || from != graph->nodes + v++ * b->graphs + g)
            return false;
    }
    return real == graph->row_ptr[i + 1] && others == drawn && v == globals;
}

/* Whether row i, global node v of graph g, has an edge from each of its n nodes. */
static bool is_global(const struct batch *b, const struct encoding *e, int64_t i, int64_t v, int64_t g,
                      int64_t n)
{
    const struct csr *all = &e->expanded.adj;
    int64_t first = all->row_ptr[i], count = all->row_ptr[i + 1] - first;
    for (int64_t k = 0; k < count && k < n; k++)
        if (all->col[first + k] != b->offset[g] + k ||
            ((const int64_t *)e->factor.data)[first + k] != b->adj.edges + 1 + v)
            return false;
    return count == n;
}

void expander_check(struct encoding_check *to, const struct encoding_config *c, const struct batch *b,
                    const struct encoding *e)
{
    int64_t wrong = -1, nodes = b->adj.nodes;
    for (int64_t g = 0; g < b->graphs; g++) {
        int64_t n = batch_size(b, g), drawn = expander_drawn(c->expander, n) / n;
        for (int64_t i = b->offset[g], end = i + n; i < b->offset[g + 1]; i++)
            if (!is_right(c, b, e, g, i, i < end ? drawn : 0, i < end ? c->globals : 0))
                wrong = i;
        for (int64_t v = 0; v < c->globals; v++)
            if (!is_global(b, e, nodes + v * b->graphs + g, v, g, n))
                wrong = nodes + v * b->graphs + g;
    }
    if (wrong >= 0 && !*to->wrong)
        snprintf(to->wrong, sizeof to->wrong, "node %lld has other edges than it should have",
                 (long long)wrong);
    size_t used = strlen(to->how);
    snprintf(to->how + used, sizeof to->how - used, "%sall edges of expanders", used ? "; " : "");
}
