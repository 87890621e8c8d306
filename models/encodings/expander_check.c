/* Counts the edges of each node by their kinds, and looks for those of the graph. */
#include <stdio.h>
#include <string.h>

#include "graphs/batching.h"
#include "models/encodings/expander.h"

/* Whether row i of the expanded graph has the edges of the graph, `drawn` more, and those of global nodes. */
static bool is_right(const struct encoding_config *c, const struct batch *b, const struct encoding *e,
                     int64_t i, int64_t drawn, bool own)
{
    const struct csr *all = &e->expanded.adj;
    const int64_t *factor = e->factor.data, edges = b->adj.edges;
    int64_t real = 0, others = 0, globals = 0;
    for (int64_t at = all->row_ptr[i]; at < all->row_ptr[i + 1]; at++) {
        bool of_graph = factor[at] < edges;
        if (of_graph && (factor[at] != b->adj.row_ptr[i] + real || b->adj.col[factor[at]] != all->col[at]))
            return false;
        real += of_graph;
        others += factor[at] == edges;
        globals += factor[at] > edges && all->col[at] >= b->adj.nodes;
    }
    return real == b->adj.row_ptr[i + 1] - b->adj.row_ptr[i] && others == (own ? drawn : 0) &&
           globals == (own ? c->globals : 0) &&
           all->row_ptr[i + 1] - all->row_ptr[i] == real + others + globals;
}

void expander_check(struct encoding_check *to, const struct encoding_config *c, const struct batch *b,
                    const struct encoding *e)
{
    for (int64_t g = 0; g < b->graphs && !*to->wrong; g++) {
        int64_t n = batch_size(b, g), drawn = n <= EXPANDER_COMPLETE ? n - 1 : 2 * c->expander;
        for (int64_t i = b->offset[g]; i < b->offset[g + 1]; i++)
            if (!is_right(c, b, e, i, drawn, i < b->offset[g] + n))
                snprintf(to->wrong, sizeof to->wrong, "node %lld has other edges than it should have",
                         (long long)i);
    }
    size_t used = strlen(to->how);
    snprintf(to->how + used, sizeof to->how - used, "%sall edges counted", used ? "; " : "");
}
