/*
 * Products of rows by heads; see edge_heads.h.
 *
 * A pass over edges processes up to WIDE vectors of every row at a time, whole heads or a part of one, so
 * that the node's own row (or its accumulators) stays in registers. Horizontal sums are deferred: the
 * products of an edge and a head are stored as a vector, and LANES such vectors are then reduced together.
 */
#include "kernels/cpu/edge_heads.h"
#include "kernels/cpu/sum_lanes.h"

#include <string.h>

enum { WIDE = 8 };

/* The largest power of two up to n. */
static int64_t power_of_two(int64_t n)
{
    return (int64_t)1 << (63 - __builtin_clzll((unsigned long long)n));
}

struct edge_heads edge_heads_of(int64_t d, int64_t heads)
{
    enum { UNITS = 256, EDGES = 64 };
    struct edge_heads s = {.d = d, .dh = d / heads, .heads = heads};
    s.per = blocks_of(s.dh, LANES);
    s.together = s.per <= WIDE && s.per == power_of_two(s.per) ? WIDE / s.per : 0;
    s.most = max_of(2, min_of(EDGES, UNITS / heads));
    s.units = round_up(s.most * heads, LANES) + LANES;
    return s;
}

void edge_find_columns(struct edge_heads *s, float *scratch)
{
    s->columns = (int64_t *)(void *)scratch;
    for (int64_t h = 0; h < s->heads && scratch; h++)
        for (int64_t j = 0; j < s->per; j++)
            s->columns[h * s->per + j] = max_of(0, min_of(h * s->dh + j * LANES, s->d - LANES));
}

const float *edge_spread(const struct edge_heads *s, const float *row, float *copy)
{
    if (s->dh % LANES == 0)
        return row;
    float *to = copy;
    for (int64_t h = 0; h < s->heads; h++)
        for (int64_t j = 0; j < s->per; j++, to += LANES) {
            int64_t first = h * s->dh + j * LANES, at = s->columns[h * s->per + j];
            store(to, (vec){0});
            for (int64_t c = first; c < min_of(first + LANES, (h + 1) * s->dh); c++)
                to[c - at] = row[c];
        }
    return copy;
}

void edge_collect(const struct edge_heads *s, const float *spread, float *row, bool acc)
{
    for (int64_t k = 0; k < s->d && s->dh % LANES == 0; k += LANES) {
        vec sum = load(spread + k);
        if (acc)
            sum += load(row + k);
        store(row + k, sum);
    }
    for (int64_t h = 0; h < s->heads && s->dh % LANES != 0; h++)
        for (int64_t j = 0; j < s->per; j++, spread += LANES) {
            int64_t first = h * s->dh + j * LANES, at = s->columns[h * s->per + j];
            for (int64_t c = first; c < min_of(first + LANES, (h + 1) * s->dh); c++)
                row[c] = (acc ? row[c] : 0) + spread[c - at];
        }
}

struct edge_rows edge_copy(const struct edge_heads *s, struct edge_rows rows, int64_t n, float *copies)
{
    int32_t *number = (int32_t *)(void *)(copies + s->most * LANES);
    for (int64_t e = 0; e < n; e++) {
        float *copy = copies + e * LANES;
        memset(copy, 0, LANES * sizeof *copy);
        memcpy(copy, rows.at + rows.col[e] * rows.ld, (size_t)s->d * sizeof *copy);
        number[e] = (int32_t)e;
    }
    return (struct edge_rows){copies, LANES, number, n - 1};
}

/* Arguments shared by all passes of a call. */
struct sweeps {
    const struct edge_heads *s;
    const struct edge_nodes *nodes;
    struct edge_rows rows;
    struct edge_own own;
    struct edge_target sums;
    const float *weights, *att; /* att: a spread row */
    float *values, *products;   /* a spread row; a vector per edge and head */
    float slope;
    bool ahead; /* prefetch rows */
};

/* One pass: `heads` whole heads starting at `head`, or `vectors` vectors of one, starting at `first`. */
struct part {
    int64_t head, first, heads, vectors;
};

/* The columns of a part's vectors, from `first` on; `whole`: in order, at constant distances. */
struct columns {
    int64_t first;
    const int64_t *each;
    bool whole;
};

static inline struct columns columns_of(const struct edge_heads *s, int64_t number, bool whole)
{
    return (struct columns){whole ? number * LANES : 0, s->columns + number, whole};
}

INLINE int64_t column(struct columns at, int u)
{
    return at.whole ? u * LANES : at.each[u];
}

/* Row e from a part's first column on. */
INLINE const float *row_at(struct edge_rows r, int64_t e, struct columns at)
{
    return r.at + at.first + r.col[e] * r.ld;
}

/* Prefetches `count` vectors of a row after row e; most kernels read rows of two matrices. */
INLINE void fetch(struct edge_rows r, int64_t e, int count, struct columns at)
{
    enum { STEP = EDGE_LINE > LANES ? EDGE_LINE / LANES : 1 };
    int64_t ahead = min_of(EDGE_AHEAD, edges_ahead(2 * count * LANES));
    const float *row = row_at(r, min_of(e + ahead, r.last), at);
    UNROLL
    for (int u = 0; u < count; u += STEP)
        __builtin_prefetch(row + column(at, u));
}

/* `heads` and `vectors` are p's, as compile-time constants. */
INLINE void multiply(const struct sweeps *w, const struct part *p, int heads, int vectors, bool whole)
{
    const struct edge_rows r = w->rows;
    const bool ahead = w->ahead, more = heads == 1 && p->first > 0;
    int64_t stride = w->s->heads * LANES, number = p->head * w->s->per + p->first;
    struct columns at = columns_of(w->s, number, whole);
    float *to = w->products + p->head * LANES;
    const float *from = w->own.at + number * LANES;
    for (int64_t k = 0, e = 0; k < w->nodes->count; k++, from += w->own.ld) {
        vec own[WIDE];
        UNROLL
        for (int u = 0; u < heads * vectors; u++)
            own[u] = load(from + u * LANES);
        for (int64_t end = w->nodes->begins[k + 1]; e < end; e++, to += stride) {
            const float *row = row_at(r, e, at);
            if (ahead)
                fetch(r, e, heads * vectors, at);
            UNROLL
            for (int g = 0; g < heads; g++) {
                vec sum = own[g * vectors] * load(row + column(at, g * vectors));
                UNROLL
                for (int v = 1; v < vectors; v++)
                    sum += own[g * vectors + v] * load(row + column(at, g * vectors + v));
                if (more)
                    sum += load(to);
                store(to + g * LANES, sum);
            }
        }
    }
}

/* The first `count` of a node's sums, before its edges. */
INLINE void begin_sums(int count, bool add, const float *to, vec sum[WIDE])
{
    UNROLL
    for (int u = 0; u < count; u++)
        sum[u] = add ? load(to + u * LANES) : (vec){0};
}

INLINE void weigh(const struct sweeps *w, const struct part *p, int heads, int vectors, bool whole)
{
    const struct edge_rows r = w->rows;
    const bool ahead = w->ahead;
    int64_t stride = w->s->heads, number = p->head * w->s->per + p->first;
    struct columns at = columns_of(w->s, number, whole);
    const float *weight = w->weights + p->head, *factors = w->sums.factors;
    float *to = w->sums.at + number * LANES;
    for (int64_t k = 0, e = 0; k < w->nodes->count; k++, to += w->sums.ld) {
        vec sum[WIDE];
        begin_sums(heads * vectors, w->sums.add, to, sum);
        for (int64_t end = w->nodes->begins[k + 1]; e < end; e++, weight += stride) {
            const float *row = row_at(r, e, at);
            if (ahead)
                fetch(r, e, heads * vectors, at);
            UNROLL
            for (int u = 0; u < heads * vectors; u++)
                sum[u] += weight[u / vectors] * load(row + column(at, u));
        }
        if (factors) {
            const float *factor = factors + k * w->sums.padded + p->head;
            UNROLL
            for (int u = 0; u < heads * vectors; u++)
                sum[u] *= factor[u / vectors];
        }
        UNROLL
        for (int u = 0; u < heads * vectors; u++)
            store(to + u * LANES, sum[u]);
    }
}

/* `high` where z is positive, otherwise `low`. */
INLINE vec choose(vec z, vec high, vec low)
{
    vm_ints positive = z > 0;
    return (vec)(((vm_ints)high & positive) | ((vm_ints)low & ~positive));
}

INLINE void leaky_multiply(const struct sweeps *w, const struct part *p, int heads, int vectors, bool whole)
{
    const struct edge_rows r = w->rows;
    const bool more = heads == 1 && p->first > 0;
    int64_t stride = w->s->heads * LANES, number = p->head * w->s->per + p->first;
    struct columns at = columns_of(w->s, number, whole);
    float *to = w->products + p->head * LANES, slope = w->slope;
    const float *from = w->own.at + number * LANES, *att = w->att + number * LANES;
    for (int64_t k = 0, e = 0; k < w->nodes->count; k++, from += w->own.ld) {
        vec own[WIDE];
        UNROLL
        for (int u = 0; u < heads * vectors; u++)
            own[u] = load(from + u * LANES);
        for (int64_t end = w->nodes->begins[k + 1]; e < end; e++, to += stride) {
            const float *row = row_at(r, e, at);
            fetch(r, e, heads * vectors, at);
            UNROLL
            for (int g = 0; g < heads; g++) {
                vec sum = {0};
                UNROLL
                for (int u = g * vectors; u < (g + 1) * vectors; u++) {
                    vec z = own[u] + load(row + column(at, u));
                    sum += choose(z, z, slope * z) * load(att + u * LANES);
                }
                if (more)
                    sum += load(to);
                store(to + g * LANES, sum);
            }
        }
    }
}

INLINE void leaky_weigh(const struct sweeps *w, const struct part *p, int heads, int vectors, bool whole)
{
    const struct edge_rows r = w->rows;
    int64_t stride = w->s->heads, number = p->head * w->s->per + p->first;
    struct columns at = columns_of(w->s, number, whole);
    const float *weight = w->weights + p->head, *own = w->own.at + number * LANES;
    float *to = w->sums.at + number * LANES, *values_to = w->values + number * LANES, slope = w->slope;
    vec values[WIDE];
    UNROLL
    for (int u = 0; u < heads * vectors; u++)
        values[u] = load(values_to + u * LANES);
    for (int64_t k = 0, e = 0; k < w->nodes->count; k++, to += w->sums.ld, own += w->own.ld) {
        vec sum[WIDE];
        begin_sums(heads * vectors, w->sums.add, to, sum);
        for (int64_t end = w->nodes->begins[k + 1]; e < end; e++, weight += stride) {
            const float *row = row_at(r, e, at);
            UNROLL
            for (int u = 0; u < heads * vectors; u++) {
                vec z = load(own + u * LANES) + load(row + column(at, u));
                vec high = (vec){0} + weight[u / vectors], share = choose(z, high, slope * high);
                sum[u] += share;
                values[u] += share * z;
            }
        }
        UNROLL
        for (int u = 0; u < heads * vectors; u++)
            store(to + u * LANES, sum[u]);
    }
    UNROLL
    for (int u = 0; u < heads * vectors; u++)
        store(values_to + u * LANES, values[u]);
}

/* Dispatches to the shapes of parts that sweep_all produces. */
#define SHAPE(pass, heads, vectors)                                                                          \
    case heads * 16 + vectors:                                                                               \
        if (w->s->dh % LANES == 0)                                                                           \
            pass(w, p, heads, vectors, true);                                                                \
        else                                                                                                 \
            pass(w, p, heads, vectors, false);                                                               \
        break;
#define OF_PARTS(pass)                                                                                       \
    static void pass##_part(const struct sweeps *w, const struct part *p)                                    \
    {                                                                                                        \
        switch (p->heads * 16 + p->vectors) {                                                                \
            SHAPE(pass, 1, 1)                                                                                \
            SHAPE(pass, 4, 1)                                                                                \
            SHAPE(pass, 8, 1)                                                                                \
            SHAPE(pass, 1, 2)                                                                                \
            SHAPE(pass, 4, 2)                                                                                \
            SHAPE(pass, 1, 4)                                                                                \
            SHAPE(pass, 2, 4)                                                                                \
            SHAPE(pass, 1, 8)                                                                                \
        }                                                                                                    \
    }

OF_PARTS(multiply)
OF_PARTS(weigh)
OF_PARTS(leaky_multiply)
OF_PARTS(leaky_weigh)

static void sweep_all(const struct sweeps *w, void (*pass)(const struct sweeps *w, const struct part *p))
{
    const struct edge_heads *s = w->s;
    struct part p;
    for (p.head = 0; p.head < s->heads; p.head += p.heads) {
        int64_t left = s->heads - p.head;
        p.heads = s->together && left >= s->together ? s->together : s->per == 1 && left >= 4 ? 4 : 1;
        for (p.first = 0; p.first < s->per; p.first += p.vectors) {
            p.vectors = s->together ? s->per : power_of_two(min_of(WIDE, s->per - p.first));
            pass(w, &p);
        }
    }
}

/* Of all edges and heads. */
static void sum_products(const struct sweeps *w, float *dots)
{
    for (int64_t u = 0, n = w->nodes->begins[w->nodes->count] * w->s->heads; u < n; u += LANES)
        sum_lanes(w->products + u * LANES, dots + u);
}

void edge_dots(const struct edge_heads *s, const struct edge_nodes *nodes, struct edge_own own,
               const struct edge_rows *rows, bool ahead, float *products, float *dots)
{
    struct sweeps w = {
        .s = s, .nodes = nodes, .rows = *rows, .own = own, .products = products, .ahead = ahead};
    sweep_all(&w, multiply_part);
    sum_products(&w, dots);
}

void edge_weigh(const struct edge_heads *s, const struct edge_nodes *nodes, const float *weights,
                const struct edge_rows *rows, bool ahead, struct edge_target sums)
{
    struct sweeps w = {
        .s = s, .nodes = nodes, .rows = *rows, .weights = weights, .sums = sums, .ahead = ahead};
    sweep_all(&w, weigh_part);
}

void edge_leaky_dots(const struct edge_heads *s, const struct edge_nodes *nodes, struct edge_leaky l,
                     const struct edge_rows *rows, float *products, float *dots)
{
    struct sweeps w = {.s = s, .nodes = nodes, .rows = *rows, .own = l.own, .products = products};
    w.att = l.att;
    w.slope = l.slope;
    sweep_all(&w, leaky_multiply_part);
    sum_products(&w, dots);
}

void edge_leaky_weigh(const struct edge_heads *s, const struct edge_nodes *nodes, struct edge_leaky l,
                      const float *weights, const struct edge_rows *rows, struct edge_target slopes,
                      float *values)
{
    struct sweeps w = {
        .s = s, .nodes = nodes, .rows = *rows, .weights = weights, .own = l.own, .sums = slopes};
    w.values = values;
    w.slope = l.slope;
    sweep_all(&w, leaky_weigh_part);
}
