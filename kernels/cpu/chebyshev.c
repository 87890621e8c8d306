/*
 * Chebyshev polynomials of the Laplacian, applied to a block of columns; kernels/ref/chebyshev.c has the
 * mathematics. All steps are in one parallel region.
 *
 * The threads share the rows, and a thread has the same tasks in every step and every call, so much of what
 * it reads it wrote itself in the step before. Where neighbours are anywhere in the graph, that is not so:
 * half of the block, or more, would move between the cores in each step. If a core's own cache holds enough
 * columns for it, each thread has columns instead, in panels of its own in scratch.
 */
#include "kernels/cpu/barrier.h"
#include "kernels/cpu/laplacian.h"

#include <omp.h>
#include <string.h>

enum {
    NARROW = 8,    /* columns of the narrowest panel */
    OWN = 1 << 18, /* floats of a panel's two vectors: a core's own cache holds so many */
    SEEN = 256     /* rows by which a graph is judged */
};

/* The calling thread's tasks. Returns whether one of them begins within a hub. */
static bool step_tasks(const struct step *s, int thread, int threads)
{
    int64_t t = s->tasks.count * thread / threads, end = s->tasks.count * (thread + 1) / threads;
    struct edge_piece first = edge_first(&s->tasks, t);
    bool hubs = false;
    for (; t < end; t++) {
        hubs = hubs || !first.begins;
        first = step_task(s, t, first);
    }
    return hubs;
}

static void add_hubs(const struct step *s, int thread, int threads)
{
    int64_t t = s->tasks.count * thread / threads, end = s->tasks.count * (thread + 1) / threads;
    for (; t < end; t++)
        add_parts(s, t);
}

/* What the threads of a call share: whether there are hubs, and the step after which to stop. */
struct team {
    struct barrier barrier;
    atomic_bool hubs;
    atomic_int last;
};

/* Step m. The last one writes y, the one before z, and so on in turns. */
static void choose_operands(const struct chebyshev_args *a, struct step *s, int m)
{
    bool last = (a->degree - m) % 2 == 0;
    struct mat own = last ? a->y : a->z, other = last ? a->z : a->y, none = {.data = s->zeros};
    s->x = m == 1 ? a->x : other;
    s->y = own;
    s->old = m == 1 ? none : m == 2 ? a->x : own;
    s->alpha = (float)((m == 1 ? 1 : 2) * a->alpha);
    s->beta = (float)((m == 1 ? 1 : 2) * a->beta);
}

/* The share of thread `thread` in all steps. */
static void take_steps(const struct chebyshev_args *a, struct step s, struct team *team, int thread,
                       int threads)
{
    for (int m = 1; m <= atomic_load(&team->last); m++) {
        choose_operands(a, &s, m);
        if (step_tasks(&s, thread, threads))
            atomic_store(&team->hubs, true);
        if (thread == 0 && is_cancelled(a->call.cancel))
            atomic_store(&team->last, m);
        barrier_wait(&team->barrier, threads);
        if (!atomic_load(&team->hubs))
            continue;
        add_hubs(&s, thread, threads);
        barrier_wait(&team->barrier, threads);
    }
}

/* Whether many neighbours are far away in the order of the nodes. */
static bool neighbours_far(const struct chebyshev_args *a)
{
    const int64_t *row = a->adj.row.data, n = a->x.rows;
    const int32_t *col = a->adj.col.data;
    int far = 0;
    for (int64_t k = 0; k < SEEN; k++) {
        int64_t i = n * k / SEEN, distance = row[i] < row[i + 1] ? col[row[i]] - i : 0;
        far += 4 * (distance < 0 ? -distance : distance) > n;
    }
    return 4 * far > SEEN;
}

/* The columns of a thread's panel; 0 if they do not fit. */
static int64_t panel_width(const struct chebyshev_args *a)
{
    int64_t threads = a->call.threads, width = a->x.cols / threads / NARROW * NARROW;
    bool fits = threads > 1 && width && a->x.cols % width == 0 && 2 * a->x.rows * width <= OWN;
    return fits ? width : 0;
}

/* Floats of scratch before the panels: zeros, and parts of rows. */
static int64_t zeros_size(const struct chebyshev_args *a)
{
    return float_bytes(a->x.cols) / 4;
}

static int64_t parts_size(const struct chebyshev_args *a)
{
    return float_bytes(edge_tasks(a->adj.row, a->adj.col).count * a->x.cols) / 4;
}

/* The panels that begin at column k: of y, and after all those of z. */
static struct mat panel_of(const struct chebyshev_args *a, bool z, int64_t k)
{
    int64_t n = a->x.rows, w = panel_width(a), at = zeros_size(a) + parts_size(a) + n * (k + z * a->x.cols);
    return (struct mat){.data = (float *)a->call.scratch + at, .rows = n, .cols = w, .ld = w, .dtype = F32};
}

static void copy_rows(struct mat to, struct mat from, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; i++)
        memcpy(row_of(to, i), row_of(from, i), (size_t)to.cols * sizeof(float));
}

/* The copies are shared by rows, as in other ops. The input is where the second step writes. */
static void run_panels(const struct chebyshev_args *a, struct step s, struct barrier *barrier)
{
    int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    int64_t n = a->x.rows, first = row_share(n, thread, threads), end = row_share(n, thread + 1, threads);
    int64_t d = a->x.cols, width = panel_width(a);
    for (int64_t k = 0; k < d; k += width)
        copy_rows(panel_of(a, a->degree % 2, k), mat_cols(a->x, k, width), first, end);
    barrier_wait(barrier, threads);
    for (int64_t k = thread * width; k < d; k += threads * width) {
        struct chebyshev_args own = *a;
        struct team alone = {.last = a->degree};
        struct step share = s;
        share.parts += s.tasks.count * k;
        own.y = panel_of(a, false, k);
        own.z = panel_of(a, true, k);
        own.x = a->degree % 2 ? own.z : own.y;
        take_steps(&own, share, &alone, 0, 1);
    }
    barrier_wait(barrier, threads);
    for (int64_t k = 0; k < d; k += width) {
        copy_rows(mat_cols(a->y, k, width), panel_of(a, false, k), first, end);
        copy_rows(mat_cols(a->z, k, width), panel_of(a, true, k), first, end);
    }
}

static void run_rows(const struct chebyshev_args *a, struct step s, struct team *team)
{
    int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    int64_t n = a->x.rows, first = row_share(n, thread, threads), end = row_share(n, thread + 1, threads);
    take_steps(a, s, team, thread, threads);
    if (a->degree == 1)
        copy_rows(a->z, a->x, first, end);
}

void CPU(chebyshev)(const void *args)
{
    const struct chebyshev_args *a = args;
    struct step s = {.tasks = edge_tasks(a->adj.row, a->adj.col),
                     .q = a->q,
                     .w = a->w,
                     .zeros = a->call.scratch,
                     .parts = (float *)a->call.scratch + zeros_size(a),
                     .near = 2 * mat_size(a->x) <= NEAR};
    int64_t entries = (s.tasks.nodes + s.tasks.edges) * a->x.cols;
    int threads = threads_for(&a->call, a->degree * entries, 1 << 17);
    bool panels = threads > 1 && a->degree > 1 && panel_width(a) && neighbours_far(a);
    struct team team = {.last = a->degree};
    memset(s.zeros, 0, (size_t)a->x.cols * sizeof *s.zeros);
#pragma omp parallel num_threads(threads)
    if (panels)
        run_panels(a, s, &team.barrier);
    else
        run_rows(a, s, &team);
}

int64_t CPU(chebyshev_scratch)(const void *args)
{
    const struct chebyshev_args *a = args;
    int64_t panels = panel_width(a) ? 2 * mat_size(a->x) : 0;
    return float_bytes(zeros_size(a) + parts_size(a) + panels);
}
