/*
 * Return probabilities of the random walk; kernels/ref/walk.c has the mathematics.
 *
 * COLUMNS nodes are a block: a row of x holds the entries of all their vectors at one node, so that a step
 * adds rows over edges in registers. Only rows of nodes in the ball, from which a node of the block can be
 * reached, are accessed; all others are 0 in x and in y, and after a block those of its ball are cleared. A
 * ball that contains most nodes is processed in order of their numbers of edges, which makes the loop over
 * edges predictable.
 *
 * All entries are positive, so nothing cancels, but equal rounding errors accumulate from edge to edge and
 * step to step: sums over many nodes or edges are split into runs, and continued in double or compensated.
 */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/vectors.h"

#include <omp.h>
#include <string.h>

enum {
    COLUMNS = 16,
    VECTORS = COLUMNS / LANES,
    EDGE_RUN = 8,
    NODE_RUN = 16,
    WINDOW = 1024,
    WINDOW_DEGREES = 64
};

/* 1 / edges of a node, 1 without: rounded to float, plus the remainder, which would otherwise accumulate. */
struct share {
    float high, low;
};

/* The edges along which a step pulls, and those along which the ball grows. */
struct walk_graph {
    const int64_t *pull, *grow; /* offsets of each node's edges */
    const int32_t *from, *to;
    const struct share *share;
    const int32_t *order; /* all nodes, in the order in which a step over most nodes visits them */
    int64_t nodes;
};

/* State of a node: in the ball if FOUND, or SPENT once its edges have been followed. */
enum { OUTSIDE, FOUND, SPENT };

/* Per-thread scratch: x, y and the ball. */
struct space {
    float *x, *y;
    int32_t *node;
    uint8_t *inside;
    int64_t count, edges; /* nodes of the ball, and edges that a step over it pulls */
    bool grown;           /* in the last step */
};

/* A row of all columns. */
struct walk_row {
    vec at[VECTORS];
};

INLINE struct walk_row row_load(const float *x, int64_t node)
{
    struct walk_row r;
    UNROLL
    for (int v = 0; v < VECTORS; v++)
        r.at[v] = load(x + node * COLUMNS + v * LANES);
    return r;
}

INLINE void row_store(float *x, int64_t node, struct walk_row r)
{
    UNROLL
    for (int v = 0; v < VECTORS; v++)
        store(x + node * COLUMNS + v * LANES, r.at[v]);
}

INLINE void row_add(struct walk_row *to, struct walk_row r)
{
    UNROLL
    for (int v = 0; v < VECTORS; v++)
        to->at[v] += r.at[v];
}

INLINE void row_add_product(struct walk_row *to, struct walk_row a, struct walk_row b)
{
    UNROLL
    for (int v = 0; v < VECTORS; v++)
        to->at[v] += a.at[v] * b.at[v];
}

INLINE struct walk_row row_scaled(struct walk_row r, struct share by)
{
    UNROLL
    for (int v = 0; v < VECTORS; v++)
        r.at[v] = r.at[v] * by.high + r.at[v] * by.low;
    return r;
}

/* Adds a run's sums to those in double, and clears it. */
INLINE void row_settle(double *to, struct walk_row *r)
{
    float lane[COLUMNS];
    row_store(lane, 0, *r);
    for (int c = 0; c < COLUMNS; c++)
        to[c] += (double)lane[c];
    *r = (struct walk_row){0};
}

INLINE struct walk_row sum_run(const struct walk_graph *w, const float *x, int64_t first, int64_t end)
{
    struct walk_row sum = {0};
    for (int64_t e = first; e < end; e++)
        row_add(&sum, row_load(x, w->from[e]));
    return sum;
}

/*
 * Sum over many edges: run after run, carrying the rounding error of each addition to the next (Kahan 1965).
 */
static struct walk_row sum_of_many(const struct walk_graph *w, const float *x, int64_t first, int64_t end)
{
    struct walk_row sum = {0}, rest = {0};
    for (; first < end; first += EDGE_RUN) {
        struct walk_row run = sum_run(w, x, first, min_of(end, first + EDGE_RUN));
        UNROLL
        for (int v = 0; v < VECTORS; v++) {
            vec add = run.at[v] - rest.at[v], more = sum.at[v] + add;
            rest.at[v] = (more - sum.at[v]) - add;
            sum.at[v] = more;
        }
    }
    return sum;
}

/* The sum of x over the edges of a node. */
INLINE struct walk_row sum_of_ends(const struct walk_graph *w, const float *x, int64_t node)
{
    int64_t first = w->pull[node], end = w->pull[node + 1];
    return end - first <= EDGE_RUN ? sum_run(w, x, first, end) : sum_of_many(w, x, first, end);
}

static void ball_add(const struct walk_graph *w, struct space *s, int32_t node)
{
    if (s->inside[node] == OUTSIDE) {
        s->inside[node] = FOUND;
        s->node[s->count++] = node;
        s->edges += w->pull[node + 1] - w->pull[node];
    }
}

/* If most nodes are in the ball, they are sorted into the order of a step over all. */
static void ball_order(const struct walk_graph *w, struct space *s)
{
    int64_t count = 0;
    for (int64_t i = 0; i < w->nodes; i++) {
        s->node[count] = w->order[i];
        count += s->inside[w->order[i]] != OUTSIDE;
        if (count == s->count)
            break;
    }
}

static void ball_grow(const struct walk_graph *w, struct space *s)
{
    int64_t before = s->count;
    for (int64_t m = 0; s->grown && m < before; m++) {
        int64_t node = s->node[m];
        if (s->inside[node] == SPENT)
            continue;
        s->inside[node] = SPENT;
        for (int64_t e = w->grow[node]; e < w->grow[node + 1]; e++)
            ball_add(w, s, w->to[e]);
    }
    s->grown = s->count > before;
    if (s->grown && 2 * s->count > w->nodes)
        ball_order(w, s);
}

/* The ball of a block's nodes, and their initial vectors, 1 at each node. */
static void block_open(const struct walk_graph *w, struct space *s, int64_t first, int64_t columns)
{
    s->count = s->edges = 0;
    s->grown = true;
    for (int64_t c = 0; c < columns; c++) {
        ball_add(w, s, (int32_t)(first + c));
        s->x[(first + c) * COLUMNS + c] = 1;
    }
}

static void block_close(struct space *s)
{
    for (int64_t m = 0; m < s->count; m++) {
        row_store(s->x, s->node[m], (struct walk_row){0});
        row_store(s->y, s->node[m], (struct walk_row){0});
        s->inside[s->node[m]] = OUTSIDE;
    }
}

/* y = P x over the ball. */
static void step(const struct walk_graph *w, const struct space *s)
{
    for (int64_t m = 0; m < s->count; m++) {
        int64_t node = s->node[m];
        row_store(s->y, node, row_scaled(sum_of_ends(w, s->x, node), w->share[node]));
    }
}

/* The same; accumulates d y x over the nodes in odd and d y y in even; only the former in the last step. */
static void step_half(const struct walk_graph *w, const struct space *s, double *odd, double *even, bool last)
{
    memset(odd, 0, COLUMNS * sizeof *odd);
    memset(even, 0, COLUMNS * sizeof *even);
    for (int64_t m = 0; m < s->count;) {
        struct walk_row odd_run = {0}, even_run = {0};
        for (int64_t end = min_of(s->count, m + NODE_RUN); m < end; m++) {
            int64_t node = s->node[m];
            struct walk_row sum = sum_of_ends(w, s->x, node);
            row_add_product(&odd_run, sum, row_load(s->x, node));
            if (last)
                continue;
            struct walk_row y = row_scaled(sum, w->share[node]);
            row_store(s->y, node, y);
            row_add_product(&even_run, sum, y);
        }
        row_settle(odd, &odd_run);
        row_settle(even, &even_run);
    }
}

static void swap(struct space *s)
{
    float *x = s->x;
    s->x = s->y;
    s->y = x;
}

static void block_returns(const struct walk_graph *w, struct space *s, int64_t first, struct mat p,
                          struct mat work)
{
    int64_t columns = min_of(COLUMNS, w->nodes - first), flops = 0;
    block_open(w, s, first, columns);
    for (int64_t k = 0; k < p.cols; k++) {
        ball_grow(w, s);
        step(w, s);
        flops += s->edges + s->count;
        swap(s);
        for (int64_t c = 0; c < columns; c++)
            row_of(p, first + c)[k] = s->x[(first + c) * COLUMNS + c];
    }
    for (int64_t c = 0; c < columns; c++)
        ((int64_t *)work.data)[(first + c) * work.ld] = flops;
    block_close(s);
}

static void block_returns_half(const struct walk_graph *w, struct space *s, int64_t first, struct mat p,
                               struct mat work)
{
    int64_t columns = min_of(COLUMNS, w->nodes - first), flops = p.cols;
    double odd[COLUMNS], even[COLUMNS];
    block_open(w, s, first, columns);
    for (int64_t k = 0; k < p.cols; k += 2) {
        bool last = k + 1 == p.cols;
        if (!last)
            ball_grow(w, s);
        step_half(w, s, odd, even, last);
        flops += s->edges + (last ? 2 : 5) * s->count;
        swap(s);
        for (int64_t c = 0; c < columns; c++) {
            float *to = row_of(p, first + c) + k;
            double share = 1 / (double)max_of(1, w->pull[first + c + 1] - w->pull[first + c]);
            to[0] = (float)(odd[c] * share);
            if (!last)
                to[1] = (float)(even[c] * share);
        }
    }
    for (int64_t c = 0; c < columns; c++)
        ((int64_t *)work.data)[(first + c) * work.ld] = flops;
    block_close(s);
}

/* Scratch: share and order of the nodes, then the threads' parts. */
static int64_t share_bytes(int64_t nodes)
{
    return round_up(nodes * (int64_t)sizeof(struct share), 64);
}

static int64_t vectors_bytes(int64_t nodes)
{
    return float_bytes(nodes * COLUMNS);
}

static int64_t space_bytes(int64_t nodes)
{
    return 2 * vectors_bytes(nodes) + float_bytes(nodes) + round_up(nodes, 64);
}

static int64_t walk_bytes(const struct call *call, int64_t nodes)
{
    return share_bytes(nodes) + float_bytes(nodes) + call->threads * space_bytes(nodes);
}

static struct space space_of(void *scratch, int64_t nodes, int thread)
{
    char *at = (char *)scratch + share_bytes(nodes) + float_bytes(nodes) + thread * space_bytes(nodes);
    struct space s = {.x = (float *)(void *)at, .y = (float *)(void *)(at + vectors_bytes(nodes))};
    s.node = (int32_t *)(void *)(at + 2 * vectors_bytes(nodes));
    s.inside = (uint8_t *)s.node + float_bytes(nodes);
    memset(s.x, 0, (size_t)(2 * vectors_bytes(nodes)));
    memset(s.inside, 0, (size_t)nodes);
    return s;
}

static struct share share_of(int64_t edges)
{
    double whole = 1 / (double)max_of(1, edges);
    float high = (float)whole;
    return (struct share){high, (float)(whole - (double)high)};
}

/* Sorts WINDOW nodes by their number of edges, while neighbours stay close together. */
static void order_window(const struct walk_graph *w, int64_t first, int32_t *order)
{
    int32_t begin[WINDOW_DEGREES + 1] = {0};
    int64_t end = min_of(w->nodes, first + WINDOW);
    for (int64_t i = first; i < end; i++)
        begin[min_of(WINDOW_DEGREES, w->pull[i + 1] - w->pull[i] + 1)]++;
    for (int d = 1; d <= WINDOW_DEGREES; d++)
        begin[d] += begin[d - 1];
    for (int64_t i = first; i < end; i++)
        order[first + begin[min_of(WINDOW_DEGREES - 1, w->pull[i + 1] - w->pull[i])]++] = (int32_t)i;
}

static void walk_all(const struct call *call, struct walk_graph w, struct mat p, struct mat work, bool half)
{
    struct share *share = call->scratch;
    int threads = (int)min_of(call->threads, blocks_of(w.nodes, COLUMNS));
    int32_t *order = (int32_t *)((char *)call->scratch + share_bytes(w.nodes));
    w.share = share;
    w.order = order;
#pragma omp parallel num_threads(threads)
    {
        struct space s = space_of(call->scratch, w.nodes, omp_get_thread_num());
#pragma omp for schedule(static)
        for (int64_t i = 0; i < w.nodes; i++)
            share[i] = share_of(w.pull[i + 1] - w.pull[i]);
#pragma omp for schedule(static)
        for (int64_t first = 0; first < w.nodes; first += WINDOW)
            order_window(&w, first, order);
#pragma omp for schedule(dynamic) nowait
        for (int64_t first = 0; first < w.nodes; first += COLUMNS)
            if (is_cancelled(call->cancel))
                continue;
            else if (half)
                block_returns_half(&w, &s, first, p, work);
            else
                block_returns(&w, &s, first, p, work);
    }
}

void CPU(walk_returns)(const void *args)
{
    const struct walk_returns_args *a = args;
    struct walk_graph w = {.pull = a->adj.out_row.data,
                           .from = a->adj.out_col.data,
                           .grow = a->adj.row.data,
                           .to = a->adj.col.data,
                           .nodes = a->p.rows};
    walk_all(&a->call, w, a->p, a->work, false);
}

int64_t CPU(walk_returns_scratch)(const void *args)
{
    const struct walk_returns_args *a = args;
    return walk_bytes(&a->call, a->p.rows);
}

void CPU(walk_returns_half)(const void *args)
{
    const struct walk_returns_half_args *a = args;
    const int64_t *row = a->adj.row.data;
    const int32_t *col = a->adj.col.data;
    struct walk_graph w = {.pull = row, .from = col, .grow = row, .to = col, .nodes = a->p.rows};
    walk_all(&a->call, w, a->p, a->work, true);
}

int64_t CPU(walk_returns_half_scratch)(const void *args)
{
    const struct walk_returns_half_args *a = args;
    return walk_bytes(&a->call, a->p.rows);
}
