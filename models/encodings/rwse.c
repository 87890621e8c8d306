#include "models/encodings/rwse.h"

#include <stdio.h>
#include <stdlib.h>

static struct mat index_view(int64_t rows, enum dtype dtype, const void *data)
{
    return (struct mat){.data = (void *)(uintptr_t)data, .rows = rows, .cols = 1, .ld = 1, .dtype = dtype};
}

static struct edges edges_of(const struct batch *b)
{
    const struct csr *in = &b->adj, *out = &b->out;
    return (struct edges){.row = index_view(in->nodes + 1, I64, in->row_ptr),
                          .col = index_view(in->edges, I32, in->col),
                          .out_row = index_view(out->nodes + 1, I64, out->row_ptr),
                          .out_col = index_view(out->edges, I32, out->col)};
}

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
        run_op(&e, walk_returns_half, .p = p, .work = work, .adj = edges_of(b));
    else
        run_op(&e, walk_returns, .p = p, .work = work, .adj = edges_of(b));
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
