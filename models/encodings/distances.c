#include "models/encodings/distances.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels/arithmetic.h"

static struct offsets graphs_of(const struct batch *b)
{
    struct mat at = {.data = b->offset, .rows = b->graphs + 1, .cols = 1, .ld = 1, .dtype = I64};
    return (struct offsets){at, b->pairs};
}

/* The path to node j of a graph whose first node this is, backwards; d: distances to all of its nodes. */
static void follow(const struct csr *in, int64_t first, const int64_t *d, int64_t j, int64_t hops,
                   int32_t *path)
{
    for (int64_t hop = d[j] - 1; hop >= 0; hop--) {
        int64_t last = -1;
        for (int64_t e = in->row_ptr[first + j]; e < in->row_ptr[first + j + 1]; e++)
            if (d[in->col[e] - first] == hop && (last < 0 || in->col[e] < in->col[last]))
                last = e;
        if (hop < hops)
            path[hop] = (int32_t)last;
        j = in->col[last] - first;
    }
}

/* All paths, by distances, and in place of these their buckets. */
static void follow_all(const struct encoding_config *c, const struct batch *b, int64_t told,
                       struct mat distances, struct mat paths, int threads)
{
    memset(paths.data, -1, (size_t)mat_bytes(paths));
#pragma omp parallel num_threads(threads)
    for (int64_t g = 0, pair = 0; g < b->graphs; g++) {
        int64_t first = b->offset[g], n = b->offset[g + 1] - first;
#pragma omp for schedule(dynamic, 8) nowait
        for (int64_t i = 0; i < n; i++) {
            int64_t *d = (int64_t *)distances.data + pair + i * n;
            for (int64_t j = 0; j < n; j++)
                if (d[j] < told)
                    follow(&b->adj, first, d, j, c->hops,
                           (int32_t *)paths.data + (pair + i * n + j) * c->hops);
            for (int64_t j = 0; j < n; j++)
                d[j] = d[j] < told ? min_of(d[j], c->buckets - 1) : c->buckets;
        }
        pair += n * n;
    }
}

bool distances_compute(const struct encoding_config *c, const struct batch *b,
                       const struct encoding_options *with, struct encoding *to, char *error,
                       size_t error_size)
{
    struct eager e;
    eager_start(&e, backend_cpu(), with->threads, with->cancel);
    struct mat d = eager_matrix(&e, I64, b->pairs, 1);
    struct mat paths = c->hops ? eager_matrix(&e, I32, b->pairs, c->hops) : (struct mat){0};
    struct edges adj = encoding_edges(b);
    int64_t told = c->hops ? max_of(c->buckets, b->adj.nodes) : c->buckets; /* paths need all distances */
    run_op(&e, hops, .bucket = d, .graphs = graphs_of(b), .adj = adj, .buckets = (int)told);
    if (c->hops && eager_goes_on(&e))
        follow_all(c, b, told, d, paths, with->threads);
    eager_end(&e);
    if (!eager_good(&e)) {
        snprintf(error, error_size, "distances of %lld pairs: %s", (long long)b->pairs, e.reason);
        free(d.data);
        free(paths.data);
        to->cancelled = e.cancelled;
        return false;
    }
    to->distances = d;
    to->paths = paths;
    to->cost = cost_add(to->cost, e.cost);
    to->peak = max_of(to->peak, encoding_storage(c, b) - mat_bytes(d) - mat_bytes(paths) + e.peak);
    return true;
}
