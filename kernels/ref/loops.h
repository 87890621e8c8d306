/*
 * Macros and helpers for the loops of ref/: the opening of a kernel, the requested rows, and elements.
 *
 * With the counting type no operand's memory is accessed, so that shapes alone can be counted; only the
 * offsets of graphs and the edges are read, because they determine the amount of work.
 */
#ifndef GTMARK_KERNELS_REF_LOOPS_H
#define GTMARK_KERNELS_REF_LOOPS_H

#include "kernels/ops.h"
#include "kernels/ref/real.h"
#include "kernels/ref/ref.h"

#define REF_PASTE(op, type, suffix)  ref_##op##_##type##suffix
#define REF_EXPAND(op, type, suffix) REF_PASTE(op, type, suffix)
#define REF_NAME(op, suffix)         REF_EXPAND(op, REF_TYPE, suffix)

/* Opens the kernel of an op with arguments `a`; scratch_reals may depend on them. */
#define REF(op, scratch_reals)                                                                               \
    static void op##_loops(const struct op##_args *a);                                                       \
    void REF_NAME(op, )(const void *args)                                                                    \
    {                                                                                                        \
        op##_loops((const struct op##_args *)args);                                                          \
    }                                                                                                        \
    int64_t REF_NAME(op, _scratch)(const void *args)                                                         \
    {                                                                                                        \
        const struct op##_args *a = (const struct op##_args *)args;                                          \
        (void)a;                                                                                             \
        return (scratch_reals) * (int64_t)sizeof(real);                                                      \
    }                                                                                                        \
    static void op##_loops(const struct op##_args *a)

/* Rows first .. end - 1; empty if end <= first. */
struct rows {
    int64_t first, end;
};

static inline struct rows rows_common(struct rows r, struct rows s)
{
    struct rows common = {r.first > s.first ? r.first : s.first, r.end < s.end ? r.end : s.end};
    return common;
}

static inline bool rows_any(struct rows r)
{
    return r.first < r.end;
}

static inline bool rows_has(struct rows r, int64_t i)
{
    return r.first <= i && i < r.end;
}

/* The rows of an output to compute; none if it is absent. */
static inline struct rows rows_wanted(struct call call, struct mat out)
{
    struct rows all = {0, out.rows}, asked = {call.row0, call.row1};
    return call.row1 ? rows_common(all, asked) : all;
}

static inline int64_t graph_count(struct offsets o)
{
    return o.at.rows - 1;
}

static inline struct rows graph_rows(struct offsets o, int64_t g)
{
    const int64_t *at = (const int64_t *)o.at.data;
    struct rows rows = {at[g * o.at.ld], at[(g + 1) * o.at.ld]};
    return rows;
}

/* The positions in col of row i's edges. */
static inline struct rows edges_of(struct mat row, int64_t i)
{
    const int64_t *at = (const int64_t *)row.data;
    struct rows edges = {at[i * row.ld], at[(i + 1) * row.ld]};
    return edges;
}

/* The other end of edge e. */
static inline int64_t edge_end(struct mat col, int64_t e)
{
    return ((const int32_t *)col.data)[e * col.ld];
}

#ifdef REF_COUNT

static inline real *real_at(struct mat, int64_t, int64_t)
{
    static real nothing;
    return &nothing;
}

static inline double *double_at(struct mat, int64_t)
{
    static double one;
    one = 1;
    return &one;
}

static inline real bf16_at(struct mat m, int64_t i, int64_t k)
{
    return *real_at(m, i, k);
}

static inline void put_double(struct mat, int64_t, int64_t, real)
{
}

static inline void put_sum(struct mat, int64_t, int64_t, real a, real b)
{
    a + b;
}

static inline real less_double(real x, double)
{
    return x - x;
}

static inline int64_t *index_at(struct mat, int64_t, int64_t)
{
    static int64_t nothing;
    return &nothing;
}

static inline struct mat scratch_rows(struct call, int64_t, int64_t rows, int64_t cols)
{
    struct mat m = mat();
    m.rows = rows;
    m.cols = m.ld = cols;
    return m;
}

#else

static inline real *real_at(struct mat m, int64_t i, int64_t k)
{
    return (real *)m.data + i * m.ld + k;
}

/* Entry k of a 1-row matrix that is double regardless of `real`. */
static inline double *double_at(struct mat m, int64_t k)
{
    return (double *)m.data + k;
}

static inline real bf16_at(struct mat m, int64_t i, int64_t k)
{
    return (real)float_of_bf16(((const uint16_t *)m.data)[i * m.ld + k]);
}

/* Sets entry (i, k) of a matrix that is double regardless of `real`. */
static inline void put_double(struct mat m, int64_t i, int64_t k, real value)
{
    ((double *)m.data)[i * m.ld + k] = value;
}

/* The same with a + b, and x - y: neither a + b nor y is rounded to `real`. */
static inline void put_sum(struct mat m, int64_t i, int64_t k, real a, real b)
{
    ((double *)m.data)[i * m.ld + k] = (double)a + (double)b;
}

static inline real less_double(real x, double y)
{
    return (real)((double)x - y);
}

/* Element (i, k) of an integer matrix. */
static inline int64_t *index_at(struct mat m, int64_t i, int64_t k)
{
    return (int64_t *)m.data + i * m.ld + k;
}

/* A rows x cols matrix in scratch, after `before` reals; of no rows without scratch. */
static inline struct mat scratch_rows(struct call call, int64_t before, int64_t rows, int64_t cols)
{
    real *data = call.scratch ? (real *)call.scratch + before : NULL;
    struct mat m = {.data = data, .rows = rows, .cols = cols, .ld = cols};
    return m;
}

#endif

/* The same with one row. */
static inline struct mat scratch_row(struct call call, int64_t before, int64_t cols)
{
    return scratch_rows(call, before, 1, cols);
}

/* Of row i in a head, which is double regardless of `real`. */
static inline const double *lse_at(struct mat lse, int64_t i, int64_t head)
{
    return double_at(lse, i * lse.ld + head);
}

/* Element (i, k) of m, as an lvalue. */
#define AT(m, i, k) (*real_at((m), (i), (k)))

/* m_ik = value, or m_ik += value if m is accumulated. */
static inline void put(struct mat m, int64_t i, int64_t k, real value)
{
    if (m.acc)
        AT(m, i, k) += value;
    else
        AT(m, i, k) = value;
}

/* Sets rows to zero that nothing is added to. */
static inline void clear_rows(struct mat m, struct rows rows)
{
    for (int64_t i = rows.first; i < rows.end && !m.acc; i++)
        for (int64_t k = 0; k < m.cols; k++)
            AT(m, i, k) = R(0);
}

/* Initialises the sums in the requested rows of m: to zero unless m is accumulated. */
static inline void begin_sums(struct call call, struct mat m)
{
    clear_rows(m, rows_wanted(call, m));
}

/* Of those wanted, the rows after the last graph. */
static inline struct rows rows_of_none(struct offsets graphs, struct rows wanted)
{
    struct rows last = graph_rows(graphs, graph_count(graphs) - 1), rest = {last.end, wanted.end};
    return rows_common(rest, wanted);
}

/* x_i . y_j */
static inline real dot(struct mat x, int64_t i, struct mat y, int64_t j)
{
    real sum = R(0);
    for (int64_t k = 0; k < x.cols; k++)
        sum += AT(x, i, k) * AT(y, j, k);
    return sum;
}

/* y_i += s x_j */
static inline void add_scaled(struct mat y, int64_t i, real s, struct mat x, int64_t j)
{
    for (int64_t k = 0; k < y.cols; k++)
        AT(y, i, k) += s * AT(x, j, k);
}

#endif
