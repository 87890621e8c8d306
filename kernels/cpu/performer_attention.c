/*
 * The queries' side of linear attention (ref/performer.c, performer.h): with e the features of q,
 *
 *   a = c s + eps sum    b = c l + eps n    den = e b + eps sum b    y = (e a + eps sum a) / den
 *
 * sums over the features. A task forms and packs a for itself.
 */
#include "kernels/cpu/performer.h"

/* Scratch of a thread. */
struct workspace {
    float *a, *packed, *b; /* of the head and graph: M x C, the same packed, M */
    float *sum;            /* eps times the sum of the rows of a: C */
    float *u, *share;      /* features of a block; 1 / den of its rows */
};

static int64_t lay_out(const struct performer *p, float *at, struct workspace *r)
{
    const struct scratch_part parts[] = {{&r->a, p->m * p->c},   {&r->packed, gemm_packed_size(p->m, p->c)},
                                         {&r->b, p->ld},         {&r->sum, p->c},
                                         {&r->u, BLOCK * p->ld}, {&r->share, BLOCK}};
    return SCRATCH(at, parts);
}

/* Row i: from W z its features, in place, and what is saved; returns 1 / den. `b` is the sum of b. */
static float end_features(const struct performer_attention_args *a, const struct performer *p,
                          const struct workspace *r, float *u, int64_t i, int64_t h, float b)
{
    float eps = (float)a->eps, den = 0, total = 0, peak = vm_largest(p->m, u);
    performer_features(p, u, peak + performer_half(p, row_of(a->q, i) + h * p->c));
#pragma omp simd reduction(+ : den, total)
    for (int64_t f = 0; f < p->m; f++) {
        den += u[f] * r->b[f];
        total += u[f];
    }
    den += eps * b;
    if (mat_present(a->den))
        row_of(a->den, i)[h] = den;
    if (mat_present(a->peak))
        row_of(a->peak, i)[h] = peak;
    if (mat_present(a->total))
        row_of(a->total, i)[h] = total + eps * (float)p->m;
    return 1 / den;
}

static void attend_block(const struct performer_attention_args *a, const struct performer *p,
                         const struct workspace *r, struct block block, int64_t h, float b)
{
    float *y = row_of(a->y, block.first) + h * p->c;
    performer_project(p, block.rows, row_of(a->q, block.first) + h * p->c, a->q.ld, r->u);
    for (int64_t i = 0; i < block.rows; i++)
        r->share[i] = end_features(a, p, r, r->u + i * p->ld, block.first + i, h, b);
    gemm_fused(block.rows, p->c, p->m, gemm_in(r->u, p->ld), r->packed, y, a->y.ld,
               (struct gemm_end){.kind = GEMM_STORE});
    for (int64_t i = 0; i < block.rows; i++) {
        float *to = y + i * a->y.ld;
#pragma omp simd
        for (int64_t k = 0; k < p->c; k++)
            to[k] = (to[k] + r->sum[k]) * r->share[i];
    }
}

/* Of what was gathered: eps times the sum of the rows of a; returns the sum of b. */
static float sum_gathered(const struct performer *p, float eps, const struct workspace *r)
{
    float b = 0;
    memset(r->sum, 0, (size_t)p->c * sizeof(float));
    for (int64_t f = 0; f < p->m; f++) {
        const float *a = r->a + f * p->c;
        b += r->b[f];
#pragma omp simd
        for (int64_t k = 0; k < p->c; k++)
            r->sum[k] += a[k];
    }
    gemm_scale(p->c, r->sum, eps);
    return b;
}

static void attend(const struct performer *p, struct block part, int64_t number, int64_t h)
{
    const struct performer_attention_args *a = p->args;
    struct performer_keys_side side = {a->s, a->l, a->top, a->sum, (float)a->eps};
    struct workspace r;
    (void)number;
    lay_out(p, performer_workspace(p), &r);
    performer_gather(p, &side, part.graph, h, r.a, r.b);
    float b = sum_gathered(p, (float)a->eps, &r);
    gemm_pack(p->m, p->c, gemm_in(r.a, p->c), r.packed);
    for (int64_t i = 0; i < part.rows; i += BLOCK)
        attend_block(a, p, &r, performer_block(part, i), h, b);
}

static struct performer attention_of(const struct performer_attention_args *a, int64_t *bytes)
{
    struct performer p = performer_of(a, a->features, a->w, a->graphs, a->heads, a->q.rows);
    struct workspace unused;
    p.part = attend;
    p.per_thread = lay_out(&p, NULL, &unused);
    *bytes = performer_lay_out(&p, &a->call);
    return p;
}

void CPU(performer_attention)(const void *args)
{
    const struct performer_attention_args *a = args;
    int64_t bytes;
    struct performer p = attention_of(a, &bytes);
    performer_pack(&p, a->w, false);
    performer_run(&p, &a->call);
}

int64_t CPU(performer_attention_scratch)(const void *args)
{
    int64_t bytes;
    attention_of(args, &bytes);
    return bytes;
}
