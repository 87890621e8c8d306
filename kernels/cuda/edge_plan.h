/*
 * Execution plan of kernels over the edges of a graph: plain C, from shapes alone. Teams of lanes process
 * shares of equal work (split.h), one tile of columns at a time.
 */
#ifndef GTMARK_KERNELS_CUDA_EDGE_PLAN_H
#define GTMARK_KERNELS_CUDA_EDGE_PLAN_H

#include "kernels/cuda/plan.h"
#include "kernels/cuda/split.h"

struct edge_plan {
    struct split split;
    int lanes;     /* per team, at least 2 */
    int64_t tiles; /* of columns */
};

/* Warps that keep a large device busy, and hence the number of shares. */
enum { EDGE_WARPS = 1 << 14 };

static inline struct edge_plan edge_plan_of(struct mat row, struct mat col, int lanes, int64_t tiles)
{
    int64_t rows = row.rows - 1, edges = mat_present(col) ? col.rows : 0;
    int64_t wanted = max_of(1, EDGE_WARPS * (WARP / lanes) / tiles);
    struct edge_plan p = {split_of(rows, edges, wanted), lanes, tiles};
    return p;
}

static inline struct launch edge_launch(struct edge_plan p)
{
    return launch_blocks(blocks_of(p.split.count, BLOCK / p.lanes), p.tiles);
}

/*
 * Scratch for the partial sums of split rows, `sums` floats per lane and two slots per share, preceded by a
 * row number per share.
 */
static inline int64_t cut_rows_bytes(struct edge_plan p, int sums)
{
    return scratch_bytes(p.split.count, sizeof(int64_t)) +
           scratch_bytes(2 * p.split.count * p.tiles * sums * p.lanes, sizeof(float));
}

#endif
