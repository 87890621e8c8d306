/*
 * Distances between the nodes of each graph; kernels/ref/hops.c has the definition. A task is a node: its row
 * of pairs, first all K, has the buckets of the nodes found so far, and so says which these are.
 *
 * If the graph is symmetric, a search ends after K - 1 steps: what else is in the component has bucket K - 1.
 * Otherwise no more is known of what was not reached, and it goes on.
 */
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/cpu.h"

#include <omp.h>

enum { NODES = 8 /* of a piece of work */ };

struct search {
    const struct hops_args *a;
    int64_t k, ld; /* ld: of the buckets */
    bool symmetric;
    int64_t *pairs;     /* of the graphs before each */
    int32_t *component; /* of each node, if symmetric: a node of it */
    int32_t *queues;    /* for each thread: nodes that were found */
};

static const int64_t *ends(struct mat row, int64_t node)
{
    return (const int64_t *)row.data + node;
}

/* Labels what can be reached from a node with it, within its graph. */
static void label(const struct search *s, int64_t first, int64_t end, int32_t node)
{
    int64_t count = 0;
    s->queues[count++] = node;
    s->component[node] = node;
    for (int64_t next = 0; next < count; next++) {
        const int64_t *at = ends(s->a->adj.out_row, s->queues[next]);
        for (int64_t e = at[0]; e < at[1]; e++) {
            int32_t j = ((const int32_t *)s->a->adj.out_col.data)[e];
            if (j < first || j >= end || s->component[j] >= 0)
                continue;
            s->component[j] = node;
            s->queues[count++] = j;
        }
    }
}

static void label_all(const struct search *s, int64_t nodes)
{
    memset(s->component, -1, (size_t)nodes * sizeof *s->component);
    for (int64_t g = 0; g < graph_count(s->a->graphs); g++)
        for (int64_t first = graph_first(s->a->graphs, g), end = graph_first(s->a->graphs, g + 1), i = first;
             i < end; i++)
            if (s->component[i] < 0)
                label(s, first, end, (int32_t)i);
}

/* One more step: the nodes from `from` on have been found in the last one. Returns how many there are now. */
static int64_t grow(const struct search *s, int64_t first, int64_t n, int64_t from, int64_t count,
                    int32_t *queue, int64_t *to, int64_t bucket)
{
    for (int64_t next = from, end = count; next < end; next++) {
        const int64_t *at = ends(s->a->adj.out_row, first + queue[next]);
        for (int64_t e = at[0]; e < at[1]; e++) {
            int64_t j = ((const int32_t *)s->a->adj.out_col.data)[e] - first;
            if (j < 0 || j >= n || to[j * s->ld] != s->k)
                continue;
            to[j * s->ld] = bucket;
            queue[count++] = (int32_t)j;
        }
    }
    return count;
}

/* The pairs of node i of graph g. */
static void search(const struct search *s, int64_t g, int64_t i, int32_t *queue)
{
    int64_t first = graph_first(s->a->graphs, g), n = graph_size(s->a->graphs, g);
    int64_t *to = (int64_t *)s->a->bucket.data + (s->pairs[g] + i * n) * s->ld;
    for (int64_t j = 0; j < n; j++)
        to[j * s->ld] = s->k;
    int64_t from = 0, count = 1, steps = 0;
    to[i * s->ld] = 0;
    queue[0] = (int32_t)i;
    while (from < count && !(s->symmetric && steps == s->k - 1)) {
        int64_t found = count;
        count = grow(s, first, n, from, count, queue, to, min_of(++steps, s->k - 1));
        from = found;
    }
    const int32_t *its = s->component + first;
    for (int64_t j = 0; j < n && s->symmetric; j++)
        if (to[j * s->ld] == s->k && its[j] == its[i])
            to[j * s->ld] = s->k - 1;
}

static struct search search_of(const struct hops_args *a, int64_t *bytes)
{
    int64_t nodes = a->adj.out_row.rows - 1, graphs = graph_count(a->graphs);
    struct search s = {
        .a = a, .k = a->buckets, .ld = a->bucket.ld, .symmetric = a->adj.row.data == a->adj.out_row.data};
    char *at = a->call.scratch;
    int64_t pairs = round_up(graphs * 8, 64), component = round_up(nodes * 4, 64);
    s.pairs = (int64_t *)(void *)at;
    s.component = at ? (int32_t *)(void *)(at + pairs) : NULL;
    s.queues = at ? (int32_t *)(void *)(at + pairs + component) : NULL;
    *bytes = pairs + component + a->call.threads * nodes * 4;
    return s;
}

void CPU(hops)(const void *args)
{
    const struct hops_args *a = args;
    int64_t bytes, nodes = a->adj.out_row.rows - 1;
    struct search s = search_of(a, &bytes);
    begin_pairs(a->graphs, a->graphs, s.pairs);
    if (s.symmetric)
        label_all(&s, nodes);
    int64_t blocks = block_count(a->graphs, nodes, NODES);
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(&a->call, a->graphs.pairs, 1 << 15))
    for (int64_t number = 0; number < blocks; number++) {
        struct block b = block_at(a->graphs, NODES, number);
        int64_t i = b.first - graph_first(a->graphs, b.graph);
        for (int64_t end = i + b.rows; i < end; i++)
            search(&s, b.graph, i, s.queues + omp_get_thread_num() * nodes);
    }
}

int64_t CPU(hops_scratch)(const void *args)
{
    int64_t bytes;
    search_of(args, &bytes);
    return bytes;
}
