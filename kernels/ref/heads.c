/*
 * The exchange between nodes and heads that dense attention over all ranks needs (Jacobs et al., "DeepSpeed
 * Ulysses", 2023): of its nodes a rank sends each other one the columns of that one's heads, and receives the
 * columns of its own heads for all nodes; after attention the other way round. A rank alone has all.
 */
#include "kernels/ref/exchange.h"

#ifdef REF_COUNT

static void scatter(const struct scatter_heads_start_args *)
{
}

static void gather(const struct gather_heads_start_args *)
{
}

static void unpack(const struct gather_heads_wait_args *)
{
}

static void finish(const struct call *, struct mat)
{
}

#else

/* The columns of the heads of rank p of `ranks`. */
static struct rows columns_of(int heads, int64_t d, int p, int ranks)
{
    int64_t width = d / heads;
    struct rows columns = {width * rank_first_head(heads, p, ranks),
                           width * rank_first_head(heads, p + 1, ranks)};
    return columns;
}

struct sizes {
    const struct ranks *ranks; /* null: one */
    const int64_t *first;      /* node of each rank */
    int64_t nodes, d;          /* of this rank; columns of all heads */
    int heads;
};

static int count_of(const struct sizes *s)
{
    return s->ranks ? s->ranks->count : 1;
}

/* Elements of blocks with the nodes of this rank and the heads of those before p. */
static int64_t own_nodes_at(const void *sizes, int p)
{
    const struct sizes *s = sizes;
    return s->nodes * columns_of(s->heads, s->d, p, count_of(s)).first;
}

/* Elements of blocks with the heads of this rank and the nodes of those before p. */
static int64_t own_heads_at(const void *sizes, int p)
{
    const struct sizes *s = sizes;
    struct rows own = columns_of(s->heads, s->d, s->ranks->rank, s->ranks->count);
    return s->first[p] * (own.end - own.first);
}

/* Copies between the rows of x and the blocks of the ranks' heads. */
static void move_blocks(const struct sizes *s, struct mat x, real *blocks, bool pack)
{
    for (int p = 0; p < count_of(s); p++) {
        struct rows columns = columns_of(s->heads, s->d, p, count_of(s));
        size_t bytes = (size_t)(columns.end - columns.first) * sizeof(real);
        real *block = blocks + s->nodes * columns.first;
        for (int64_t i = 0; i < s->nodes; i++) {
            real *row = real_at(x, i, columns.first);
            memcpy(pack ? block : row, pack ? row : block, bytes);
            block += columns.end - columns.first;
        }
    }
}

static void begin(const struct sizes *s, bool scatters, void *to, const void *from, struct mat request)
{
    int64_t *nodes = byte_bounds(s->ranks, sizeof(real), own_nodes_at, s);
    int64_t *heads = byte_bounds(s->ranks, sizeof(real), own_heads_at, s);
    s->ranks->exchange_start(s->ranks, to, scatters ? heads : nodes, from, scatters ? nodes : heads,
                             index_at(request, 0, 0));
    free(nodes);
    free(heads);
}

static void scatter(const struct scatter_heads_start_args *a)
{
    struct sizes s = {a->call.ranks, (const int64_t *)a->first.data, a->nodes, a->x.cols, a->heads};
    move_blocks(&s, a->x, (real *)a->packed.data, true);
    if (s.ranks)
        begin(&s, true, a->y.data, a->packed.data, a->request);
    else
        memcpy(a->y.data, a->packed.data, (size_t)mat_bytes(a->y));
}

static void gather(const struct gather_heads_start_args *a)
{
    struct sizes s = {a->call.ranks, (const int64_t *)a->first.data, a->nodes, a->got.cols, a->heads};
    if (s.ranks)
        begin(&s, false, a->got.data, a->x.data, a->request);
    else
        memcpy(a->got.data, a->x.data, (size_t)mat_bytes(a->x));
}

static void unpack(const struct gather_heads_wait_args *a)
{
    struct sizes s = {a->call.ranks, NULL, a->nodes, a->y.cols, a->heads};
    move_blocks(&s, a->y, (real *)a->got.data, false);
    for (int64_t i = a->nodes; i < a->y.rows; i++)
        memset(real_at(a->y, i, 0), 0, (size_t)a->y.cols * sizeof(real));
}

static void finish(const struct call *call, struct mat request)
{
    if (call->ranks)
        call->ranks->wait(call->ranks, index_at(request, 0, 0));
}

#endif

REF(scatter_heads_start, 0)
{
    scatter(a);
}

REF(scatter_heads_wait, 0)
{
    finish(&a->call, a->request);
}

REF(gather_heads_start, 0)
{
    gather(a);
}

REF(gather_heads_wait, 0)
{
    finish(&a->call, a->request);
    unpack(a);
}
