/*
 * Kernels over the edges of a graph, row by row, in shares of equal work (split.h).
 *
 * A team of lanes processes a share, all columns of a tile at a time, and tile after tile if the grid has too
 * few blocks. Partial sums of split rows go to scratch, and a second kernel combines the parts of each such
 * row in order, one block per row, unless the graph has none; so a hub is spread over the device and no
 * atomics are needed.
 *
 * A body defines the computation:
 *   SUMS, UNROLL                       floats per lane and row; edges at a time
 *   struct state { float sums[SUMS]; ...}
 *   clear(s)                           initialises the sums of no edges
 *   begin(s, team, row, first)         reads the row's data; first: this part contains its beginning
 *   add(s, team, first, ends, count)   adds edges first .. first + count - 1, with ends[0 .. count - 1] as
 * their other ends; further ends are valid indices unite(s, sums)                     combines with other
 * sums finish(s, team, row)               writes the row begin and clear come first, but finish must not
 * depend on begin.
 */
#ifndef GTMARK_KERNELS_CUDA_EDGES_CUH
#define GTMARK_KERNELS_CUDA_EDGES_CUH

#include "kernels/cuda/edge_plan.h"
#include "kernels/cuda/reduce.cuh"

/* The edges of each row: offsets into col, and the other ends. */
struct edge_lists {
    const int64_t *at;
    const int32_t *col;
    int64_t at_ld;
    int col_ld;
};

static inline struct edge_lists edge_lists_of(struct mat row, struct mat col)
{
    struct edge_lists e = {(const int64_t *)row.data, (const int32_t *)col.data, row.ld, (int)col.ld};
    return e;
}

/* One direction of the edges, on the host. */
struct edge_side {
    struct mat row, col;
    int64_t most; /* edges of a row at most; 0: not known */
};

static inline struct edge_side received(struct edges adj)
{
    struct edge_side e = {adj.row, adj.col, adj.most};
    return e;
}

static inline struct edge_side sent(struct edges adj)
{
    struct edge_side e = {adj.out_row, adj.out_col, adj.out_most};
    return e;
}

enum { CUT_SHARES = BLOCK / 8 }; /* searched by a block for split rows */

/* Scratch: for each share the row that begins but does not end in it, or -1; partial sums. */
struct cut_rows {
    int64_t *row;
    float *sums;
};

static inline struct cut_rows cut_rows_at(struct call call, int64_t before, struct edge_plan p)
{
    struct cut_rows c = {(int64_t *)scratch_at(call, before),
                         (float *)scratch_at(call, before + scratch_bytes(p.split.count, sizeof(int64_t)))};
    return c;
}

struct team {
    unsigned mask;
    int lane, lanes;
    int64_t tile;
};

static __device__ inline struct team team_here(int lanes)
{
    struct team t = {team_mask(lanes), (int)threadIdx.x % lanes, lanes, 0};
    return t;
}

/* This lane's first sum in a slot; the others follow with stride `lanes`. */
template <class Body>
static __device__ float *slot_sums(const struct edge_plan &p, struct cut_rows cut, struct team t,
                                   int64_t slot)
{
    return cut.sums + (slot * p.tiles + t.tile) * Body::SUMS * p.lanes + t.lane;
}

template <class Body>
static __device__ void add_edges(const Body &body, typename Body::state &s, const struct team &t,
                                 const struct edge_lists &edges, const struct piece &piece)
{
    for (int64_t e = piece.first; e < piece.end; e += Body::UNROLL) {
        int64_t ends[Body::UNROLL];
        int count = (int)min_of(Body::UNROLL, piece.end - e);
        const int32_t *col = edges.col + e * edges.col_ld;
#pragma unroll
        for (int u = 0; u < Body::UNROLL; u++)
            ends[u] = col[(u < count ? u : count - 1) * edges.col_ld];
        body.add(s, t, e, ends, count);
    }
}

/* Processes the rows of one share; returns the row that begins but does not end in it, or -1. */
template <class Body>
static __device__ int64_t do_share(const Body &body, const struct edge_lists &edges,
                                   const struct edge_plan &p, struct cut_rows cut, const struct team &t,
                                   int64_t share)
{
    /* even lanes search for the first row, odd ones for the last */
    int64_t item = t.lane % 2 ? share_end(p.split, share) - 1 : share_first(p.split, share);
    int64_t row = row_of_item(edges.at, edges.at_ld, p.split.rows, item), unfinished = -1;
    int64_t first = __shfl_sync(t.mask, row, 0, t.lanes), last = __shfl_sync(t.mask, row, 1, t.lanes);
    int64_t begin = edges.at[first * edges.at_ld];
    for (int64_t r = first; r <= last; r++) {
        int64_t end = edges.at[(r + 1) * edges.at_ld];
        struct piece piece = piece_of(p.split, share, r, begin, end);
        begin = end;
        if (piece.kind == PIECE_NONE)
            continue;
        typename Body::state s;
        body.clear(s);
        body.begin(s, t, r, piece.kind != PIECE_FIRST);
        add_edges(body, s, t, edges, piece);
        if (piece.kind == PIECE_WHOLE) {
            body.finish(s, t, r);
            continue;
        }
        float *to = slot_sums<Body>(p, cut, t, piece_slot(share, piece.kind));
#pragma unroll
        for (int n = 0; n < Body::SUMS; n++)
            to[n * p.lanes] = s.sums[n];
        if (piece.kind == PIECE_LAST)
            unfinished = r;
    }
    return unfinished;
}

/*
 * Blocks of edge_shares per multiprocessor: bodies of one edge at a time, those of the widest heads, need the
 * registers of two.
 */
template <class Body> constexpr int share_blocks = Body::UNROLL > 1 ? 2 : 1;

template <class Body>
__global__ void __launch_bounds__(BLOCK, share_blocks<Body>)
    edge_shares(const __grid_constant__ Body body, struct edge_lists edges, struct edge_plan p,
                struct cut_rows cut)
{
    struct team t = team_here(p.lanes);
    int64_t share = (int64_t)blockIdx.x * (BLOCK / p.lanes) + threadIdx.x / p.lanes;
    if (share >= p.split.count)
        return;
    for (t.tile = blockIdx.y; t.tile < p.tiles; t.tile += gridDim.y) {
        int64_t unfinished = do_share(body, edges, p, cut, t, share);
        if (t.tile == 0 && t.lane == 0)
            cut.row[share] = unfinished;
    }
}

/* Combines the sums of a block's teams, in order, in the first team's state. All threads must call it. */
template <class Body>
static __device__ void unite_teams(const Body &body, typename Body::state &s, const struct team &t,
                                   int64_t count, float *shared)
{
#pragma unroll
    for (int n = 0; n < Body::SUMS; n++)
        shared[n * BLOCK + threadIdx.x] = s.sums[n];
    __syncthreads();
    for (int64_t other = 1; other < count && threadIdx.x < t.lanes; other++) {
        float sums[Body::SUMS];
#pragma unroll
        for (int n = 0; n < Body::SUMS; n++)
            sums[n] = shared[n * BLOCK + other * t.lanes + t.lane];
        body.unite(s, sums);
    }
    __syncthreads(); /* before shared is written again */
}

/* Combines the parts of the rows that begin but do not end in shares of this block, team by team. */
template <class Body>
__global__ void __launch_bounds__(BLOCK, 1)
    unite_cut_rows(const __grid_constant__ Body body, struct edge_lists edges, struct edge_plan p,
                   struct cut_rows cut)
{
    __shared__ float shared[Body::SUMS * BLOCK];
    struct team t = team_here(p.lanes);
    int64_t first = (int64_t)blockIdx.x * CUT_SHARES, team = threadIdx.x / p.lanes, teams = BLOCK / p.lanes;
    for (int64_t share = first; share < min_of(first + CUT_SHARES, p.split.count); share++) {
        int64_t row = cut.row[share];
        if (row < 0)
            continue;
        int64_t parts = share_of_end(p.split, row, edges.at[(row + 1) * edges.at_ld]) - share + 1;
        for (t.tile = blockIdx.y; t.tile < p.tiles; t.tile += gridDim.y) {
            typename Body::state s;
            body.clear(s);
            for (int64_t part = team; part < parts; part += teams) {
                const float *from = slot_sums<Body>(
                    p, cut, t, piece_slot(share + part, part == 0 ? PIECE_LAST : PIECE_FIRST));
                float sums[Body::SUMS];
#pragma unroll
                for (int n = 0; n < Body::SUMS; n++)
                    sums[n] = from[n * p.lanes];
                body.unite(s, sums);
            }
            unite_teams(body, s, t, min_of(parts, teams), shared);
            if (team == 0)
                body.finish(s, t, row);
        }
    }
}

/* Without a row longer than a share there is nothing to combine. */
template <class Body>
static cuda_status run_edges(const struct call &call, const Body &body, struct edge_side side,
                             struct edge_plan p, int64_t scratch_before)
{
    struct cut_rows cut = cut_rows_at(call, scratch_before, p);
    struct edge_lists edges = edge_lists_of(side.row, side.col);
    cuda_status status = run(call, edge_launch(p), edge_shares<Body>, body, edges, p, cut);
    if (status.fault || !has_cut_rows(p.split, side.most))
        return status;
    return run(call, launch_blocks(blocks_of(p.split.count, CUT_SHARES), p.tiles), unite_cut_rows<Body>, body,
               edges, p, cut);
}

#endif
