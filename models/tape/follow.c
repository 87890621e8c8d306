/*
 * One program on several ranks. Rank 0 decides everything: whether and when to initialise, to run, to stop.
 * The others have recorded the same ops over their parts of the batch, so that storages have the same
 * numbers, and do what it tells them.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/ranks.h"
#include "models/tape/tape_internal.h"

struct order {
    enum order_kind kind;
    int number; /* of the matrix it is about, among those that are kept or, to spread it, are state */
};

static void send_order(const struct tape *t, struct order o)
{
    if (t->leads)
        t->config.part.ranks->broadcast(t->config.part.ranks, &o, sizeof o);
}

void order(const struct tape *t, enum order_kind kind)
{
    send_order(t, (struct order){.kind = kind});
}

static void order_kept(const struct tape *t, enum order_kind kind, struct mat m)
{
    struct order o = {.kind = kind};
    while (o.number < t->kept_count && t->kept[o.number].storage != m.storage)
        o.number++;
    if (o.number == t->kept_count)
        tape_contract("what is gathered from all ranks must be kept");
    send_order(t, o);
}

void tape_lead(struct tape *t)
{
    t->leads = t->config.part.ranks != NULL;
}

/* The rows of m that count: a rank whose loss has no share has only placeholders. */
static struct mat own_rows(const struct tape *t, struct mat m)
{
    m = tape_view(t, m);
    m.rows = t->config.part.share > 0 ? m.rows : 0;
    return m;
}

/* Where each rank's bytes begin, from the bytes of each; ranks + 1 entries. */
static void sum_up(int64_t *at, int ranks)
{
    int64_t total = 0;
    for (int p = 0; p <= ranks; p++) {
        int64_t bytes = p < ranks ? at[p] : 0;
        at[p] = total;
        total += bytes;
    }
}

/* Sends everything to rank 0, where `to` receives what begins at to_at. */
static void send_rows(const struct ranks *r, void *to, const int64_t *to_at, struct mat m)
{
    size_t row = (size_t)m.cols * dtype_size(m.dtype), step = (size_t)m.ld * dtype_size(m.dtype);
    int64_t request, *from_at = calloc((size_t)r->count + 1, sizeof *from_at);
    char *from = malloc((size_t)m.rows * row + 1);
    if (!from_at || !from)
        abort();
    for (int64_t i = 0; i < m.rows; i++)
        memcpy(from + (size_t)i * row, (char *)m.data + (size_t)i * step, row);
    for (int p = 1; p <= r->count; p++)
        from_at[p] = m.rows * (int64_t)row;
    r->exchange_start(r, to, to_at, from, from_at, &request);
    r->wait(r, &request);
    free(from);
    free(from_at);
}

/* The part of every rank in tape_gather; absent but on rank 0. */
static struct mat gather(const struct tape *t, struct mat m)
{
    const struct ranks *r = t->config.part.ranks;
    struct mat own = own_rows(t, m), all = own;
    int64_t *at = calloc((size_t)r->count + 1, sizeof *at), bytes = mat_bytes(own);
    if (!at)
        abort();
    r->gather(r, r->rank == 0 ? at : NULL, &bytes, sizeof bytes);
    sum_up(at, r->count);
    all.ld = all.cols;
    all.rows = at[r->count] / (all.cols * (int64_t)dtype_size(all.dtype));
    all.data = malloc((size_t)at[r->count] + 1);
    if (!all.data)
        abort();
    send_rows(r, all.data, at, own);
    free(at);
    if (r->rank == 0)
        return all;
    free(all.data);
    return (struct mat){0};
}

/* The part of every rank in tape_gather_loss. */
static double sum_loss(const struct tape *t, struct mat loss)
{
    const struct ranks *r = t->config.part.ranks;
    int64_t request;
    double sum = t->config.part.share > 0 ? t->config.part.share * mat_get(tape_view(t, loss), 0, 0) : 0;
    r->reduce_start(r, REDUCE_SUM, &sum, 1, F64, &request);
    r->wait(r, &request);
    return sum;
}

/* Puts the rows in the order of one rank. */
static struct mat restore(struct mat m, const int32_t *number)
{
    struct mat y = m;
    size_t row = (size_t)mat_bytes(m) / (size_t)m.rows;
    y.data = malloc((size_t)mat_bytes(m));
    if (!y.data)
        abort();
    for (int64_t i = 0; i < m.rows; i++)
        memcpy((char *)y.data + (size_t)i * row, (char *)m.data + (size_t)number[i] * row, row);
    free(m.data);
    return y;
}

struct mat tape_gather(const struct tape *t, struct mat m)
{
    order_kept(t, ORDER_GATHER, m);
    m = gather(t, m);
    return t->config.part.number ? restore(m, t->config.part.number) : m;
}

double tape_gather_loss(const struct tape *t, struct mat loss)
{
    order_kept(t, ORDER_LOSS, loss);
    return sum_loss(t, loss);
}

static uint64_t hash_parameters(const struct tape *t)
{
    uint64_t hash = 0;
    for (int i = 0; i < tape_parameter_count(t); i++) {
        struct mat m = tape_parameter(t, i, NULL);
        const unsigned char *bytes = m.data;
        for (int64_t k = 0; k < mat_bytes(m); k++)
            hash = (hash ^ bytes[k]) * UINT64_C(0x100000001b3); /* FNV-1a */
    }
    return hash;
}

/* The part of every rank in tape_replicas_agree, with the answer on rank 0. */
static bool compare_parameters(const struct tape *t)
{
    const struct ranks *r = t->config.part.ranks;
    uint64_t own = hash_parameters(t), *all = calloc((size_t)r->count, sizeof *all);
    bool same = true;
    if (!all)
        abort();
    r->gather(r, r->rank == 0 ? all : NULL, &own, sizeof own);
    for (int p = 0; p < r->count && r->rank == 0; p++)
        same = same && all[p] == own;
    free(all);
    return same;
}

bool tape_replicas_agree(const struct tape *t)
{
    order(t, ORDER_COMPARE);
    return compare_parameters(t);
}

/* The part of every rank in tape_spread: a dense matrix, from rank 0. */
static void spread(const struct tape *t, struct mat m)
{
    const struct ranks *r = t->config.part.ranks;
    r->broadcast(r, tape_view(t, m).data, mat_bytes(m));
}

/* The storage of state number n, from 0. */
static int state_storage(const struct tape *t, int n)
{
    int id = 0;
    while (n >= 0)
        n -= t->storages[++id].category == MEMORY_STATE;
    return id;
}

void tape_spread(const struct tape *t, struct mat m, struct mat from)
{
    tape_write(t, m, from);
    if (!t->leads)
        return;
    struct order o = {.kind = ORDER_SPREAD};
    while (state_storage(t, o.number) != m.storage)
        o.number++;
    send_order(t, o);
    spread(t, m);
}

void tape_follow(struct tape *t)
{
    const struct ranks *r = t->config.part.ranks;
    for (;;) {
        struct order o;
        int id;
        r->broadcast(r, &o, sizeof o);
        switch (o.kind) {
        case ORDER_INIT:
            tape_init(t);
            break;
        case ORDER_RUN:
            tape_run(t);
            break;
        case ORDER_EXCHANGE:
            tape_ready_exchange(t);
            tape_run(t);
            break;
        case ORDER_GATHER:
            gather(t, t->kept[o.number]);
            break;
        case ORDER_LOSS:
            sum_loss(t, t->kept[o.number]);
            break;
        case ORDER_COMPARE:
            compare_parameters(t);
            break;
        case ORDER_SPREAD:
            id = state_storage(t, o.number);
            spread(t, whole_view(&t->storages[id], id));
            break;
        case ORDER_FREE:
            return;
        }
    }
}
