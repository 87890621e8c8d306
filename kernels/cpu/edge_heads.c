/*
 * Products of rows by heads; see edge_heads.h.
 *
 * A sum over edges processes up to WIDE vectors of every row at a time, whole heads or a part of one, so that
 * the node's accumulators stay in registers. Products process four heads, or one, of as many edges as there
 * are lanes for, without regard to where rows begin, because the end of a short loop over one row's edges is
 * mispredicted. Their lanes are then summed together.
 */
#include "kernels/cpu/edge_heads.h"
#include "kernels/cpu/sum_lanes.h"

#include <string.h>

enum { WIDE = 8 };

/* Compiled for each shape of a part; with sanitizers that takes clang half a minute: once for all. */
#ifdef ROLLED /* by the Makefile */
#define PASS static __attribute__((noinline))
#else
#define PASS INLINE
#endif

/* The largest power of two up to n. */
static int64_t power_of_two(int64_t n)
{
    return (int64_t)1 << (63 - __builtin_clzll((unsigned long long)n));
}

struct edge_heads edge_heads_of(int64_t d, int64_t heads)
{
    enum { UNITS = 1024 };
    struct edge_heads s = {.d = d, .dh = d / heads, .heads = heads};
    s.per = blocks_of(s.dh, LANES);
    s.together = s.per <= WIDE && s.per == power_of_two(s.per) ? WIDE / s.per : 0;
    s.most = max_of(2, min_of(EDGE_MOST, UNITS / heads));
    s.units = round_up((s.most + LANES) * heads, LANES);
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
    float *values, *dots;       /* a spread row; a number per edge and head */
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

/* Prefetches `count` vectors of a row after row e. */
INLINE void fetch(struct edge_rows r, int64_t e, int count, struct columns at)
{
    enum { STEP = EDGE_LINE > LANES ? EDGE_LINE / LANES : 1 };
    int64_t ahead = min_of(EDGE_AHEAD, edges_ahead(count * LANES));
    const float *row = row_at(r, min_of(e + ahead, r.last), at);
    UNROLL
    for (int u = 0; u < count; u += STEP)
        __builtin_prefetch(row + column(at, u));
}

/* The first `count` of a node's sums, before its edges. */
INLINE void begin_sums(int count, bool add, const float *to, vec sum[WIDE])
{
    UNROLL
    for (int u = 0; u < count; u++)
        sum[u] = add ? load(to + u * LANES) : (vec){0};
}

/* `heads` and `vectors` are p's, as compile-time constants. */
PASS void weigh(const struct sweeps *w, const struct part *p, int heads, int vectors, bool whole)
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

PASS void leaky_weigh(const struct sweeps *w, const struct part *p, int heads, int vectors, bool whole)
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

OF_PARTS(weigh)
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

/* The product of an edge's rows in the head that begins with vector u, before its lanes are added. */
INLINE vec head_product(const struct sweeps *w, const float *own, const float *row, struct columns at,
                        const float *att, int u, int vectors, bool leaky)
{
    vec sum = {0};
    for (int end = u + (vectors ? vectors : (int)w->s->per); u < end; u++) {
        vec mine = load(own + u * LANES), other = load(row + column(at, u)), z = mine + other;
        sum += leaky ? choose(z, z, w->slope * z) * load(att + u * LANES) : mine * other;
    }
    return sum;
}

/* Stores the products of LANES / heads edges from e on, in heads from `head` on. */
INLINE void put_dots(const struct sweeps *w, int64_t head, int64_t e, int heads, vec products)
{
    float each[LANES], *to = w->dots + e * w->s->heads + head;
    if (heads == w->s->heads) {
        store(to, products);
        return;
    }
    store(each, products);
    for (int k = 0; k < LANES; k += heads, to += w->s->heads)
        for (int h = 0; h < heads; h++)
            to[h] = each[k + h];
}

/*
 * Products in `heads` heads from `head` on, of `vectors` vectors each, or as many as there are if 0. Where
 * edges are missing, the last is taken again.
 */
PASS void dots(const struct sweeps *w, int64_t head, int heads, int vectors, bool whole, bool leaky)
{
    const struct edge_rows r = w->rows;
    const int per = vectors ? vectors : (int)w->s->per;
    const int64_t number = head * per, n = w->nodes->begins[w->nodes->count];
    const float *own = w->own.at + number * LANES, *att = leaky ? w->att + number * LANES : NULL;
    struct columns at = columns_of(w->s, number, whole);
    for (int64_t e = 0; e < n; e += LANES / heads) {
        vec product[LANES];
        UNROLL
        for (int k = 0; k < LANES / heads; k++) {
            int64_t edge = min_of(e + k, n - 1);
            const float *mine = own + w->nodes->rows[edge] * w->own.ld, *row = row_at(r, edge, at);
            if (w->ahead)
                fetch(r, edge, heads * per, at);
            UNROLL
            for (int h = 0; h < heads; h++)
                product[k * heads + h] = head_product(w, mine, row, at, att, h * per, vectors, leaky);
        }
        put_dots(w, head, e, heads, sum_lanes(product));
    }
}

/* Dispatches to the shapes that sweep_heads produces. */
#define DOTS(heads, vectors)                                                                                 \
    case heads * 16 + vectors:                                                                               \
        if (w->s->dh % LANES == 0)                                                                           \
            dots(w, head, heads, vectors, true, leaky);                                                      \
        else                                                                                                 \
            dots(w, head, heads, vectors, false, leaky);                                                     \
        break;

INLINE void sweep_heads(const struct sweeps *w, bool leaky)
{
    int per = (int)w->s->per;
    for (int64_t head = 0, heads; head < w->s->heads; head += heads) {
        heads = w->s->heads - head >= 4 ? 4 : 1;
        switch (heads * 16 + (per == 1 || per == 2 || per == 4 ? per : 0)) {
            DOTS(1, 1)
            DOTS(1, 2)
            DOTS(1, 4)
            DOTS(1, 0)
            DOTS(4, 1)
            DOTS(4, 2)
            DOTS(4, 4)
            DOTS(4, 0)
        }
    }
}

void edge_dots(const struct edge_heads *s, const struct edge_nodes *nodes, struct edge_own own,
               const struct edge_rows *rows, bool ahead, float *to)
{
    struct sweeps w = {.s = s, .nodes = nodes, .rows = *rows, .own = own, .dots = to, .ahead = ahead};
    sweep_heads(&w, false);
}

void edge_leaky_dots(const struct edge_heads *s, const struct edge_nodes *nodes, struct edge_leaky l,
                     const struct edge_rows *rows, float *to)
{
    struct sweeps w = {.s = s, .nodes = nodes, .rows = *rows, .own = l.own, .dots = to, .ahead = true};
    w.att = l.att;
    w.slope = l.slope;
    sweep_heads(&w, true);
}

void edge_weigh(const struct edge_heads *s, const struct edge_nodes *nodes, const float *weights,
                const struct edge_rows *rows, bool ahead, struct edge_target sums)
{
    struct sweeps w = {
        .s = s, .nodes = nodes, .rows = *rows, .weights = weights, .sums = sums, .ahead = ahead};
    sweep_all(&w, weigh_part);
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
