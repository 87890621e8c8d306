/*
 * The check needs no search: d is right if it is 0 from a node to itself alone, no edge leads more than one
 * step further, and every other node that has a distance has an edge from one that is a step nearer. In the
 * last but one bucket distances are only known to be at least K - 1. A path is right if each edge begins
 * where the one before it ends, and it has as many as the distance says.
 */
#include <stdio.h>
#include <string.h>

#include "kernels/arithmetic.h"
#include "kernels/rng.h"
#include "models/encodings/check.h"

enum { NODES = 16 };

/* What is wrong with one of the distances from node i of nodes first .. first + n - 1; null: nothing. */
static const char *fault(const struct batch *b, const int64_t *d, int64_t k, int64_t first, int64_t n,
                         int64_t i)
{
    for (int64_t j = 0; j < n; j++) {
        bool nearer = j == i;
        if (d[j] < 0 || d[j] > k || (j == i ? d[j] != 0 : k > 1 && d[j] == 0))
            return "is none";
        for (int64_t e = b->adj.row_ptr[first + j]; e < b->adj.row_ptr[first + j + 1]; e++) {
            int64_t from = d[b->adj.col[e] - first], step = min_of(from + 1, k - 1);
            if (from < k && d[j] > step)
                return "is more than a step beyond that of a node with an edge to it";
            nearer |= from < k && d[j] == step;
        }
        if (d[j] < k && !nearer)
            return "has no edge from a node that is nearer";
    }
    return NULL;
}

/* Whether these are the first edges of a path from node i to node j, whose distance is in bucket d of k. */
static bool is_path(const struct csr *in, const int32_t *path, int64_t hops, int64_t i, int64_t j, int64_t d,
                    int64_t k)
{
    int64_t count = 0, least = d < k ? min_of(d, hops) : 0, at = i;
    for (; count < hops && path[count] >= 0; count++) {
        bool last = count + 1 == hops ? d == hops && d < k - 1 : path[count + 1] < 0;
        if (in->col[path[count]] != at)
            return false;
        at = last ? j : count + 1 == hops ? -1 : in->col[path[count + 1]];
        if (at >= 0 && (path[count] < in->row_ptr[at] || path[count] >= in->row_ptr[at + 1]))
            return false;
    }
    return d == k - 1 ? count >= least : count == least;
}

void distances_check(struct encoding_check *to, const struct encoding_config *c, const struct batch *b,
                     const struct encoding *e, const struct encoding_check_options *o)
{
    uint64_t key = rng_key(o->seed, "distances.check");
    int64_t nodes = b->adj.nodes;
    for (int s = 0; s < NODES && !*to->wrong; s++) {
        int64_t node =
            nodes <= NODES ? s : (int64_t)((rng_bits(key, (uint64_t)s) >> 32) * (uint64_t)nodes >> 32);
        int64_t g = 0, pair = 0;
        if (node >= nodes)
            break;
        for (; b->offset[g + 1] <= node; g++)
            pair += (b->offset[g + 1] - b->offset[g]) * (b->offset[g + 1] - b->offset[g]);
        int64_t first = b->offset[g], n = b->offset[g + 1] - first;
        const int64_t *d = (const int64_t *)e->distances.data + pair + (node - first) * n;
        const char *why = fault(b, d, c->buckets, first, n, node - first);
        const int32_t *paths = e->paths.data; /* null without hops */
        int64_t at = (d - (const int64_t *)e->distances.data) * c->hops;
        for (int64_t j = 0; j < n && c->hops && !why; j++)
            if (!is_path(&b->adj, &paths[at + j * c->hops], c->hops, node, first + j, d[j], c->buckets))
                why = "has no path of so many edges";
        if (why)
            snprintf(to->wrong, sizeof to->wrong, "distances from node %lld: one %s", (long long)node, why);
    }
    size_t used = strlen(to->how);
    snprintf(to->how + used, sizeof to->how - used, "%sdistances%s from up to %d nodes", used ? "; " : "",
             c->hops ? " and paths" : "", NODES);
}
