/*
 * Backward of attention over edges, with p recomputed from the saved lse as in attention_backward.c, for e: j
 * -> i, per head:
 *
 *   p_e = exp(q_i . k_j scale - lse_i)    delta_i = dy_i . y_i    ds_e = p_e (dy_i . v_j - delta_i) scale
 *   dq_i (+)= sum of ds_e k_j    dk_j (+)= sum of ds_e q_i    dv_j (+)= sum of p_e dy_i
 *
 * by edge_gradients.h. Dropout replaces dy_i . v_j, and p_e in dv, as in kernels/ref/attention.c. The pass
 * over receivers stores ds and p of every edge, so that the pass over senders only has to weigh rows with
 * them. With rows c of the edges it also computes dc, k_j and q_i are replaced by k_j c_e and q_i c_e, and ds
 * is 0 where the score was clamped.
 */
#include "kernels/cpu/edge_factors.h"
#include "kernels/cpu/edge_gradients.h"
#include "kernels/cpu/mask.h"

enum { AHEAD = 128 }; /* edges by which prefetches run ahead */

struct attention {
    const struct sparse_attention_backward_args *a;
    const struct mask *mask; /* of dropout; null: none */
    float *slopes;           /* scratch: ds and p of every edge, H each */
};

/* The extra scratch of a thread, with c: products with its rows; the slopes of scores. */
enum { FACTORS, SLOPES };

static const struct sparse_attention_backward_args *args_of(const struct edge_pass *w)
{
    return ((const struct attention *)w->of->args)->a;
}

static float scale_of(const struct sparse_attention_backward_args *a)
{
    return (float)(1 / sqrt((double)(a->q.cols / a->heads)));
}

/* lse and delta of a group's rows. */
static void find_softmax(const struct edge_pass *w, const struct edge_back *r, struct edge_own dy,
                         const struct edge_group *g)
{
    const struct edge_gradients *s = w->of;
    const struct edge_heads *h = &s->heads;
    struct edge_nodes nodes;
    edge_nodes_clear(&nodes);
    for (int64_t k = 0; k < g->nodes.count; k++)
        edge_nodes_add(&nodes, k + 1);
    struct edge_rows y = {row_of(s->y, g->piece.row), s->y.ld, nodes.rows, g->nodes.count - 1};
    if (h->d < LANES)
        y = edge_copy(h, y, g->nodes.count, r->copies[0]);
    edge_dots(h, &nodes, dy, &y, false, r->delta);
    for (int64_t k = 0, i = g->piece.row; k < g->nodes.count; k++, i++)
        edge_put_softmax(s, r, k, r->delta + k * h->heads, i, false);
}

/*
 * ds and p of n edges. Whole vec4s reach into the next edge: the last heads go first, so that the next edge's
 * first heads are stored after them. The last two edges are stored exactly: with one head, a vec4 of the last
 * but one would reach beyond the group.
 */
static void put_slopes(int64_t heads, int64_t n, const struct edge_back *r, float *to)
{
    int64_t last = max_of(0, n - 2);
    for (int64_t h = round_up(heads, 4) - 4; h >= 0; h -= 4)
        for (int64_t e = 0; e < last; e++) {
            store4(to + 2 * e * heads + h, load4(r->ds + e * heads + h));
            store4(to + (2 * e + 1) * heads + h, load4(r->p + e * heads + h));
        }
    for (int64_t e = last; e < n; e++)
        for (int64_t h = 0; h < heads; h++) {
            to[2 * e * heads + h] = r->ds[e * heads + h];
            to[(2 * e + 1) * heads + h] = r->p[e * heads + h];
        }
}

/* The scores of a group's edges, and their products of `own` and `other`. */
static void find_products(const struct edge_pass *w, const struct edge_back *r, const struct edge_group *g,
                          const struct edge_own own[2], const struct edge_rows other[2])
{
    const struct edge_heads *h = &w->of->heads;
    const struct attention *t = w->of->args;
    bool factors = mat_present(t->a->c);
    int64_t n = g->end - g->first;
    edge_dots(h, &g->nodes, own[0], &other[0], !factors, r->p);
    edge_dots(h, &g->nodes, own[1], &other[1], true, r->ds);
    if (factors)
        edge_clamp(n * h->heads, r->p, scale_of(t->a), (float)t->a->clamp, r->extra[SLOPES]);
    if (t->mask)
        mask_in_place(*t->mask, g->first * h->heads, n * h->heads, r->ds);
}

/* The rows at the ends of a group's edges, those of k or q times c. */
static void find_ends(const struct edge_pass *w, const struct edge_back *r, const struct edge_group *g,
                      struct edge_rows other[2])
{
    const struct sparse_attention_backward_args *a = args_of(w);
    const struct edge_heads *h = &w->of->heads;
    int64_t n = g->end - g->first;
    for (int m = 0; m < 2; m++)
        other[m] = edge_ends(h, &w->tasks, w->other[m], g->first, n, r->copies[m]);
    if (mat_present(a->c))
        edge_factors(h, &w->tasks, a->c, w->sends ? a->adj.out_edge.data : NULL, g->first, n,
                     r->extra[FACTORS], &other[0]);
}

/* ds of a group's edges becomes 0 where the score was clamped; dc. */
static void put_edges(const struct edge_pass *w, const struct edge_back *r, const struct edge_group *g)
{
    const struct sparse_attention_backward_args *a = args_of(w);
    int64_t heads = w->of->heads.heads, dh = w->of->heads.dh, n = g->end - g->first;
    const float *slopes = r->extra[SLOPES];
    for (int64_t u = 0; u < n * heads; u++)
        r->ds[u] *= slopes[u];
    for (int64_t e = 0; e < n; e++) {
        const float *restrict q = row_of(a->q, g->piece.row + g->nodes.rows[e]);
        const float *restrict k = row_of(a->k, w->tasks.col[g->first + e]);
        float *restrict dc = row_of(a->dc, g->first + e);
        edge_fetch_row(a->dc, g->first + e + edges_ahead(2 * heads * dh));
        for (int64_t h = 0; h < heads; h++) {
            float ds = r->ds[e * heads + h];
#pragma omp simd
            for (int64_t c = h * dh; c < (h + 1) * dh; c++)
                dc[c] = (a->dc.acc ? dc[c] : 0) + ds * q[c] * k[c];
        }
    }
}

static void products(const struct edge_pass *w, const struct edge_back *r, const struct edge_group *g,
                     const struct edge_own own[2], struct edge_nodes *nodes)
{
    struct edge_rows other[2];
    find_ends(w, r, g, other);
    find_products(w, r, g, own, other);
    *nodes = g->nodes;
}

/* dq of the receivers; ds and p of their edges. */
static void receive(const struct edge_pass *w, const struct edge_back *r, const struct edge_group *g,
                    const struct edge_own own[2], struct edge_target dq)
{
    const struct edge_heads *h = &w->of->heads;
    const struct attention *t = w->of->args;
    int64_t n = g->end - g->first, at = g->first * h->heads, count = n * h->heads;
    struct edge_rows other[2];
    find_ends(w, r, g, other);
    edge_spread_softmax(w, r, &g->nodes);
    find_products(w, r, g, own, other);
    edge_find_slopes(w->of, r, n, g->piece.row, g->nodes.rows,
                     edge_rows_far(w->of, g->piece.row, g->nodes.count));
    if (mat_present(t->a->c))
        put_edges(w, r, g);
    edge_weigh(h, &g->nodes, r->ds, &other[0], false, dq);
    if (t->mask)
        mask_in_place(*t->mask, at, count, r->p);
    put_slopes(h->heads, n, r, t->slopes + 2 * at);
}

/*
 * ds and p of the senders' edges first .. first + n - 1, as in put_slopes; prefetches those of edges AHEAD.
 */
static void gather(const struct edge_pass *w, const struct edge_back *r, int64_t first, int64_t n)
{
    const struct attention *t = w->of->args;
    const int32_t *number = t->a->adj.out_edge.data;
    int64_t heads = w->of->heads.heads, each = 2 * heads, last = w->tasks.edges - 1;
    for (int64_t h = round_up(heads, 4) - 4; h >= 0; h -= 4)
        for (int64_t e = 0; e < n; e++) {
            const float *from = t->slopes + number[first + e] * each + h;
            __builtin_prefetch(t->slopes + number[min_of(first + e + AHEAD, last)] * each + 2 * h);
            store4(r->ds + e * heads + h, load4(from));
            store4(r->p + e * heads + h, load4(from + heads));
        }
}

/* dk and dv of senders. */
static void send(const struct edge_pass *w, const struct edge_back *r, const struct edge_group *g,
                 const struct edge_target to[2])
{
    const struct edge_heads *h = &w->of->heads;
    const float *weights[] = {r->ds, r->p};
    struct edge_rows other[2];
    gather(w, r, g->first, g->end - g->first);
    find_ends(w, r, g, other);
    for (int m = 0; m < 2; m++)
        edge_weigh(h, &g->nodes, weights[m], &other[m], m > 0 || !mat_present(args_of(w)->c), to[m]);
}

static void group_backward(const struct edge_pass *w, const struct edge_back *r, const struct edge_group *g,
                           const struct edge_own own[2], const struct edge_target to[2])
{
    if (w->sends) {
        send(w, r, g, to);
        return;
    }
    if (edge_group_opens(g)) {
        find_softmax(w, r, own[1], g);
        edge_far_deltas(w, r, g, own, products);
    }
    receive(w, r, g, own, to[0]);
}

static void task_backward(const void *pass, int64_t t, void *back)
{
    edge_pass_task(pass, t, back, group_backward);
}

static struct edge_gradients gradients_of(const struct sparse_attention_backward_args *a, int64_t *bytes)
{
    int64_t d = a->q.cols;
    struct edge_gradients s = {.heads = edge_heads_of(d, a->heads), .y = a->y, .lse = a->lse};
    s.scale = mat_present(a->c) ? 1 : scale_of(a); /* scores are scaled before they are clamped */
    s.extra[FACTORS] = mat_present(a->c) ? edge_factors_size(&s.heads) : 0;
    s.extra[SLOPES] = mat_present(a->c) ? s.heads.units : 0;
    s.receive = (struct edge_pass){.tasks = edge_tasks(a->adj.row, a->adj.col),
                                   .own = {a->q, a->dy},
                                   .other = {a->k, a->v},
                                   .out = {a->dq},
                                   .width = d};
    s.send = (struct edge_pass){.tasks = edge_tasks(a->adj.out_row, a->adj.out_col),
                                .other = {a->q, a->dy},
                                .out = {a->dk, a->dv},
                                .width = 2 * d,
                                .sends = true};
    s.wanted = 2 * a->adj.col.rows * a->heads + 4; /* whole vec4s are read */
    *bytes = edge_gradients_lay_out(&s, &a->call);
    return s;
}

void CPU(sparse_attention_backward)(const void *args)
{
    const struct sparse_attention_backward_args *a = args;
    int64_t bytes;
    struct mask mask;
    struct edge_gradients s = gradients_of(a, &bytes);
    s.args = &(struct attention){a, mask_given(a->schedule, a->key, a->p, &mask), s.shared};
    int threads = threads_for(&a->call, (a->q.rows + a->adj.col.rows) * a->q.cols, 1 << 13);
#pragma omp parallel num_threads(threads)
    edge_gradients_run(&s, task_backward, products);
}

int64_t CPU(sparse_attention_backward_scratch)(const void *args)
{
    int64_t bytes;
    gradients_of(args, &bytes);
    return bytes;
}
