/*
 * Return probabilities of the random walk; kernels/ref/walk.c has the mathematics.
 *
 * COLUMNS nodes are a block: a row of x holds the entries of all their vectors at one node, so that a step
 * adds rows over edges in registers. Only rows of nodes in the ball, from which a node of the block can be
 * reached, are accessed; all others are 0 in x and in y, and after a block those of its ball are cleared. A
 * ball that contains most nodes is processed in order of their numbers of edges, and nodes with as many edges
 * by a loop that is compiled for this number.
 *
 * All entries are positive, so nothing cancels, but equal rounding errors accumulate from edge to edge and
 * step to step: sums over many nodes or edges are split into runs, and continued in double or compensated.
 */
#include "kernels/cpu/ball.h"

#include <omp.h>
#include <string.h>

enum { VECTORS = COLUMNS / LANES, EDGE_RUN = 8, NODE_RUN = 16 };

/* 1 / edges of a node, 1 without: rounded to float, plus the remainder, which would otherwise accumulate. */
struct share {
    float high, low;
};

struct walk_graph {
    struct ball_graph g;
    const struct share *share;
};

/* Per-thread scratch. */
struct space {
    float *x, *y;
    struct ball ball;
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

/* Adds a run's sums to those in double. */
INLINE void row_settle(double *to, struct walk_row r)
{
    float lane[COLUMNS];
    row_store(lane, 0, r);
    for (int c = 0; c < COLUMNS; c++)
        to[c] += (double)lane[c];
}

INLINE struct walk_row sum_run(const struct walk_graph *w, const float *x, int64_t first, int64_t end)
{
    struct walk_row sum = {0};
    UNROLL
    for (int64_t e = first; e < end; e++)
        row_add(&sum, row_load(x, w->g.from[e]));
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

/* The sum of x over the edges of a node: `degree`, a constant up to EDGE_RUN; or any number if it is 0. */
INLINE struct walk_row sum_of_ends(const struct walk_graph *w, const float *x, int64_t node, int64_t degree)
{
    int64_t first = w->g.pull[node];
    return degree ? sum_run(w, x, first, first + degree) : sum_of_many(w, x, first, w->g.pull[node + 1]);
}

static int64_t degree_of(const struct walk_graph *w, int64_t node)
{
    return w->g.pull[node + 1] - w->g.pull[node];
}

/* The end of the nodes from m on, at most NODE_RUN, that have as many edges. */
static int64_t same_degree(const struct walk_graph *w, const struct ball *b, int64_t m)
{
    int64_t end = min_of(b->count, m + NODE_RUN), degree = degree_of(w, b->node[m++]);
    while (m < end && degree_of(w, b->node[m]) == degree)
        m++;
    return m;
}

/* Calls f with the number of edges as a constant, for which its loops are unrolled. */
#define WITH_DEGREE(degree, f, ...)                                                                          \
    switch (degree) {                                                                                        \
        CASE_DEGREE(1, f, __VA_ARGS__)                                                                       \
        CASE_DEGREE(2, f, __VA_ARGS__)                                                                       \
        CASE_DEGREE(3, f, __VA_ARGS__)                                                                       \
        CASE_DEGREE(4, f, __VA_ARGS__)                                                                       \
        CASE_DEGREE(5, f, __VA_ARGS__)                                                                       \
        CASE_DEGREE(6, f, __VA_ARGS__)                                                                       \
        CASE_DEGREE(7, f, __VA_ARGS__)                                                                       \
        CASE_DEGREE(8, f, __VA_ARGS__)                                                                       \
    default:                                                                                                 \
        f(__VA_ARGS__, 0);                                                                                   \
    }
#define CASE_DEGREE(degree, f, ...)                                                                          \
    case degree:                                                                                             \
        f(__VA_ARGS__, degree);                                                                              \
        break;

/* The ball of a block's nodes, and their initial vectors, 1 at each node. */
static void block_open(const struct walk_graph *w, struct space *s, int64_t first, int64_t columns)
{
    ball_open(&w->g, &s->ball, first, columns);
    for (int64_t c = 0; c < columns; c++)
        s->x[(first + c) * COLUMNS + c] = 1;
}

static void block_close(struct space *s)
{
    for (int64_t m = 0; m < s->ball.count; m++) {
        row_store(s->x, s->ball.node[m], (struct walk_row){0});
        row_store(s->y, s->ball.node[m], (struct walk_row){0});
        s->ball.inside[s->ball.node[m]] = 0;
    }
}

INLINE void step_run(struct walk_graph w, struct space s, int64_t m, int64_t end, int64_t degree)
{
    for (; m < end; m++) {
        int64_t node = s.ball.node[m];
        row_store(s.y, node, row_scaled(sum_of_ends(&w, s.x, node, degree), w.share[node]));
    }
}

/* y = P x over the ball. */
static void step(const struct walk_graph *w, const struct space *s)
{
    for (int64_t m = 0, end; m < s->ball.count; m = end) {
        end = same_degree(w, &s->ball, m);
        WITH_DEGREE(degree_of(w, s->ball.node[m]), step_run, *w, *s, m, end)
    }
}

INLINE void step_half_run(struct walk_graph w, struct space s, int64_t m, int64_t end, double *odd,
                          double *even, bool last, int64_t degree)
{
    struct walk_row odd_run = {0}, even_run = {0};
    for (; m < end; m++) {
        int64_t node = s.ball.node[m];
        struct walk_row sum = sum_of_ends(&w, s.x, node, degree);
        row_add_product(&odd_run, sum, row_load(s.x, node));
        if (last)
            continue;
        struct walk_row y = row_scaled(sum, w.share[node]);
        row_store(s.y, node, y);
        row_add_product(&even_run, sum, y);
    }
    row_settle(odd, odd_run);
    row_settle(even, even_run);
}

/* The same; accumulates d y x over the nodes in odd and d y y in even; only the former in the last step. */
static void step_half(const struct walk_graph *w, const struct space *s, double *odd, double *even, bool last)
{
    memset(odd, 0, COLUMNS * sizeof *odd);
    memset(even, 0, COLUMNS * sizeof *even);
    for (int64_t m = 0, end; m < s->ball.count; m = end) {
        end = same_degree(w, &s->ball, m);
        WITH_DEGREE(degree_of(w, s->ball.node[m]), step_half_run, *w, *s, m, end, odd, even, last)
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
    int64_t columns = min_of(COLUMNS, w->g.nodes - first), flops = 0;
    block_open(w, s, first, columns);
    for (int64_t k = 0; k < p.cols; k++) {
        ball_grow(&w->g, &s->ball);
        step(w, s);
        flops += s->ball.edges + s->ball.count;
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
    int64_t columns = min_of(COLUMNS, w->g.nodes - first), flops = p.cols;
    double odd[COLUMNS], even[COLUMNS];
    block_open(w, s, first, columns);
    for (int64_t k = 0; k < p.cols; k += 2) {
        bool last = k + 1 == p.cols;
        if (!last)
            ball_grow(&w->g, &s->ball);
        step_half(w, s, odd, even, last);
        flops += s->ball.edges + (last ? 2 : 5) * s->ball.count;
        swap(s);
        for (int64_t c = 0; c < columns; c++) {
            float *to = row_of(p, first + c) + k;
            double share = 1 / (double)max_of(1, w->g.pull[first + c + 1] - w->g.pull[first + c]);
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
    return 2 * vectors_bytes(nodes) + float_bytes(nodes + 1) + round_up(nodes, 64);
}

static int64_t walk_bytes(const struct call *call, int64_t nodes)
{
    return share_bytes(nodes) + float_bytes(nodes) + call->threads * space_bytes(nodes);
}

static struct space space_of(void *scratch, int64_t nodes, int thread)
{
    char *at = (char *)scratch + share_bytes(nodes) + float_bytes(nodes) + thread * space_bytes(nodes);
    struct space s = {.x = (float *)(void *)at, .y = (float *)(void *)(at + vectors_bytes(nodes))};
    s.ball.node = (int32_t *)(void *)(at + 2 * vectors_bytes(nodes));
    s.ball.inside = (uint8_t *)s.ball.node + float_bytes(nodes + 1);
    memset(s.x, 0, (size_t)(2 * vectors_bytes(nodes)));
    memset(s.ball.inside, 0, (size_t)nodes);
    return s;
}

static struct share share_of(int64_t edges)
{
    double whole = 1 / (double)max_of(1, edges);
    float high = (float)whole;
    return (struct share){high, (float)(whole - (double)high)};
}

static void walk_all(const struct call *call, struct ball_graph g, struct mat p, struct mat work, bool half)
{
    struct share *share = call->scratch;
    int threads = (int)min_of(call->threads, blocks_of(g.nodes, COLUMNS));
    g.order = (int32_t *)((char *)call->scratch + share_bytes(g.nodes));
    struct walk_graph w = {g, share};
#pragma omp parallel num_threads(threads)
    {
        struct space s = space_of(call->scratch, w.g.nodes, omp_get_thread_num());
#pragma omp for schedule(static)
        for (int64_t i = 0; i < w.g.nodes; i++)
            share[i] = share_of(w.g.pull[i + 1] - w.g.pull[i]);
#pragma omp for schedule(static)
        for (int64_t first = 0; first < w.g.nodes; first += WINDOW)
            order_window(&w.g, first);
#pragma omp for schedule(dynamic) nowait
        for (int64_t first = 0; first < w.g.nodes; first += COLUMNS)
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
    struct ball_graph g = ball_graph_of(a->adj, a->p.rows);
    g.pull = g.out;
    g.from = g.ends;
    walk_all(&a->call, g, a->p, a->work, false);
}

int64_t CPU(walk_returns_scratch)(const void *args)
{
    const struct walk_returns_args *a = args;
    return walk_bytes(&a->call, a->p.rows);
}

void CPU(walk_returns_half)(const void *args)
{
    const struct walk_returns_half_args *a = args;
    walk_all(&a->call, ball_graph_of(a->adj, a->p.rows), a->p, a->work, true);
}

int64_t CPU(walk_returns_half_scratch)(const void *args)
{
    const struct walk_returns_half_args *a = args;
    return walk_bytes(&a->call, a->p.rows);
}
