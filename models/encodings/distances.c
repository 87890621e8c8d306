#include "models/encodings/distances.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels/arithmetic.h"

static struct offsets graphs_of(const struct batch *b)
{
    struct mat at = {.data = b->offset, .rows = b->graphs + 1, .cols = 1, .ld = 1, .dtype = I64};
    return (struct offsets){at, b->pairs};
}

bool distances_compute(const struct encoding_config *c, const struct batch *b,
                       const struct encoding_options *with, struct encoding *to, char *error,
                       size_t error_size)
{
    struct eager e;
    eager_start(&e, backend_cpu(), with->threads, with->cancel);
    struct mat d = eager_matrix(&e, I64, b->pairs, 1);
    struct edges adj = encoding_edges(b);
    run_op(&e, hops, .bucket = d, .graphs = graphs_of(b), .adj = adj, .buckets = (int)c->buckets);
    eager_end(&e);
    if (!eager_good(&e)) {
        snprintf(error, error_size, "distances of %lld pairs: %s", (long long)b->pairs, e.reason);
        free(d.data);
        to->cancelled = e.cancelled;
        return false;
    }
    to->distances = d;
    to->cost = cost_add(to->cost, e.cost);
    to->peak = max_of(to->peak, encoding_storage(c, b) - mat_bytes(d) + e.peak);
    return true;
}
