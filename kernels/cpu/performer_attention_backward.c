/*
 * Backward of the queries' side of linear attention (ref/performer.c, performer.h): with e the features of q,
 * computed again from the saved peak, and a and b as in performer_attention.c,
 *
 *   x = dy / den    d = -(dy y) / den    ds (+)= c (e' x + eps sum x)    dl (+)= c (e' d + eps sum d)
 *   dsum (+)= eps total' x    g = (x a' + d b) e    dq (+)= (g W - z sum g) scale
 *
 * An accumulator is ds, dl and dsum of a part: M x C, M and C.
 */
#include "kernels/cpu/performer.h"

/* Scratch of a thread. */
struct workspace {
    float *a, *packed, *b;   /* of the head and graph: M x C, its transpose packed, M */
    float *u, *t, *sum;      /* features and slopes of a block, and sums of the latter */
    float *x, *scaled, *d;   /* of a block: BLOCK x C, c x packed, BLOCK */
    float *dl, *block;       /* of the part and of a block: M */
    float *dsum, *all, *its; /* of the part: total' x; sum x and, in all[C], sum d; the same of a block */
};

static int64_t lay_out(const struct performer *p, float *at, struct workspace *r)
{
    int64_t c = p->c, rows = BLOCK * p->ld;
    const struct scratch_part parts[] = {{&r->a, p->m * c},  {&r->packed, gemm_packed_size(c, p->m)},
                                         {&r->b, p->ld},     {&r->u, rows},
                                         {&r->t, rows},      {&r->sum, BLOCK},
                                         {&r->x, BLOCK * c}, {&r->scaled, gemm_packed_size(BLOCK, c)},
                                         {&r->d, BLOCK},     {&r->dl, p->ld},
                                         {&r->block, p->ld}, {&r->dsum, 2 * c},
                                         {&r->all, c + 1},   {&r->its, c + 1}};
    return SCRATCH(at, parts);
}

/* x and d of row i, and their sums over the block. */
static void begin_row(const struct performer_attention_backward_args *a, const struct performer *p,
                      const struct workspace *r, int64_t i, int64_t row, int64_t h)
{
    const float *dy = row_of(a->dy, row) + h * p->c, *y = row_of(a->y, row) + h * p->c;
    float share = 1 / row_of(a->den, row)[h], total = row_of(a->total, row)[h], *x = r->x + i * p->c;
    float *dsum = r->dsum + p->c; /* of the block */
    r->d[i] = -share * vm_dot(p->c, dy, y);
    r->its[p->c] += r->d[i];
#pragma omp simd
    for (int64_t k = 0; k < p->c; k++) {
        x[k] = share * dy[k];
        r->its[k] += x[k];
        dsum[k] += total * x[k];
    }
}

/* Slopes of row i, in place of x a', and its share of dl; its features are in u. */
static void end_row(const struct performer *p, const struct workspace *r, int64_t i, const float *u)
{
    float *restrict sum = r->block;
    float d = r->d[i];
#pragma omp simd
    for (int64_t f = 0; f < p->m; f++)
        sum[f] += d * u[f];
    r->sum[i] = performer_slopes(p, r->t + i * p->ld, u, d, r->b);
}

/* The sums of a block are added to those of the part, so that few rounding errors add up. */
static void begin_block(const struct performer_attention_backward_args *a, const struct performer *p,
                        const struct workspace *r, struct block b, int64_t h, bool first)
{
    memset(r->its, 0, (size_t)(p->c + 1) * sizeof(float));
    memset(r->dsum + p->c, 0, (size_t)p->c * sizeof(float));
    for (int64_t i = 0; i < b.rows; i++)
        begin_row(a, p, r, i, b.first + i, h);
    add_accumulators(p->c + 1, r->all, !first, r->its, 1, 0);
    add_accumulators(p->c, r->dsum, !first, r->dsum + p->c, 1, 0);
}

/* ds: M x C; `acc`: it already has a part of the sum. */
static void block_backward(const struct performer_attention_backward_args *a, const struct performer *p,
                           const struct workspace *r, struct block b, int64_t h, bool first, float c,
                           float *ds, int64_t ldds, bool acc)
{
    const float *q = row_of(a->q, b.first) + h * p->c;
    begin_block(a, p, r, b, h, first);
    performer_project(p, b.rows, q, a->q.ld, r->u);
    gemm_fused(b.rows, p->m, p->c, gemm_in(r->x, p->c), r->packed, r->t, p->ld,
               (struct gemm_end){.kind = GEMM_STORE});
    memset(r->block, 0, (size_t)p->m * sizeof(float));
    for (int64_t i = 0; i < b.rows; i++) {
        float *u = r->u + i * p->ld, peak = row_of(a->peak, b.first + i)[h];
        performer_features(p, u, peak + performer_half(p, q + i * a->q.ld));
        end_row(p, r, i, u);
    }
    add_accumulators(p->m, r->dl, !first, r->block, 1, 0);
    gemm_pack(b.rows, p->c, gemm_in(r->x, p->c), r->scaled);
    gemm_scale(gemm_packed_size(b.rows, p->c), r->scaled, c);
    gemm_packed(p->m, p->c, b.rows, gemm_transposed(r->u, p->ld), r->scaled, ds, ldds, acc);
    performer_put(p, b.rows, r->t, r->sum, q, a->q.ld, row_of(a->dq, b.first) + h * p->c, a->dq.ld,
                  a->dq.acc);
}

/* Where the sums of a part go. */
struct target {
    float *ds, *dl, *dsum;
    int64_t ldds, lddl;
    bool acc_s, acc_l, acc_sum;
};

static struct target target_of(const struct performer_attention_backward_args *a, const struct performer *p,
                               struct block part, int64_t number, int64_t h)
{
    int64_t row = (part.graph * p->heads + h) * p->m;
    if (part.first == graph_first(p->graphs, part.graph))
        return (struct target){.ds = row_of(a->ds, row),
                               .dl = row_of(a->dl, row),
                               .dsum = row_of(a->dsum, part.graph) + h * p->c,
                               .ldds = a->ds.ld,
                               .lddl = a->dl.ld,
                               .acc_s = a->ds.acc,
                               .acc_l = a->dl.acc,
                               .acc_sum = a->dsum.acc};
    float *more = performer_more(p, number, part.graph, h);
    return (struct target){
        .ds = more, .dl = more + p->m * p->c, .dsum = more + p->m * (p->c + 1), .ldds = p->c, .lddl = 1};
}

/* Adds the share of eps to ds, and writes dl and dsum. */
static void end_part(const struct performer *p, const struct workspace *r, struct target to, float c,
                     float eps)
{
    float share = c * eps, down = share * r->all[p->c];
    for (int64_t f = 0; f < p->m; f++) {
        float *ds = to.ds + f * to.ldds, *dl = to.dl + f * to.lddl;
#pragma omp simd
        for (int64_t k = 0; k < p->c; k++)
            ds[k] += share * r->all[k];
        *dl = (to.acc_l ? *dl : 0) + c * r->dl[f] + down;
    }
    for (int64_t k = 0; k < p->c; k++)
        to.dsum[k] = (to.acc_sum ? to.dsum[k] : 0) + eps * r->dsum[k];
}

static void part_backward(const struct performer *p, struct block part, int64_t number, int64_t h)
{
    const struct performer_attention_backward_args *a = p->args;
    struct performer_keys_side side = {a->s, a->l, a->top, a->sum, (float)a->eps};
    struct workspace r;
    lay_out(p, performer_workspace(p), &r);
    struct target to = target_of(a, p, part, number, h);
    float c = performer_gather(p, &side, part.graph, h, r.a, r.b);
    gemm_pack(p->c, p->m, gemm_transposed(r.a, p->c), r.packed);
    for (int64_t i = 0; i < part.rows; i += BLOCK)
        block_backward(a, p, &r, performer_block(part, i), h, i == 0, c, to.ds, to.ldds, i > 0 || to.acc_s);
    end_part(p, &r, to, c, (float)a->eps);
}

/* Adds the later parts to row `row` of ds and dl, and with the first feature of a head to dsum. */
static void add_parts(const struct performer *p, int64_t row)
{
    const struct performer_attention_backward_args *a = p->args;
    int64_t f = row % p->m, h = row / p->m % p->heads, g = row / (p->m * p->heads);
    performer_add_parts(p, g, h, f * p->c, p->c, row_of(a->ds, row));
    performer_add_parts(p, g, h, p->m * p->c + f, 1, row_of(a->dl, row));
    if (f == 0)
        performer_add_parts(p, g, h, p->m * (p->c + 1), p->c, row_of(a->dsum, g) + h * p->c);
}

static struct performer backward_of(const struct performer_attention_backward_args *a, int64_t *bytes)
{
    struct performer p = performer_of(a, a->features, a->w, a->graphs, a->heads, a->q.rows);
    struct workspace unused;
    p.part = part_backward;
    p.row = add_parts;
    p.sums = round_up(p.m * (p.c + 1) + p.c, 16);
    p.per_thread = lay_out(&p, NULL, &unused);
    *bytes = performer_lay_out(&p, &a->call);
    return p;
}

void CPU(performer_attention_backward)(const void *args)
{
    const struct performer_attention_backward_args *a = args;
    int64_t bytes;
    struct performer p = backward_of(a, &bytes);
    performer_pack(&p, a->w, true);
    performer_run(&p, &a->call);
}

int64_t CPU(performer_attention_backward_scratch)(const void *args)
{
    int64_t bytes;
    backward_of(args, &bytes);
    return bytes;
}
