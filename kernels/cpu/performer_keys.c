/*
 * The keys' side of linear attention (ref/performer.c, performer.h), forward and backward:
 *
 *   e = features of k (N x M)    s = e' v    l = column sums of e    top = column maxima of W z
 *   dv (+)= e ds    g = (v ds' + dl) e    dk (+)= (g W - z sum g) scale
 *
 * An accumulator is s, l and top of a part. The column sums of a block are added to those of the part, so
 * that few rounding errors add up.
 */
#include "kernels/cpu/performer.h"

/* Scratch of a thread. */
struct workspace {
    float *u, *v;           /* features of a block, and its packed values */
    float *l, *top, *block; /* of the part: column sums and maxima; column sums of the block */
};

static int64_t lay_out(const struct performer *p, float *at, struct workspace *r)
{
    const struct scratch_part parts[] = {{&r->u, BLOCK * p->ld},
                                         {&r->v, gemm_packed_size(BLOCK, p->c)},
                                         {&r->l, p->ld},
                                         {&r->top, p->ld},
                                         {&r->block, p->ld}};
    return SCRATCH(at, parts);
}

/* One row: its maxima, its features in place, and their sums. */
static void add_row(const struct performer *p, const struct workspace *r, float *u, float half)
{
    float *restrict top = r->top;
    float *restrict sum = r->block;
#pragma omp simd
    for (int64_t f = 0; f < p->m; f++)
        top[f] = vm_larger(u[f], top[f]);
    performer_features(p, u, half);
#pragma omp simd
    for (int64_t f = 0; f < p->m; f++)
        sum[f] += u[f];
}

/* Adds a block of rows to the part; s: M x C. */
static void add_block(const struct performer_keys_args *a, const struct performer *p,
                      const struct workspace *r, struct block b, int64_t h, bool first, float *s, int64_t lds)
{
    const float *k = row_of(a->k, b.first) + h * p->c;
    performer_project(p, b.rows, k, a->k.ld, r->u);
    memset(r->block, 0, (size_t)p->m * sizeof(float));
    if (first)
        memcpy(r->top, r->u, (size_t)p->m * sizeof(float));
    for (int64_t i = 0; i < b.rows; i++)
        add_row(p, r, r->u + i * p->ld, p->exponential ? performer_half(p, k + i * a->k.ld) : 0);
    add_accumulators(p->m, r->l, !first, r->block, 1, 0);
    gemm_pack(b.rows, p->c, gemm_in(row_of(a->v, b.first) + h * p->c, a->v.ld), r->v);
    gemm_packed(p->m, p->c, b.rows, gemm_transposed(r->u, p->ld), r->v, s, lds, !first);
}

static void sum_part(const struct performer *p, struct block part, int64_t number, int64_t h)
{
    const struct performer_keys_args *a = p->args;
    struct workspace r;
    lay_out(p, performer_workspace(p), &r);
    bool direct = part.first == graph_first(p->graphs, part.graph);
    int64_t row = (part.graph * p->heads + h) * p->m;
    float *more = direct ? NULL : performer_more(p, number, part.graph, h);
    for (int64_t i = 0; i < part.rows; i += BLOCK)
        add_block(a, p, &r, performer_block(part, i), h, i == 0, direct ? row_of(a->s, row) : more,
                  direct ? a->s.ld : p->c);
    for (int64_t f = 0; f < p->m; f++) {
        *(direct ? row_of(a->l, row + f) : more + p->m * p->c + f) = r.l[f];
        *(direct ? row_of(a->top, row + f) : more + p->m * (p->c + 1) + f) = r.top[f];
    }
}

/* Row f of the features of one head and graph: adds the later parts. */
static void add_parts(const struct performer *p, int64_t row)
{
    const struct performer_keys_args *a = p->args;
    int64_t f = row % p->m, h = row / p->m % p->heads, g = row / (p->m * p->heads);
    float *top = row_of(a->top, row);
    performer_add_parts(p, g, h, f * p->c, p->c, row_of(a->s, row));
    performer_add_parts(p, g, h, p->m * p->c + f, 1, row_of(a->l, row));
    const float *its = performer_part_after(p, g, h) + p->m * (p->c + 1) + f;
    for (int64_t part = performer_parts_after(p, g); part > 0; part--, its += p->heads * p->sums)
        *top = vm_larger(*its, *top);
}

static struct performer keys_of(const struct performer_keys_args *a, int64_t *bytes)
{
    struct performer p = performer_of(a, a->features, a->w, a->graphs, a->heads, a->k.rows);
    struct workspace unused;
    p.part = sum_part;
    p.row = add_parts;
    p.sums = round_up(p.m * (p.c + 2), 16);
    p.per_thread = lay_out(&p, NULL, &unused);
    *bytes = performer_lay_out(&p, &a->call);
    return p;
}

void CPU(performer_keys)(const void *args)
{
    const struct performer_keys_args *a = args;
    int64_t bytes;
    struct performer p = keys_of(a, &bytes);
    performer_pack(&p, a->w, false);
    performer_run(&p, &a->call);
}

int64_t CPU(performer_keys_scratch)(const void *args)
{
    int64_t bytes;
    keys_of(args, &bytes);
    return bytes;
}

/* Scratch of a thread: ds and its transpose, packed; dl; features and slopes of a block, and sums of the
 * latter. */
struct back {
    float *ds, *dst, *dl, *u, *t, *sum;
};

static int64_t lay_out_back(const struct performer *p, float *at, struct back *r)
{
    const struct scratch_part parts[] = {{&r->ds, gemm_packed_size(p->m, p->c)},
                                         {&r->dst, gemm_packed_size(p->c, p->m)},
                                         {&r->dl, p->ld},
                                         {&r->u, BLOCK * p->ld},
                                         {&r->t, BLOCK * p->ld},
                                         {&r->sum, BLOCK}};
    return SCRATCH(at, parts);
}

static void block_backward(const struct performer_keys_backward_args *a, const struct performer *p,
                           const struct back *r, struct block b, int64_t h)
{
    int64_t column = h * p->c;
    const float *k = row_of(a->k, b.first) + column, *v = row_of(a->v, b.first) + column;
    performer_project(p, b.rows, k, a->k.ld, r->u);
    gemm_fused(b.rows, p->m, p->c, gemm_in(v, a->v.ld), r->dst, r->t, p->ld,
               (struct gemm_end){.kind = GEMM_STORE});
    for (int64_t i = 0; i < b.rows; i++) {
        float *u = r->u + i * p->ld;
        performer_features(p, u, p->exponential ? performer_half(p, k + i * a->k.ld) : 0);
        r->sum[i] = performer_slopes(p, r->t + i * p->ld, u, 1, r->dl);
    }
    gemm_packed(b.rows, p->c, p->m, gemm_in(r->u, p->ld), r->ds, row_of(a->dv, b.first) + column, a->dv.ld,
                a->dv.acc);
    performer_put(p, b.rows, r->t, r->sum, k, a->k.ld, row_of(a->dk, b.first) + column, a->dk.ld, a->dk.acc);
}

static void part_backward(const struct performer *p, struct block part, int64_t number, int64_t h)
{
    const struct performer_keys_backward_args *a = p->args;
    struct back r;
    int64_t row = (part.graph * p->heads + h) * p->m;
    (void)number;
    lay_out_back(p, performer_workspace(p), &r);
    gemm_pack(p->m, p->c, gemm_in(row_of(a->ds, row), a->ds.ld), r.ds);
    gemm_pack(p->c, p->m, gemm_transposed(row_of(a->ds, row), a->ds.ld), r.dst);
    for (int64_t f = 0; f < p->m; f++)
        r.dl[f] = *row_of(a->dl, row + f);
    for (int64_t i = 0; i < part.rows; i += BLOCK)
        block_backward(a, p, &r, performer_block(part, i), h);
}

static struct performer keys_backward_of(const struct performer_keys_backward_args *a, int64_t *bytes)
{
    struct performer p = performer_of(a, a->features, a->w, a->graphs, a->heads, a->k.rows);
    struct back unused;
    p.part = part_backward;
    p.per_thread = lay_out_back(&p, NULL, &unused);
    *bytes = performer_lay_out(&p, &a->call);
    return p;
}

void CPU(performer_keys_backward)(const void *args)
{
    const struct performer_keys_backward_args *a = args;
    int64_t bytes;
    struct performer p = keys_backward_of(a, &bytes);
    performer_pack(&p, a->w, true);
    performer_run(&p, &a->call);
}

int64_t CPU(performer_keys_backward_scratch)(const void *args)
{
    int64_t bytes;
    keys_backward_of(args, &bytes);
    return bytes;
}
