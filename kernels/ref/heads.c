/*
 * The exchange between nodes and heads that dense attention over all ranks needs (Jacobs et al., "DeepSpeed
 * Ulysses", 2023): of its nodes a rank sends each other one the columns of that one's heads, and receives the
 * columns of its own heads for all nodes; after attention the other way round. A rank alone has all.
 */
#include "kernels/ref/exchange.h"

#ifdef REF_COUNT

static void scatter(const struct scatter_heads_args *)
{
}

static void gather(const struct gather_heads_args *)
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

/* Copies between the rows of x and the blocks of the ranks' heads, one after another. */
static void move_blocks(const struct sizes *s, struct mat x, char *block, bool pack)
{
    for (int p = 0; p < count_of(s); p++) {
        struct rows columns = columns_of(s->heads, s->d, p, count_of(s));
        size_t bytes = (size_t)(columns.end - columns.first) * dtype_size(x.dtype);
        for (int64_t i = 0; i < s->nodes; i++, block += bytes) {
            char *row = place(x, i, columns.first);
            memcpy(pack ? block : row, pack ? row : block, bytes);
        }
    }
}

/* Blocks with the nodes of this rank become those with its heads, or, unless `scatters`, the reverse. */
static void exchange(const struct sizes *s, bool scatters, struct mat to, struct mat from)
{
    int64_t request, size = (int64_t)dtype_size(to.dtype);
    if (!s->ranks) {
        int64_t both = mat_size(to) < mat_size(from) ? mat_size(to) : mat_size(from);
        memset(to.data, 0, (size_t)mat_bytes(to));
        memcpy(to.data, from.data, (size_t)(both * size));
        return;
    }
    int64_t *nodes = byte_bounds(s->ranks, size, own_nodes_at, s);
    int64_t *heads = byte_bounds(s->ranks, size, own_heads_at, s);
    s->ranks->exchange_start(s->ranks, to.data, scatters ? heads : nodes, from.data, scatters ? nodes : heads,
                             &request);
    s->ranks->wait(s->ranks, &request);
    free(nodes);
    free(heads);
}

static void scatter(const struct scatter_heads_args *a)
{
    struct sizes s = {a->call.ranks, (const int64_t *)a->first.data, a->nodes, a->x.cols, a->heads};
    struct mat packed = scratch_row(a->call, 0, mat_size(a->x));
    packed.dtype = a->x.dtype;
    move_blocks(&s, a->x, (char *)packed.data, true);
    exchange(&s, true, a->y, packed);
}

static void gather(const struct gather_heads_args *a)
{
    struct sizes s = {a->call.ranks, (const int64_t *)a->first.data, a->nodes, a->y.cols, a->heads};
    struct mat got = scratch_row(a->call, 0, mat_size(a->y));
    got.dtype = a->x.dtype;
    exchange(&s, false, got, a->x);
    move_blocks(&s, a->y, (char *)got.data, false);
    for (int64_t i = a->nodes; i < a->y.rows; i++)
        memset(place(a->y, i, 0), 0, (size_t)a->y.cols * dtype_size(a->y.dtype));
}

#endif

REF(scatter_heads, mat_size(a->x))
{
    scatter(a);
}

REF(gather_heads, mat_size(a->y))
{
    gather(a);
}
