/*
 * Linear attention by random features among the nodes of each graph (Choromanski et al., "Rethinking
 * attention with Performers", 2021), as performer-pytorch computes it. Head h uses its own C columns of q, k,
 * v and y, and all heads the rows w_f of w, f < M. For node i, with z the scaled row of q or k, u_f = w_f .
 * z:
 *
 *   features of the softmax    z = x C^(-1/4)    phi_f = exp(u_f - |z|^2 / 2 - top) + eps
 *   rectifier                  z = x             phi_f = max(u_f, 0) + eps
 *
 *   y_i = phi(q_i) . sum_j phi(k_j) v_j / phi(q_i) . sum_j phi(k_j)       (the factor M^(-1/2) of phi
 * cancels)
 *
 * top is the largest u of a query, and the largest of all keys of a graph and head: a constant to the
 * gradient, although eps makes y depend on it. The sums over keys need no top, because e_f = exp(u_f - |z|^2
 * / 2) is at most exp(|w_f|^2 / 2):
 *
 *   performer_keys         s_f = sum_j e_jf v_j    l_f = sum_j e_jf    top_f = max_j u_jf
 *   performer_attention    c = exp(-max_f top_f)    a_f = c s_f + eps sum_j v_j    b_f = c l_f + eps n
 *                          y_i = sum_f p_if a_f / den_i    den_i = sum_f p_if b_f    p = phi(q)
 *
 * So a row of s needs one row of w, a row of y one row of q, and no matrix of N x M is stored. Backward:
 *
 *   x_i = dy_i / den_i    h_i = -(dy_i . y_i) / den_i
 *   ds_f = c sum_i p_if x_i    dl_f = c sum_i p_if h_i    dsum = eps sum_i (sum_f p_if) x_i
 *   of q:  dphi_if = x_i . a_f + h_i b_f       of k:  dphi_if = v_i . ds_f + dl_f,  dv_i = sum_f e_if ds_f
 *   softmax:  g = dphi e    dx = (sum_f g_f w_f - z sum_f g_f) C^(-1/4)
 *   rectifier:  g = dphi where u > 0    dx = sum_f g_f w_f
 */
#include "kernels/ref/loops.h"

/* One head of one graph: its nodes, its rows of F features, its first column in matrices of nodes. */
struct part {
    struct rows nodes, features;
    int64_t column;
};

static struct part part_of(struct offsets graphs, int64_t heads, struct mat w, int64_t g, int64_t h)
{
    int64_t first = (g * heads + h) * w.rows;
    struct part p = {graph_rows(graphs, g), {first, first + w.rows}, h * w.cols};
    return p;
}

static bool is_exp(int features)
{
    return features == FEATURES_EXP;
}

/* z = row i of x, scaled for the softmax; returns |z|^2 / 2, which the rectifier does not need. */
static real scale_row(int features, struct mat z, struct mat x, int64_t i)
{
    real scale = R(pow((double)x.cols, -0.25)), squares = R(0);
    for (int64_t k = 0; k < x.cols; k++) {
        AT(z, 0, k) = is_exp(features) ? AT(x, i, k) * scale : AT(x, i, k);
        if (is_exp(features))
            squares += AT(z, 0, k) * AT(z, 0, k);
    }
    return is_exp(features) ? squares * R(0.5) : squares;
}

/* A feature without eps. */
static real feature(int features, real u, real shift)
{
    return is_exp(features) ? r_exp(u - shift) : r_max(u, R(0));
}

/* The gradient of W z from that of the feature e. */
static real feature_backward(int features, real u, real e, real de)
{
    return is_exp(features) ? de * e : r_gate(u, de);
}

/* Row i of the gradient of q or k, from sum g_f w_f and sum g_f. */
static void put_gradient(int features, struct mat dx, int64_t i, struct mat dz, struct mat z, real sum)
{
    real scale = R(pow((double)dx.cols, -0.25));
    for (int64_t k = 0; k < dx.cols; k++)
        put(dx, i, k, is_exp(features) ? (AT(dz, 0, k) - sum * AT(z, 0, k)) * scale : AT(dz, 0, k));
}

/* The sums over one graph's keys of one head, for the wanted features. */
static void sum_keys(const struct performer_keys_args *a, struct part p, struct rows wanted)
{
    struct mat k = mat_cols(a->k, p.column, a->w.cols), v = mat_cols(a->v, p.column, a->w.cols);
    struct mat z = scratch_row(a->call, 0, a->w.cols);
    for (int64_t f = wanted.first; f < wanted.end; f++) {
        AT(a->l, f, 0) = R(0);
        for (int64_t c = 0; c < a->s.cols; c++)
            AT(a->s, f, c) = R(0);
    }
    for (int64_t i = p.nodes.first; i < p.nodes.end; i++) {
        real half = scale_row(a->features, z, k, i);
        for (int64_t f = wanted.first; f < wanted.end; f++) {
            real u = dot(z, 0, a->w, f - p.features.first);
            real e = feature(a->features, u, half);
            AT(a->top, f, 0) = i == p.nodes.first ? u : r_max(AT(a->top, f, 0), u);
            AT(a->l, f, 0) += e;
            add_scaled(a->s, f, e, v, i);
        }
    }
}

REF(performer_keys, a->w.cols)
{
    for (int64_t g = 0; g < graph_count(a->graphs); g++)
        for (int64_t h = 0; h < a->heads; h++) {
            struct part p = part_of(a->graphs, a->heads, a->w, g, h);
            struct rows wanted = rows_common(p.features, rows_wanted(a->call, a->s));
            if (rows_any(wanted))
                sum_keys(a, p, wanted);
        }
}

/* Row i of dk and dv, for one head. */
static void keys_row_backward(const struct performer_keys_backward_args *a, struct part p, int64_t i)
{
    int64_t C = a->w.cols;
    struct mat k = mat_cols(a->k, p.column, C), v = mat_cols(a->v, p.column, C);
    struct mat dv = mat_cols(a->dv, p.column, C);
    struct mat z = scratch_row(a->call, 0, C), dz = scratch_row(a->call, C, C);
    real half = scale_row(a->features, z, k, i), sum = R(0);
    for (int64_t c = 0; c < C; c++)
        AT(dz, 0, c) = R(0);
    for (int64_t f = 0; f < a->w.rows; f++) {
        real u = dot(z, 0, a->w, f), e = feature(a->features, u, half);
        real de = dot(v, i, a->ds, p.features.first + f) + AT(a->dl, p.features.first + f, 0);
        real g = feature_backward(a->features, u, e, de);
        add_scaled(dv, i, e, a->ds, p.features.first + f);
        add_scaled(dz, 0, g, a->w, f);
        if (is_exp(a->features))
            sum += g;
    }
    put_gradient(a->features, mat_cols(a->dk, p.column, C), i, dz, z, sum);
}

REF(performer_keys_backward, 2 * a->w.cols)
{
    begin_sums(a->call, a->dv);
    for (int64_t g = 0; g < graph_count(a->graphs); g++)
        for (int64_t h = 0; h < a->heads; h++) {
            struct part p = part_of(a->graphs, a->heads, a->w, g, h);
            struct rows wanted = rows_common(p.nodes, rows_wanted(a->call, a->dk));
            for (int64_t i = wanted.first; i < wanted.end; i++)
                keys_row_backward(a, p, i);
        }
}

/* What queries read of one graph's keys, for one head: a, M x C; b, 1 x M; and c. */
struct keys {
    struct mat a, b;
    real c;
};

/* Where they come from. */
struct sums {
    int features;
    double eps;
    struct mat s, l, top, sum; /* of all heads and graphs */
};

/* Takes the matrices of the keys, and a scratch row of C. */
static void gather_keys(struct keys *keys, const struct sums *from, struct part p, int64_t g,
                        struct mat share)
{
    bool scaled = is_exp(from->features);
    int64_t first = p.features.first;
    double nodes = (double)(p.nodes.end - p.nodes.first);
    real most = AT(from->top, first, 0);
    for (int64_t f = first; f < p.features.end; f++)
        most = r_max(most, AT(from->top, f, 0));
    keys->c = scaled ? r_exp(-most) : R(1);
    for (int64_t c = 0; c < share.cols; c++)
        AT(share, 0, c) = R(from->eps) * AT(from->sum, g, p.column + c);
    for (int64_t f = first; f < p.features.end; f++) {
        real l = AT(from->l, f, 0);
        AT(keys->b, 0, f - first) = (scaled ? keys->c * l : l) + R(from->eps * nodes);
        for (int64_t c = 0; c < share.cols; c++) {
            real s = AT(from->s, f, c);
            AT(keys->a, f - first, c) = (scaled ? keys->c * s : s) + AT(share, 0, c);
        }
    }
}

/* Row i of y, for one head; z and u are scratch. */
static void attend(const struct performer_attention_args *a, const struct keys *keys, struct part p,
                   int64_t i, struct mat z, struct mat u)
{
    int64_t h = p.column / a->w.cols;
    struct mat q = mat_cols(a->q, p.column, a->w.cols), y = mat_cols(a->y, p.column, a->w.cols);
    real half = scale_row(a->features, z, q, i), den = R(0), total = R(0);
    for (int64_t f = 0; f < a->w.rows; f++)
        AT(u, 0, f) = dot(z, 0, a->w, f);
    real peak = AT(u, 0, 0);
    for (int64_t f = 0; f < a->w.rows; f++)
        peak = r_max(peak, AT(u, 0, f));
    real shift = is_exp(a->features) ? half + peak : half;
    for (int64_t c = 0; c < y.cols; c++)
        AT(y, i, c) = R(0);
    for (int64_t f = 0; f < a->w.rows; f++) {
        real phi = feature(a->features, AT(u, 0, f), shift) + R(a->eps);
        den += phi * AT(keys->b, 0, f);
        if (mat_present(a->total))
            total += phi;
        add_scaled(y, i, phi, keys->a, f);
    }
    for (int64_t c = 0; c < y.cols; c++)
        AT(y, i, c) = AT(y, i, c) / den;
    if (mat_present(a->den))
        AT(a->den, i, h) = den;
    if (mat_present(a->peak))
        AT(a->peak, i, h) = peak;
    if (mat_present(a->total))
        AT(a->total, i, h) = total;
}

REF(performer_attention, a->w.rows *(a->w.cols + 2) + 2 * a->w.cols)
{
    int64_t M = a->w.rows, C = a->w.cols;
    struct sums from = {a->features, a->eps, a->s, a->l, a->top, a->sum};
    struct keys keys = {scratch_rows(a->call, 0, M, C), scratch_row(a->call, M * C, M), R(1)};
    struct mat u = scratch_row(a->call, M * (C + 1), M), z = scratch_row(a->call, M * (C + 2), C);
    for (int64_t g = 0; g < graph_count(a->graphs); g++)
        for (int64_t h = 0; h < a->heads; h++) {
            struct part p = part_of(a->graphs, a->heads, a->w, g, h);
            struct rows wanted = rows_common(p.nodes, rows_wanted(a->call, a->y));
            if (!rows_any(wanted))
                continue;
            gather_keys(&keys, &from, p, g, scratch_row(a->call, M * (C + 2) + C, C));
            for (int64_t i = wanted.first; i < wanted.end; i++)
                attend(a, &keys, p, i, z, u);
        }
}

/* What is wanted of one graph and head: rows of dq and of ds, and whether dsum's. */
struct wanted {
    struct rows nodes, features;
    bool sum;
};

/* Scratch rows of C. */
struct query {
    struct mat x, scaled, z, dz; /* scaled: c x */
};

/* The contributions of query i, for one head. */
static void attend_backward(const struct performer_attention_backward_args *a, const struct keys *keys,
                            struct part p, struct wanted wanted, int64_t g, int64_t i, struct query r)
{
    int64_t C = a->w.cols, h = p.column / C;
    bool own = rows_has(wanted.nodes, i), exponential = is_exp(a->features);
    struct mat y = mat_cols(a->y, p.column, C), dy = mat_cols(a->dy, p.column, C);
    real den = AT(a->den, i, h), down = -(dot(dy, i, y, i) / den), sum = R(0);
    for (int64_t c = 0; c < C; c++) {
        AT(r.x, 0, c) = AT(dy, i, c) / den;
        AT(r.scaled, 0, c) = exponential ? keys->c * AT(r.x, 0, c) : AT(r.x, 0, c);
        AT(r.dz, 0, c) = R(0);
    }
    if (wanted.sum)
        add_scaled(mat_cols(a->dsum, p.column, C), g, R(a->eps) * AT(a->total, i, h), r.x, 0);
    real half = scale_row(a->features, r.z, mat_cols(a->q, p.column, C), i);
    real shift = exponential ? half + AT(a->peak, i, h) : half;
    real scaled_down = exponential ? keys->c * down : down;
    struct rows features = own ? p.features : wanted.features;
    for (int64_t f = features.first; f < features.end; f++) {
        int64_t row = f - p.features.first;
        real u = dot(r.z, 0, a->w, row), e = feature(a->features, u, shift);
        if (rows_has(wanted.features, f)) {
            real phi = e + R(a->eps);
            add_scaled(a->ds, f, phi, r.scaled, 0);
            AT(a->dl, f, 0) += phi * scaled_down;
        }
        if (own) {
            real de = dot(r.x, 0, keys->a, row) + down * AT(keys->b, 0, row);
            real du = feature_backward(a->features, u, e, de);
            add_scaled(r.dz, 0, du, a->w, row);
            if (exponential)
                sum += du;
        }
    }
    if (own)
        put_gradient(a->features, mat_cols(a->dq, p.column, C), i, r.dz, r.z, sum);
}

REF(performer_attention_backward, a->w.rows *(a->w.cols + 1) + 5 * a->w.cols)
{
    int64_t M = a->w.rows, C = a->w.cols, after = M * (C + 1);
    struct sums from = {a->features, a->eps, a->s, a->l, a->top, a->sum};
    struct keys keys = {scratch_rows(a->call, 0, M, C), scratch_row(a->call, M * C, M), R(1)};
    struct query r = {scratch_row(a->call, after, C), scratch_row(a->call, after + C, C),
                      scratch_row(a->call, after + 2 * C, C), scratch_row(a->call, after + 3 * C, C)};
    begin_sums(a->call, a->ds);
    begin_sums(a->call, a->dl);
    begin_sums(a->call, a->dsum);
    for (int64_t g = 0; g < graph_count(a->graphs); g++)
        for (int64_t h = 0; h < a->heads; h++) {
            struct part p = part_of(a->graphs, a->heads, a->w, g, h);
            struct wanted wanted = {rows_common(p.nodes, rows_wanted(a->call, a->dq)),
                                    rows_common(p.features, rows_wanted(a->call, a->ds)),
                                    rows_has(rows_wanted(a->call, a->dsum), g)};
            struct rows rows = rows_any(wanted.features) || wanted.sum ? p.nodes : wanted.nodes;
            if (!rows_any(rows))
                continue;
            gather_keys(&keys, &from, p, g, scratch_row(a->call, after + 4 * C, C));
            for (int64_t i = rows.first; i < rows.end; i++)
                attend_backward(a, &keys, p, wanted, g, i, r);
        }
}
