/*
 * What dense attention knows of pairs of a block's rows and the rows swept over: which probabilities dropout
 * keeps, a bias of scores with its gradient, and weights of keys. A type for each choice of options, with the
 * same functions: enter() comes first; begin() says where the next tile begins, and how many rows are left
 * from there.
 */
#ifndef GTMARK_KERNELS_CUDA_ATTENTION_PAIRS_CUH
#define GTMARK_KERNELS_CUDA_ATTENTION_PAIRS_CUH

#include "kernels/cuda/math.h"
#include "kernels/cuda/matrix.cuh"
#include "kernels/cuda/pairs.cuh"
#include "kernels/cuda/search.h"
#include "kernels/mask.h"

#include <float.h>

/*
 * Of those that are kept, keeps() is 1, and scale() what they are multiplied by: it scales v, so that dy v'
 * has the bits of delta if one key has all of p.
 */
struct all_pairs {
    static constexpr bool BIASED = false, WEIGHED = false;
    static constexpr int ROWS = 4;             /* per thread at most, as registers allow */
    static constexpr float LOWEST = -INFINITY; /* of what is subtracted from scores */

    __device__ void enter(const struct row_block &, int, bool, const struct mat &, const struct mat &)
    {
    }
    __device__ void begin(int64_t, int)
    {
    }
    __device__ float keeps(int, int) const
    {
        return 1;
    }
    __device__ float scale() const
    {
        return 1;
    }
    /* x, which is at least this: an lse as an exponent of 2, or what sums are divided by. */
    __device__ static float bounded(float x, float)
    {
        return x;
    }
};

/* Dropout: entries of an H x P matrix (kernels/mask.h), with the steps in it from a row to the next. */
struct kept_pairs : all_pairs {
    static constexpr int ROWS = 1; /* random numbers take the registers of others */
    const double *schedule;
    const int64_t *first; /* pairs of each graph, or null (pairs.cuh) */
    int64_t pairs;        /* P */
    struct mask mask;     /* with the key of the site */
    int64_t entry, tile, by_row, by_swept;

    __device__ void enter(const struct row_block &b, int head, bool rows_are_queries, const struct mat &,
                          const struct mat &)
    {
        int64_t n = b.graph_rows, row = b.first - b.graph_first;
        mask.key = rng_bits(mask.key, (uint64_t)*schedule);
        by_row = rows_are_queries ? n : 1;
        by_swept = rows_are_queries ? 1 : n;
        entry = head * pairs + (first ? first[b.graph] : 0) + row * by_row - b.graph_first * by_swept;
    }
    __device__ void begin(int64_t from, int)
    {
        tile = entry + from * by_swept;
    }
    __device__ float keeps(int row, int swept) const
    {
        return mask_keeps(mask, tile + row * by_row + swept * by_swept);
    }
    __device__ float scale() const
    {
        return (float)mask.scale;
    }
};

/* A head's column of a matrix with a row for each pair, from a tile on, which has less than 2^31 entries. */
template <class T> struct pair_column {
    T *tile;
    int by_row, by_swept; /* entries from a row to the next */

    __device__ void enter(const struct mat &m, int64_t first, const struct row_block &b, int head,
                          bool rows_are_queries, int by_query)
    {
        int by_key = (int)m.ld;
        by_row = rows_are_queries ? by_query : by_key;
        by_swept = rows_are_queries ? by_key : by_query;
        tile = entry<T>(m, first, head) + (b.first - b.graph_first) * by_row;
    }
    __device__ T *at(int row, int swept) const
    {
        /* Here, not before a loop: a thread may have no registers for the products. */
        return tile + ((int)in_place(row) * by_row + swept * by_swept);
    }
};

/* Those with a bias. Where it hides all keys of a query, -inf is not subtracted, nor is divided by 0. */
template <class KEPT, class T> struct biased_pairs : KEPT {
    static constexpr bool BIASED = true;
    static constexpr float LOWEST = -FLT_MAX / 2;
    const int64_t *graphs; /* pairs of each, or null */
    float factor;          /* of the bias in sums of products */
    pair_column<T> biases, gradients;
    int rows, left;
    bool wanted, acc; /* gradients */

    __device__ void enter(const struct row_block &b, int head, bool rows_are_queries, const struct mat &bias,
                          const struct mat &dbias)
    {
        int64_t first = graphs ? graphs[b.graph] : 0;
        KEPT::enter(b, head, rows_are_queries, bias, dbias);
        biases.enter(bias, first, b, head, rows_are_queries, (int)(b.graph_rows * bias.ld));
        gradients.enter(dbias, first, b, head, rows_are_queries, (int)(b.graph_rows * dbias.ld));
        rows = (int)b.rows;
        left = (int)b.graph_rows;
        wanted = present(dbias);
        acc = dbias.acc;
    }
    __device__ void begin(int64_t from, int rows_left)
    {
        KEPT::begin(from, rows_left);
        biases.tile = biases.at(0, left - rows_left);
        gradients.tile = gradients.at(0, left - rows_left);
        left = rows_left;
    }
    /* What is added to the product of a row of the block and one of the tile. */
    __device__ float bias(int row, int swept) const
    {
        return row < rows && swept < left ? factor * load<1>(biases.at(row, swept)).at[0] : 0;
    }
    __device__ void put(int row, int swept, float ds) const
    {
        if (wanted && row < rows && swept < left)
            ::put(gradients.at(row, swept), acc, vec<1>{ds});
    }
    __device__ static float bounded(float x, float least)
    {
        return larger_of(x, least);
    }
};

/* Those with weights of keys, and perhaps a bias: exp of a score times a weight is that of the score plus its
 * log. */
template <class KEPT, class T> struct weighted_pairs : biased_pairs<KEPT, T> {
    static constexpr bool WEIGHED = true;
    typedef biased_pairs<KEPT, T> biased_type;
    struct mat m;
    pair_column<T> weights;
    bool biased;

    __device__ void enter(const struct row_block &b, int head, bool rows_are_queries, const struct mat &bias,
                          const struct mat &dbias)
    {
        biased_type::enter(b, head, rows_are_queries, bias, dbias);
        weights.enter(m, b.graph_first, b, 0, rows_are_queries, 0);
        biased = present(bias);
    }
    __device__ void begin(int64_t from, int rows_left)
    {
        weights.tile = weights.at(0, this->left - rows_left);
        biased_type::begin(from, rows_left);
    }
    __device__ float bias(int row, int swept) const
    {
        if (row >= this->rows || swept >= this->left)
            return 0;
        float log = this->factor * logf(load<1>(weights.at(row, swept)).at[0]);
        return biased ? log + biased_type::bias(row, swept) : log;
    }
};

/*
 * launch(pairs), with the type for the options of attention_args or attention_backward_args, which may be
 * those of DROPS, BIASES and, of keys, WEIGHTS. T: of both. The pairs of graphs are found in scratch at
 * `before`.
 */
template <class T, bool DROPS, bool BIASES, bool WEIGHTS, class ARGS, class LAUNCH>
static inline cuda_status with_pairs(const ARGS *a, int64_t before, float factor, const LAUNCH &launch)
{
    struct call call = a->call;
    bool drops = mat_present(a->schedule), biased = mat_present(a->bias);
    const int64_t *first = NULL;
    call.scratch = scratch_at(call, before);
    cuda_status status = drops || biased ? run_pairs(call, a->graphs, &first) : cuda_status(cudaSuccess);
    if (status.fault)
        return status;
    auto with_bias = [&](auto pairs) {
        typedef decltype(pairs) kept;
        const biased_pairs<kept, T> with = {pairs, first, factor, {}, {}, 0, 0, false, false};
        if constexpr (WEIGHTS)
            if (mat_present(a->m))
                return launch(weighted_pairs<kept, T>{with, a->m, {}, false});
        if constexpr (BIASES)
            if (biased)
                return launch(with);
        return launch(pairs);
    };
    if constexpr (DROPS)
        if (drops) {
            struct mask mask = mask_of(0, 0, a->p);
            mask.key = a->key;
            return with_bias(
                kept_pairs{{}, (const double *)a->schedule.data, first, a->graphs.pairs, mask, 0, 0, 0, 0});
        }
    return with_bias(all_pairs());
}

/* Scratch bytes of with_pairs. */
template <class ARGS> static inline int64_t with_pairs_scratch(const ARGS *a)
{
    return mat_present(a->schedule) || mat_present(a->bias) ? pairs_scratch(a->graphs) : 0;
}

#endif
