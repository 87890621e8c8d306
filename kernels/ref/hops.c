/*
 * Distances between the nodes of each graph, as an index of a table of biases (Ying et al., "Do Transformers
 * really perform badly for graph representation?", 2021): for the pair of i and j, min(d, K - 1), d the
 * fewest edges on a path from i to j, or K if there is none. Edges that leave the graph have no part.
 */
#include "kernels/ref/loops.h"

/* Puts the distances from node i of a graph of nodes first .. first + n - 1 in d; -1: no path. */
static void search(const struct hops_args *a, int64_t first, int64_t n, int64_t i, int32_t *d, int32_t *queue)
{
    int64_t count = 0;
    for (int64_t j = 0; j < n; j++)
        d[j] = -1;
    d[i] = 0;
    queue[count++] = (int32_t)i;
    for (int64_t next = 0; next < count; next++) {
        struct rows edges = edges_of(a->adj.out_row, first + queue[next]);
        for (int64_t e = edges.first; e < edges.end; e++) {
            int64_t j = edge_end(a->adj.out_col, e) - first;
            if (j < 0 || j >= n || d[j] >= 0)
                continue;
            d[j] = d[queue[next]] + 1;
            queue[count++] = (int32_t)j;
        }
    }
}

static int64_t bucket_of(int64_t k, int64_t distance)
{
    return distance < 0 ? k : distance < k ? distance : k - 1;
}

/* A real of the counting type is a byte. */
REF(hops, 8 * a->adj.out_row.rows)
{
    int64_t nodes = a->adj.out_row.rows - 1, pair = 0;
    int32_t *d = (int32_t *)a->call.scratch, *queue = d + nodes;
    struct rows wanted = rows_wanted(a->call, a->bucket);
    for (int64_t g = 0; g < graph_count(a->graphs); g++) {
        struct rows graph = graph_rows(a->graphs, g);
        int64_t n = graph.end - graph.first;
        for (int64_t i = 0; i < n; i++) {
            search(a, graph.first, n, i, d, queue);
            for (int64_t j = 0; j < n; j++, pair++)
                if (rows_has(wanted, pair))
                    *index_at(a->bucket, pair, 0) = bucket_of(a->buckets, d[j]);
        }
    }
}
