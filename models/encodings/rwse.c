#include "models/encodings/rwse.h"

#include <stdio.h>
#include <stdlib.h>

bool rwse_compute(const struct encoding_config *c, const struct batch *b, const struct encoding_options *with,
                  struct encoding *out, char *error, size_t error_size)
{
    struct eager e;
    int64_t n = b->adj.nodes;
    *out = (struct encoding){.method = b->symmetric ? "half powers" : "full powers",
                             .flops_label = "executed ops"};
    eager_start(&e, backend_cpu(), with->threads, with->cancel);
    struct mat p = {.rows = n, .cols = c->k, .ld = c->k, .dtype = F32};
    p.data = eager_alloc(&e, mat_bytes(p));
    struct mat work = eager_matrix(&e, I64, n, 1);
    if (b->symmetric)
        run_op(&e, walk_returns_half, .p = p, .work = work, .adj = encoding_edges(b));
    else
        run_op(&e, walk_returns, .p = p, .work = work, .adj = encoding_edges(b));
    eager_release(&e, &work);
    eager_end(&e);
    if (!eager_good(&e)) {
        snprintf(error, error_size, "rwse:%lld of %lld nodes: %s", (long long)c->k, (long long)n, e.reason);
        free(p.data);
        *out = (struct encoding){.cancelled = e.cancelled};
        return false;
    }
    out->values = p;
    out->cost = e.cost;
    out->peak = e.peak;
    return true;
}
