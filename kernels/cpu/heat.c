/*
 * Diagonals of Chebyshev polynomials of the Laplacian; kernels/ref/heat.c has the mathematics, walk.c the
 * way.
 *
 * Vectors are double: rounding errors of the recurrence grow with the square of the degree, and what the heat
 * kernel leaves of them at late times is small.
 */
#include "kernels/cpu/ball.h"

#include <omp.h>
#include <string.h>

#include "kernels/cpu/unaligned.h"

enum { WIDE = LANES / 2, VECTORS = COLUMNS / WIDE };

UNALIGNED_VECTOR(dvec, double, 8 * WIDE);

/* Per-thread scratch: the vectors, with a row of COLUMNS for each node, and the sums for each time. */
struct space {
    double *x, *y, *sum;
    struct ball ball;
};

/* Sums over the nodes of the products of two successive vectors, and of the later one with itself. */
struct moments {
    dvec odd[VECTORS], even[VECTORS];
};

INLINE dvec *row_at(double *x, int64_t node)
{
    return (dvec *)(x + node * COLUMNS);
}

/* y = scale L x - twice x - keep y over the ball. */
static void step(const struct ball_graph *g, const struct space *s, double scale, double twice, double keep,
                 struct moments *to)
{
    struct moments sums = {0};
    for (int64_t m = 0; m < s->ball.count; m++) {
        int64_t node = s->ball.node[m], first = g->pull[node], end = g->pull[node + 1];
        const dvec *x = row_at(s->x, node);
        dvec *y = row_at(s->y, node), ends[VECTORS] = {{0}};
        double degree = (double)(end - first);
        for (int64_t e = first; e < end; e++) {
            const dvec *from = row_at(s->x, g->from[e]);
            UNROLL
            for (int v = 0; v < VECTORS; v++)
                ends[v] += from[v];
        }
        UNROLL
        for (int v = 0; v < VECTORS; v++) {
            dvec next = (x[v] * degree - ends[v]) * scale - x[v] * twice - y[v] * keep;
            sums.odd[v] += x[v] * next;
            sums.even[v] += next * next;
            y[v] = next;
        }
    }
    *to = sums;
}

/* Adds step k's terms to the sums of all times; own is the diagonal of S. */
static void add_terms(const struct heat_diagonal_args *a, int64_t k, const struct moments *m, const dvec *own,
                      double *sum)
{
    const float *odd = row_of(a->odd, k), *even = row_of(a->even, k);
    for (int64_t t = 0; t < a->h.cols; t++)
        for (int v = 0; v < VECTORS; v++)
            row_at(sum, t)[v] +=
                (m->odd[v] * 2.0 - own[v]) * (double)odd[t] + (m->even[v] * 2.0 - 1.0) * (double)even[t];
}

/* The initial vectors of a block, 1 at each of its nodes. */
static void block_open(const struct ball_graph *g, struct space *s, int64_t first, int64_t columns,
                       int64_t times)
{
    ball_open(g, &s->ball, first, columns);
    for (int64_t c = 0; c < columns; c++)
        s->x[(first + c) * COLUMNS + c] = 1;
    memset(s->sum, 0, (size_t)(times * COLUMNS) * sizeof *s->sum);
}

static void block_close(struct space *s)
{
    for (int64_t m = 0; m < s->ball.count; m++) {
        int64_t node = s->ball.node[m];
        memset(s->x + node * COLUMNS, 0, COLUMNS * sizeof *s->x);
        memset(s->y + node * COLUMNS, 0, COLUMNS * sizeof *s->y);
        s->ball.inside[node] = 0;
    }
}

static void block_diagonal(const struct heat_diagonal_args *a, const struct ball_graph *g, struct space *s,
                           int64_t first)
{
    int64_t columns = min_of(COLUMNS, g->nodes - first), times = a->h.cols, flops = 0;
    struct moments m, begin = {0};
    block_open(g, s, first, columns, times);
    for (int64_t k = 0; k < a->odd.rows; k++) {
        ball_grow(g, &s->ball);
        step(g, s, k ? 2 * a->scale : a->scale, k ? 2 : 1, k ? 1 : 0, &m);
        if (k == 0)
            begin = m;
        add_terms(a, k, &m, begin.odd, s->sum);
        flops += s->ball.edges + (k ? 10 : 8) * s->ball.count + 4 + 4 * times;
        double *x = s->x;
        s->x = s->y;
        s->y = x;
    }
    for (int64_t c = 0; c < columns; c++) {
        for (int64_t t = 0; t < times; t++)
            row_of(a->h, first + c)[t] = (float)s->sum[t * COLUMNS + c];
        ((int64_t *)a->work.data)[(first + c) * a->work.ld] = flops;
    }
    block_close(s);
}

/* Scratch: the order of the nodes, then the threads' parts. */
static int64_t vectors_bytes(int64_t nodes)
{
    return nodes * COLUMNS * (int64_t)sizeof(double);
}

static int64_t space_bytes(int64_t nodes, int64_t times)
{
    return 2 * vectors_bytes(nodes) + vectors_bytes(times) + float_bytes(nodes + 1) + round_up(nodes, 64);
}

int64_t CPU(heat_diagonal_scratch)(const void *args)
{
    const struct heat_diagonal_args *a = args;
    return float_bytes(a->h.rows) + a->call.threads * space_bytes(a->h.rows, a->h.cols);
}

static struct space space_of(const struct heat_diagonal_args *a, int thread)
{
    int64_t nodes = a->h.rows, times = a->h.cols, vectors = vectors_bytes(nodes);
    char *at = (char *)a->call.scratch + float_bytes(nodes) + thread * space_bytes(nodes, times);
    struct space s = {.x = (double *)(void *)at, .y = (double *)(void *)(at + vectors)};
    s.sum = (double *)(void *)(at + 2 * vectors);
    s.ball.node = (int32_t *)(void *)(at + 2 * vectors + vectors_bytes(times));
    s.ball.inside = (uint8_t *)s.ball.node + float_bytes(nodes + 1);
    memset(at, 0, (size_t)(2 * vectors));
    memset(s.ball.inside, 0, (size_t)nodes);
    return s;
}

void CPU(heat_diagonal)(const void *args)
{
    const struct heat_diagonal_args *a = args;
    struct ball_graph g = ball_graph_of(a->adj, a->h.rows);
    g.order = a->call.scratch;
#pragma omp parallel num_threads((int)min_of(a->call.threads, blocks_of(g.nodes, COLUMNS)))
    {
        struct space s = space_of(a, omp_get_thread_num());
#pragma omp for schedule(static)
        for (int64_t first = 0; first < g.nodes; first += WINDOW)
            order_window(&g, first);
#pragma omp for schedule(dynamic) nowait
        for (int64_t first = 0; first < g.nodes; first += COLUMNS)
            if (!is_cancelled(a->call.cancel))
                block_diagonal(a, &g, &s, first);
    }
}
