/*
 * struct mat: a view of a row-major matrix, passed by value.
 *
 * Element (i, k) is at data + i * ld + k (in elements of dtype). A view names its storage, so that a tape can
 * record it before memory is allocated and set `data` later; views that were never on a tape have storage 0.
 * An absent matrix (an operand left out) is all zeros. Column ranges of a matrix are matrices: the query, key
 * and value of an attention are three ranges of one projection.
 */
#ifndef GTMARK_KERNELS_MAT_H
#define GTMARK_KERNELS_MAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum dtype { DTYPE_NONE, F32, F64, I32, I64, BF16, DTYPES };

/*
 * Arithmetic of kernels, for rows of backends: the type of operands, and the significant bits of operands in
 * products. TF32 has the range of F32 and 11 bits, BF16 the same and 8: it is the upper half of an F32.
 */
#define TYPE_f64  F64, 53
#define TYPE_f32  F32, 24
#define TYPE_tf32 F32, 11
#define TYPE_tf64 F64, 11 /* what is computed in TF32, in double */
#define TYPE_bf16 BF16, 8

/* The largest relative error of rounding to BF16. */
#define BF16_ROUNDING 0x1p-8

static inline size_t dtype_size(enum dtype d)
{
    return d == F32 || d == I32 ? 4 : d == F64 || d == I64 ? 8 : d == BF16 ? 2 : 0;
}

static inline const char *dtype_name(enum dtype d)
{
    static const char *const names[] = {"none", "f32", "f64", "i32", "i64", "bf16"};
    return names[d];
}

static inline bool dtype_is_real(enum dtype d)
{
    return d == F32 || d == F64 || d == BF16;
}

static inline bool dtype_is_whole(enum dtype d)
{
    return d == I32 || d == I64;
}

struct mat {
    void *data;         /* element (0, 0); null until memory is allocated */
    int64_t rows, cols; /* extent in elements */
    int64_t ld;         /* elements between the starts of rows, at least cols */
    int64_t offset;     /* bytes from the start of the storage to data */
    int32_t storage;    /* index of the tape's storage; 0: none */
    enum dtype dtype;   /* of every element */
    bool acc;           /* as an output: accumulate instead of overwriting */
};

static inline bool mat_present(struct mat m)
{
    return m.rows > 0;
}

static inline int64_t mat_size(struct mat m)
{
    return m.rows * m.cols;
}

static inline int64_t mat_bytes(struct mat m)
{
    return mat_size(m) * (int64_t)dtype_size(m.dtype);
}

static inline float float_of_bf16(uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The nearest, of two equally near ones the even one; a NaN stays a NaN. */
static inline uint16_t bf16_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* The same of a double: the last bit of a float that is inexact is set, so that no half is taken for exact.
 */
static inline uint16_t bf16_of_double(double x)
{
    float near = (float)x;
    uint32_t bits;
    memcpy(&bits, &near, sizeof bits);
    bool above = near > 0 ? (double)near > x : near < 0 && (double)near < x;
    if ((double)near != x && x == x && !(bits & 1))
        bits += above ? UINT32_MAX : 1;
    memcpy(&near, &bits, sizeof near);
    return bf16_of_float(near);
}

/* x with this many significant bits: the nearest, of two equally near ones the even one; a NaN stays one. */
static inline double with_bits(double x, int bits)
{
    uint64_t word, unit = UINT64_C(1) << (53 - bits);
    memcpy(&word, &x, sizeof word);
    if (x - x == 0)
        word = (word + unit / 2 - 1 + (word / unit & 1)) & ~(unit - 1);
    memcpy(&x, &word, sizeof x);
    return x;
}

/* Element (i, k) of m, of any dtype, as double; m's data must be in host memory. */
static inline double mat_get(struct mat m, int64_t i, int64_t k)
{
    int64_t at = i * m.ld + k;
    return m.dtype == F32    ? ((const float *)m.data)[at]
           : m.dtype == F64  ? ((const double *)m.data)[at]
           : m.dtype == I32  ? ((const int32_t *)m.data)[at]
           : m.dtype == BF16 ? (double)float_of_bf16(((const uint16_t *)m.data)[at])
                             : (double)((const int64_t *)m.data)[at];
}

/* Sets element (i, k) of m to value, rounded. */
static inline void mat_set(struct mat m, int64_t i, int64_t k, double value)
{
    int64_t at = i * m.ld + k;
    if (m.dtype == F32)
        ((float *)m.data)[at] = (float)value;
    else if (m.dtype == F64)
        ((double *)m.data)[at] = value;
    else if (m.dtype == I32)
        ((int32_t *)m.data)[at] = (int32_t)value;
    else if (m.dtype == BF16)
        ((uint16_t *)m.data)[at] = bf16_of_double(value);
    else
        ((int64_t *)m.data)[at] = (int64_t)value;
}

/* Columns first .. first + cols - 1 of m: the same rows and storage. */
static inline struct mat mat_cols(struct mat m, int64_t first, int64_t cols)
{
    int64_t bytes = first * (int64_t)dtype_size(m.dtype);
    m.cols = cols;
    m.offset += bytes;
    if (m.data)
        m.data = (char *)m.data + bytes;
    return m;
}

/* Rows first .. first + rows - 1 of m: the same columns and storage. */
static inline struct mat mat_rows(struct mat m, int64_t first, int64_t rows)
{
    int64_t bytes = first * m.ld * (int64_t)dtype_size(m.dtype);
    m.rows = rows;
    m.offset += bytes;
    if (m.data)
        m.data = (char *)m.data + bytes;
    return m;
}

/*
 * The rows of each graph of a batch: graph g has rows at[g] .. at[g + 1] - 1, at least one; for sums over
 * rows (sum_pool) it may have none, and its sum is zero, and so may a part of a batch in attention, norms and
 * max_pool. `pairs` is the sum of the squared sizes: the number of node pairs in dense attention. Where
 * queries and keys are different rows (attention+fold), both bounds have the sum of the products of their
 * sizes.
 */
struct offsets {
    struct mat at; /* (graphs + 1) x 1, I64 */
    int64_t pairs;
};

/*
 * The directed edges of a batch of N nodes as compressed sparse rows, by receiver and by sender. Node i
 * receives from col[row[i]] .. col[row[i + 1] - 1] and sends to out_col[out_row[i]] .. out_col[out_row[i + 1]
 * - 1], both ascending; an edge may occur several times, and each occurrence counts. If the graph is
 * symmetric, both pairs are the same matrices. Without edges col and out_col have no rows.
 *
 * Edges are numbered by receiver, in the order of col; matrices of edges have their rows in this order.
 * out_edge has the number of each edge in the order of out_col; it is absent where no op asks for it.
 *
 * Of a part of a graph, N nodes receive, and S send: those N and, after them, halo nodes, which are other
 * ranks'. row is that of the N, out_row of all S.
 */
struct edges {
    struct mat row;     /* (N + 1) x 1, I64 */
    int64_t most;       /* edges that a node receives at most, or 0: not known */
    struct mat col;     /* E x 1, I32 */
    struct mat out_row; /* as row; of a part S + 1 rows */
    int64_t out_most;   /* sent */
    struct mat out_col;
    struct mat out_edge; /* E x 1, I32 */
};

#endif
