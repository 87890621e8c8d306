#include "graphs/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "graphs/batch.h"
#include "graphs/batching.h"
#include "graphs/components.h"
#include "graphs/radix.h"
#include "graphs/relabel.h"
#include "kernels/arithmetic.h"

enum { CANCEL_EVERY = 1 << 14 }; /* nodes of a walk */

const char *order_name(int order)
{
    static const char *const names[ORDERS] = {"none", "degree", "bfs", "rcm"};
    return order >= 0 && order < ORDERS ? names[order] : NULL;
}

/* What walks through the graphs of a batch share. */
struct walk {
    const struct csr *in, *out; /* out: null if the batch is symmetric */
    int32_t *sorted;            /* the nodes of each graph by ascending degree, then number */
    int32_t *rank;              /* of each node in `sorted` */
    bool *seen;
    struct cancel cancel;
};

/* The breadth-first levels from a node. */
struct levels {
    int64_t length; /* nodes */
    int64_t last;   /* where the last level begins */
    int64_t depth;  /* levels before the last */
};

static int by_rank(const void *a, const void *b, void *rank)
{
    const int32_t *of = rank;
    return of[*(const int32_t *)a] - of[*(const int32_t *)b];
}

/* Lists the unseen nodes reached from `first`, by levels; `by_degree`: the new neighbours of a node by rank.
 */
static struct levels walk_from(const struct walk *w, int32_t first, int32_t *queue, bool by_degree)
{
    struct levels l = {.length = 1};
    int64_t end = 1;
    queue[0] = first;
    w->seen[first] = true;
    for (int64_t at = 0; at < l.length; at++) {
        if (at % CANCEL_EVERY == 0 && is_cancelled(w->cancel))
            break;
        if (at == end) {
            l.last = at;
            end = l.length;
            l.depth++;
        }
        int64_t before = l.length;
        l.length = components_visit(w->in, queue[at], queue, l.length, w->seen);
        if (w->out)
            l.length = components_visit(w->out, queue[at], queue, l.length, w->seen);
        if (by_degree && l.length > before + 1)
            qsort_r(queue + before, (size_t)(l.length - before), sizeof *queue, by_rank, w->rank);
    }
    return l;
}

/* A node of the last level from `first`, of least degree, and so on, until there are no more levels. */
static int32_t pseudo_peripheral(const struct walk *w, int32_t first, int32_t *queue)
{
    for (int64_t depth = -1;;) {
        struct levels l = walk_from(w, first, queue, false);
        for (int64_t i = 0; i < l.length; i++)
            w->seen[queue[i]] = false;
        if (l.depth <= depth || is_cancelled(w->cancel))
            return first;
        depth = l.depth;
        first = queue[l.last];
        for (int64_t i = l.last + 1; i < l.length; i++)
            if (w->rank[queue[i]] < w->rank[first])
                first = queue[i];
    }
}

static void reverse(int32_t *list, int64_t length)
{
    for (int64_t i = 0, j = length - 1; i < j; i++, j--) {
        int32_t node = list[i];
        list[i] = list[j];
        list[j] = node;
    }
}

/* Lists the `nodes` nodes of a graph, whose first is `first`. */
static void walk_graph(const struct walk *w, int64_t first, int64_t nodes, bool rcm, int32_t *list)
{
    int64_t length = 0;
    for (int64_t i = first; i < first + nodes; i++) {
        int32_t start = w->sorted[i], *queue = list + length;
        if (!w->seen[start])
            length += walk_from(w, pseudo_peripheral(w, start, queue), queue, rcm).length;
    }
    if (rcm)
        reverse(list, nodes);
}

/* Sorts nodes by degree, then number. False without memory or cancelled. */
static bool sort_nodes(const struct batch *b, int64_t first, int64_t nodes, bool descending, int32_t *sorted,
                       struct cancel cancel)
{
    const int64_t *in = b->adj.row_ptr, *out = b->out.row_ptr;
    uint64_t *key = reallocarray(NULL, (size_t)nodes, sizeof *key);
    for (int64_t i = 0; i < nodes && key; i++) {
        int64_t node = first + i, degree = in[node + 1] - in[node] + out[node + 1] - out[node];
        key[i] = (uint64_t)(descending ? UINT32_MAX - degree : degree) << 32 | (uint64_t)node;
    }
    bool done = key && radix_sort(key, nodes, (uint64_t)UINT32_MAX << 32, cancel);
    for (int64_t i = 0; i < nodes && done; i++)
        sorted[i] = (int32_t)(key[i] & UINT32_MAX);
    free(key);
    return done;
}

/* Sorts the nodes of each graph; those that only pad stay. */
static bool sort_graphs(const struct batch *b, bool descending, int32_t *sorted, struct cancel cancel)
{
    bool done = true;
    for (int64_t i = 0; i < b->adj.nodes; i++)
        sorted[i] = (int32_t)i;
    for (int64_t g = 0; g < b->graphs && done; g++)
        done = sort_nodes(b, b->offset[g], batch_size(b, g), descending, sorted + b->offset[g], cancel);
    return done;
}

/* The nodes in the order of a walk; `list` holds them sorted. */
static bool walk_graphs(const struct batch *b, bool rcm, int32_t *list, struct cancel cancel)
{
    int64_t n = b->adj.nodes;
    struct walk w = {&b->adj,
                     b->symmetric ? NULL : &b->out,
                     reallocarray(NULL, (size_t)n, sizeof *w.sorted),
                     reallocarray(NULL, (size_t)n, sizeof *w.rank),
                     calloc((size_t)n, sizeof *w.seen),
                     cancel};
    bool room = w.sorted && w.rank && w.seen;
    for (int64_t i = 0; i < n && room; i++) {
        w.sorted[i] = list[i];
        w.rank[list[i]] = (int32_t)i;
    }
    for (int64_t g = 0; g < b->graphs && room && !is_cancelled(cancel); g++)
        walk_graph(&w, b->offset[g], batch_size(b, g), rcm, list + b->offset[g]);
    free(w.sorted);
    free(w.rank);
    free(w.seen);
    return room && !is_cancelled(cancel);
}

/* Peak bytes: of the graph, and of sorting and walking, or of the new rows. */
static int64_t order_peak(const struct batch *b)
{
    enum { SORTED = 4 + 16, WALKED = 4 + 9, LISTED = 4 };
    int64_t n = b->adj.nodes, graph = csr_bytes(&b->adj) + (b->symmetric ? 0 : csr_bytes(&b->out));
    return graph + max_of(max_of(SORTED, WALKED) * n, LISTED * n + relabel_bytes(b));
}

/* Sorting a row needs the numbers of its edges in half a word. */
static bool may_relabel(const struct batch *b, char *error, size_t error_size)
{
    bool may = b->adj.edges <= UINT32_MAX;
    if (!may)
        snprintf(error, error_size, "nodes of graphs of more than %" PRIu32 " edges cannot be ordered",
                 UINT32_MAX);
    return may;
}

bool batch_order(struct batch *b, enum order order, const struct graph_config *c, char *error,
                 size_t error_size)
{
    if (order == ORDER_NONE)
        return true;
    struct cancel cancel = c->limits.cancel;
    int64_t peak = order_peak(b);
    bool done = may_relabel(b, error, error_size) && batch_can_alloc(b, c, peak, error, error_size);
    b->peak = max_of(b->peak, peak);
    if (done && b->adj.row_ptr) {
        int32_t *list = reallocarray(NULL, (size_t)b->adj.nodes, sizeof *list);
        done = list && sort_graphs(b, order == ORDER_DEGREE, list, cancel) &&
               (order == ORDER_DEGREE || walk_graphs(b, order == ORDER_RCM, list, cancel)) &&
               batch_relabel(b, list, cancel);
        free(list);
        if (!done)
            snprintf(error, error_size, "%s a graph of %" PRId64 " nodes and %" PRId64 " edges",
                     is_cancelled(cancel) ? "stopped while ordering" : "no memory to order", b->adj.nodes,
                     b->adj.edges);
    }
    if (!done)
        batch_drop(b);
    return done;
}

int64_t csr_bandwidth(const struct csr *g)
{
    int64_t bandwidth = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(max : bandwidth)
    for (int64_t i = 0; i < g->nodes; i++)
        if (g->row_ptr[i] < g->row_ptr[i + 1])
            bandwidth =
                max_of(bandwidth, max_of(i - g->col[g->row_ptr[i]], g->col[g->row_ptr[i + 1] - 1] - i));
    return bandwidth;
}
