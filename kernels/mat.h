/*
 * struct mat: a view of a row-major matrix, passed by value.
 *
 * Element (i, k) stands at data + i * ld + k (in elements of dtype). A view names the storage it looks into,
 * so that a tape can record it before any memory exists and set `data` later; views that were never on a tape
 * have storage 0. An absent matrix (an operand left out) is all zeros. Column ranges of a matrix are
 * matrices: the query, key and value of an attention are three ranges of one projection.
 */
#ifndef GTMARK_KERNELS_MAT_H
#define GTMARK_KERNELS_MAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dtype { DTYPE_NONE, F32, F64, I64 };

static inline size_t dtype_size(enum dtype d)
{
    return d == F32 ? 4 : d == F64 || d == I64 ? 8 : 0;
}

static inline const char *dtype_name(enum dtype d)
{
    return d == F32 ? "f32" : d == F64 ? "f64" : d == I64 ? "i64" : "none";
}

struct mat {
    void *data;         /* element (0, 0); null until the storage is laid out */
    int64_t rows, cols; /* extent in elements */
    int64_t ld;         /* elements from one row to the next, at least cols */
    int64_t offset;     /* bytes from the start of the storage to data */
    int32_t storage;    /* which storage of the tape; 0: none */
    enum dtype dtype;   /* of every element */
    bool acc;           /* as an output: add to what is there instead of overwriting it */
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

/*
 * The rows of a batch that belong to each graph: graph g owns rows at[g] .. at[g + 1] - 1, and every graph
 * has at least one. `pairs` is the sum of the squared sizes: the node pairs that dense attention works on.
 */
struct offsets {
    struct mat at; /* (graphs + 1) x 1, I64 */
    int64_t pairs;
};

#endif
