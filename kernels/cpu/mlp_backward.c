/*
 * Backward of two linear layers with an activation in between:
 *
 *   z = x up' + b, h = act(z)    dz = dy down * act'(z)    dx (+)= dz up
 *   dup (+)= dz' x               ddown (+)= dy' h          db, dc (+)= sums of dz, dy over rows
 *
 * x and dy: N x D, up: M x D, down: D x M. A block of rows goes through all five products: z and dh = dy down
 * by strips of GEMM_COLS columns, which become h and dz in the first-level cache; then dx, dup and ddown from
 * these panels, which never leave the second-level cache. The strips of h are what the product with it takes
 * as packed.
 *
 * A task is a part of the rows, with sums of its own of the gradients of the weights, which are added in
 * order. The number of parts depends on the shape alone.
 */
#include "kernels/cpu/activation.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/tasks.h"

#include <string.h>

enum {
    ROWS = 96,       /* of a block: a multiple of all GEMM_ROWS, and less than GEMM_DEPTH */
    PART_ROWS = 48,  /* of a part, at least, */
    MANY_ROWS = 128, /* unless there are FEW_PARTS already */
    FEW_PARTS = 2,
    PARTS = 16
};

/* The gradients of the weights, or a part of their sums. */
struct sums {
    struct mat dup, db, ddown, dc;
};

struct network {
    const struct mlp_backward_args *a;
    int parts;
    struct task_queue *queues;
    float *up_of_x, *down_of_dy, *up_of_dz; /* packed weights */
    float *accumulators, *workspaces;
    int64_t per_part, per_thread; /* floats */
};

/* The panels of a block. */
struct panels {
    float *z, *dh; /* a strip */
    float *h, *x;  /* packed, as the right operands of products over rows */
    float *dz;
    int64_t ld; /* of dz: not a power of two, whose rows would share sets of a cache */
};

/* A power of two, so that few threads have equal shares. */
static int parts_of(int64_t rows)
{
    int parts = 1;
    while (parts < PARTS && rows >= 2 * parts * (parts < FEW_PARTS ? PART_ROWS : MANY_ROWS))
        parts *= 2;
    return parts;
}

static struct panels panels_of(const struct mlp_backward_args *a, float *work, int64_t *count)
{
    int64_t d = a->x.cols, m = a->up.rows;
    struct panels p = {.ld = round_up(m, 16) + 16};
    int64_t sizes[] = {ROWS * GEMM_COLS, ROWS * GEMM_COLS, gemm_packed_size(ROWS, m),
                       gemm_packed_size(ROWS, d), ROWS * p.ld};
    float **parts[] = {&p.z, &p.dh, &p.h, &p.x, &p.dz};
    *count = 0;
    for (int i = 0; i < 5; i++) {
        *parts[i] = work ? work + *count : NULL;
        *count += round_up(sizes[i], 16);
    }
    return p;
}

/* Lays out the scratch buffer; `bytes` is its size. */
static struct network network_of(const struct mlp_backward_args *a, int64_t *bytes)
{
    int64_t d = a->x.cols, m = a->up.rows;
    struct network n = {.a = a, .parts = parts_of(a->dy.rows), .per_part = 2 * m * d + m + d};
    panels_of(a, NULL, &n.per_thread);
    n.per_thread += GEMM_GAP;
    float *queues;
    const struct scratch_part parts[] = {{&queues, task_queues_size(a->call.threads)},
                                         {&n.up_of_x, gemm_packed_size(d, m)},
                                         {&n.down_of_dy, gemm_packed_size(d, m)},
                                         {&n.up_of_dz, gemm_packed_size(m, d) + GEMM_GAP},
                                         {&n.accumulators, n.parts > 1 ? n.parts * n.per_part : 0},
                                         {&n.workspaces, n.per_thread * a->call.threads}};
    *bytes = 4 * SCRATCH(a->call.scratch, parts);
    n.queues = (struct task_queue *)(void *)queues;
    return n;
}

static struct mat matrix(float *data, int64_t rows, int64_t cols)
{
    return (struct mat){.data = data, .rows = rows, .cols = cols, .ld = cols};
}

static struct sums sums_of(const struct network *n, int part)
{
    const struct mlp_backward_args *a = n->a;
    int64_t d = a->x.cols, m = a->up.rows;
    float *at = n->accumulators + part * n->per_part;
    if (n->parts == 1)
        return (struct sums){a->dup, a->db, a->ddown, a->dc};
    return (struct sums){matrix(at, m, d), matrix(at + 2 * m * d, 1, m), matrix(at + m * d, d, m),
                         matrix(at + 2 * m * d + m, 1, d)};
}

/* h = act(z + b) and dz = dh * act'(z + b) for one strip; z, dh and h have `width` columns. */
static inline __attribute__((always_inline)) void strip(int act, int64_t rows, int64_t cols, int64_t width,
                                                        const float *restrict z, const float *restrict dh,
                                                        const float *restrict b, float *restrict h,
                                                        float *restrict dz, int64_t ld)
{
    for (int64_t i = 0; i < rows; i++, z += width, dh += width, h += width, dz += ld) {
#pragma omp simd
        for (int64_t j = 0; j < cols; j++) {
            float x = z[j] + b[j];
            h[j] = activation(act, x);
            dz[j] = activation_backward(act, x, dh[j]);
        }
    }
}

static void activate_strip(int act, int64_t rows, int64_t cols, int64_t width, const struct panels *p,
                           const float *b, float *h, float *dz)
{
    switch (act) {
    case ACT_GELU:
        strip(ACT_GELU, rows, cols, width, p->z, p->dh, b, h, dz, p->ld);
        break;
    case ACT_GELU_TANH:
        strip(ACT_GELU_TANH, rows, cols, width, p->z, p->dh, b, h, dz, p->ld);
        break;
    case ACT_RELU:
        strip(ACT_RELU, rows, cols, width, p->z, p->dh, b, h, dz, p->ld);
        break;
    default:
        strip(ACT_NONE, rows, cols, width, p->z, p->dh, b, h, dz, p->ld);
    }
}

static void add_columns(int64_t rows, const float *from, int64_t ld, struct mat to)
{
    float *sum = row_of(to, 0);
    if (!to.acc)
        memset(sum, 0, (size_t)to.cols * sizeof(float));
    for (int64_t i = 0; i < rows; i++, from += ld) {
#pragma omp simd
        for (int64_t j = 0; j < to.cols; j++)
            sum[j] += from[j];
    }
}

/* Rows i .. of z, h and dz. */
static void hidden(const struct network *n, int64_t i, int64_t rows, const struct panels *p)
{
    const struct mlp_backward_args *a = n->a;
    int64_t d = a->x.cols, m = a->up.rows;
    struct gemm_in x = gemm_in(row_of(a->x, i), a->x.ld), dy = gemm_in(row_of(a->dy, i), a->dy.ld);
    for (int64_t j = 0; j < m; j += GEMM_COLS) {
        int64_t cols = min_of(GEMM_COLS, m - j), width = round_up(cols, GEMM_LANES);
        gemm_packed(rows, cols, d, x, n->up_of_x + j * d, p->z, width, false);
        gemm_packed(rows, cols, d, dy, n->down_of_dy + j * d, p->dh, width, false);
        activate_strip(a->act, rows, cols, width, p, row_of(a->b, 0) + j, p->h + j * rows, p->dz + j);
    }
}

static void block(const struct network *n, int64_t i, int64_t rows, struct sums s, const struct panels *p)
{
    const struct mlp_backward_args *a = n->a;
    int64_t d = a->x.cols, m = a->up.rows;
    hidden(n, i, rows, p);
    gemm_packed(rows, d, m, gemm_in(p->dz, p->ld), n->up_of_dz, row_of(a->dx, i), a->dx.ld, a->dx.acc);
    gemm_pack(rows, d, gemm_in(row_of(a->x, i), a->x.ld), p->x);
    gemm_packed(m, d, rows, gemm_transposed(p->dz, p->ld), p->x, row_of(s.dup, 0), s.dup.ld, s.dup.acc);
    gemm_packed(d, m, rows, gemm_transposed(row_of(a->dy, i), a->dy.ld), p->h, row_of(s.ddown, 0), s.ddown.ld,
                s.ddown.acc);
    add_columns(rows, p->dz, p->ld, s.db);
    add_columns(rows, row_of(a->dy, i), a->dy.ld, s.dc);
}

/* The first row of a part, a multiple of the height of a tile. */
static int64_t part_first(const struct network *n, int part)
{
    int64_t rows = n->a->dy.rows;
    return part == n->parts ? rows : rows * part / n->parts / GEMM_ROWS * GEMM_ROWS;
}

static void run_part(const void *network, int64_t t, void *work)
{
    const struct network *n = network;
    int part = (int)t;
    int64_t count, end = part_first(n, part + 1);
    struct panels p = panels_of(n->a, work, &count);
    struct sums s = sums_of(n, part);
    for (int64_t i = part_first(n, part); i < end; i += ROWS) {
        block(n, i, min_of(ROWS, end - i), s, &p);
        s.dup.acc = s.db.acc = s.ddown.acc = s.dc.acc = true;
    }
}

static void pack(const struct network *n, int64_t j)
{
    const struct mlp_backward_args *a = n->a;
    int64_t d = a->x.cols, m = a->up.rows, cols = min_of(GEMM_COLS, m - j);
    gemm_pack(d, cols, gemm_transposed(row_of(a->up, j), a->up.ld), n->up_of_x + j * d);
    gemm_pack(d, cols, gemm_in(row_of(a->down, 0) + j, a->down.ld), n->down_of_dy + j * d);
}

/* Row i of dup and then of ddown, or after these db or dc: the sum of the parts'. */
static void add_parts(const struct network *n, int64_t i)
{
    const struct mlp_backward_args *a = n->a;
    int64_t d = a->x.cols, m = a->up.rows;
    struct sums first = sums_of(n, 0);
    struct mat out = i < m ? a->dup : i < m + d ? a->ddown : i == m + d ? a->db : a->dc;
    struct mat in = i < m ? first.dup : i < m + d ? first.ddown : i == m + d ? first.db : first.dc;
    int64_t row = i < m ? i : i < m + d ? i - m : 0;
    add_accumulators(out.cols, row_of(out, row), out.acc, row_of(in, row), n->parts, n->per_part);
}

void CPU(mlp_backward)(const void *args)
{
    const struct mlp_backward_args *a = args;
    int64_t bytes, d = a->x.cols, m = a->up.rows;
    struct network n = network_of(a, &bytes);
    int threads = threads_for(&a->call, a->dy.rows * m * d, 1 << 14);
#pragma omp parallel num_threads(threads)
    {
        float *work = n.workspaces + omp_get_thread_num() * n.per_thread;
#pragma omp for schedule(static) nowait
        for (int64_t j = 0; j < m; j += GEMM_COLS)
            pack(&n, j);
#pragma omp for schedule(static) nowait
        for (int64_t j = 0; j < d; j += GEMM_COLS)
            gemm_pack(m, min_of(GEMM_COLS, d - j), gemm_in(row_of(a->up, 0) + j, a->up.ld),
                      n.up_of_dz + j * m);
        tasks_run(n.queues, n.parts, &n, work, run_part);
        if (n.parts > 1) {
#pragma omp for schedule(static) nowait
            for (int64_t i = 0; i < m + d + 2; i++)
                add_parts(&n, i);
        }
    }
}

int64_t CPU(mlp_backward_scratch)(const void *args)
{
    int64_t bytes;
    network_of(args, &bytes);
    return bytes;
}
