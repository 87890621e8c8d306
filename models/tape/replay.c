/*
 * Replay: the plan's offsets become addresses, and a program is a loop of indirect calls. With a device, the
 * arena is in device memory and calls launch kernels. A captured graph has no ranges: they would mark the
 * capture, not the replays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels/plugin_rows.h"
#include "kernels/ranks.h"
#include "models/tape/ranges.h"
#include "models/tape/tape_internal.h"

struct mat tape_view(const struct tape *t, struct mat m)
{
    if (t->arena && mat_present(m))
        m.data = (char *)t->arena + t->storages[m.storage].offset + m.offset;
    return m;
}

static void point_entry(struct tape *t, struct entry *e)
{
    const struct op_info *info = op_info(e->op);
    for (int i = 0; i < info->operand_count; i++)
        if (operand_is_mat(&info->operands[i])) {
            struct mat *m = operand_mat(&info->operands[i], e->args);
            *m = tape_view(t, *m);
        }
    e->scratch = tape_view(t, e->scratch);
    ((struct call *)e->args)->scratch = e->scratch.data;
    ((struct call *)e->args)->context = t->config.context;
}

static const struct device *device_of(const struct tape *t)
{
    return t->config.backend->device;
}

/* Null when out of memory. */
static void *alloc_arena(const struct tape *t, int64_t bytes)
{
    if (device_of(t)) {
        if (!t->config.context)
            tape_contract("a tape of %s was recorded without a context", t->config.backend->name);
        return device_of(t)->allocate(t->config.context, bytes);
    }
    void *arena = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (arena == MAP_FAILED)
        return NULL;
    /* So that rows taken out of order wait for memory, and not for address translation too. */
    madvise(arena, (size_t)bytes, MADV_HUGEPAGE);
    return arena;
}

void tape_release(struct tape *t)
{
    if (t->graph)
        device_of(t)->graph_free(t->config.context, t->graph);
    if (t->arena && device_of(t))
        device_of(t)->release(t->config.context, t->arena);
    else if (t->arena)
        munmap(t->arena, (size_t)t->plan.arena);
}

bool tape_layout(struct tape *t)
{
    if (!tape_plan(t)->arena)
        return true;
    t->arena = alloc_arena(t, t->plan.arena);
    if (!t->arena)
        return false;
    t->traced = device_of(t) && device_of(t)->traced(t->config.context);
    for (int i = 0; i < t->init.count; i++)
        point_entry(t, &t->init.entries[i]);
    for (int i = 0; i < t->main.count; i++)
        point_entry(t, &t->main.entries[i]);
    return true;
}

void tape_write(const struct tape *t, struct mat m, struct mat from)
{
    size_t bytes = (size_t)mat_size(m) * dtype_size(m.dtype);
    struct mat to = tape_view(t, m), on_host = to;
    if (device_of(t))
        on_host.data = malloc(bytes);
    if (!on_host.data)
        tape_contract("out of memory: %zu bytes", bytes);
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++)
            mat_set(on_host, i, k, mat_get(from, i, k));
    if (device_of(t)) {
        device_of(t)->write(t->config.context, to.data, on_host.data, (int64_t)bytes);
        free(on_host.data);
    }
}

static void load_program(const struct program *p)
{
    for (const struct entry *e = p->entries; e < p->entries + p->count; e++) {
        if (e->kernel->prepare)
            e->kernel->prepare(e->args);
        if (!op_info(e->op)->host)
            e->kernel->run(e->args);
    }
}

void tape_load(const struct tape *t)
{
    if (!device_of(t) || !device_of(t)->load_only)
        return;
    device_of(t)->load_only(t->config.context, true);
    load_program(&t->init);
    load_program(&t->main);
    device_of(t)->load_only(t->config.context, false);
}

bool tape_failed(const struct tape *t)
{
    bool failed = t->config.context && device_of(t)->fault(t->config.context).kind;
    for (int i = 0; i < tape_entry_count(t) && !failed; i++)
        failed = plugin_failed(tape_entry(t, i)->kernel);
    return failed;
}

void *tape_arena(const struct tape *t)
{
    return t->arena;
}

struct mat tape_read(const struct tape *t, struct mat m, void **copy)
{
    m = tape_view(t, m);
    *copy = NULL;
    if (!device_of(t) || !m.data)
        return m;
    int64_t bytes = ((m.rows - 1) * m.ld + m.cols) * (int64_t)dtype_size(m.dtype);
    *copy = malloc((size_t)bytes);
    if (!*copy) {
        fprintf(stderr, "out of memory: %lld bytes\n", (long long)bytes);
        abort();
    }
    device_of(t)->read(t->config.context, *copy, m.data, bytes);
    m.data = *copy;
    return m;
}

void tape_wait(const struct tape *t)
{
    if (device_of(t))
        device_of(t)->wait(t->config.context);
}

static void convert(struct mat to, const float *from)
{
    for (int64_t i = 0; i < mat_size(to); i++)
        mat_set(to, 0, i, (double)from[i]);
}

/* What is converted goes to a device by way of the host. */
static void upload(struct tape *t, const struct storage *s)
{
    void *to = (char *)t->arena + s->offset, *copy = NULL;
    if (s->converted) {
        copy = device_of(t) ? malloc((size_t)s->bytes) : to;
        if (!copy)
            abort();
        convert((struct mat){.data = copy, .rows = 1, .cols = s->rows * s->cols, .dtype = s->dtype}, s->from);
    }
    if (device_of(t))
        device_of(t)->write(t->config.context, to, copy ? copy : s->from, s->bytes);
    else if (!copy)
        memcpy(to, s->from, (size_t)s->bytes);
    if (copy != to)
        free(copy);
}

/* An op that makes one matrix from nothing (orthogonal), which is then copied to the device. */
static void run_on_host(const struct tape *t, const struct entry *e)
{
    struct call *call = e->args;
    struct mat *y = operand_mat(&op_info(e->op)->operands[0], e->args);
    void *there = y->data, *scratch = call->scratch;
    y->data = malloc((size_t)mat_bytes(*y));
    call->scratch = malloc((size_t)(e->kernel->scratch ? e->kernel->scratch(e->args) : 0) + 1);
    if (!y->data || !call->scratch)
        abort();
    e->kernel->run(e->args);
    device_of(t)->write(t->config.context, there, y->data, mat_bytes(*y));
    free(y->data);
    free(call->scratch);
    y->data = there;
    call->scratch = scratch;
}

void tape_init(struct tape *t)
{
    order(t, ORDER_INIT);
    for (int i = 1; i < t->storage_count; i++)
        if (t->storages[i].from && t->storages[i].bytes > 0)
            upload(t, &t->storages[i]);
    for (int i = 0; i < t->init.count; i++) {
        const struct entry *e = &t->init.entries[i];
        if (device_of(t) && op_info(e->op)->host)
            run_on_host(t, e);
        else
            e->kernel->run(e->args);
    }
    for (int i = 0; i < t->main.count; i++) {
        const struct entry *e = &t->main.entries[i];
        if (e->kernel->prepare && !e->prepared)
            e->kernel->prepare(e->args);
    }
}

struct cancel tape_cancel_when(struct tape *t, struct cancel h)
{
    struct cancel before = t->cancel;
    t->cancel = h;
    return before;
}

/* Ranks that wait for one another all finish their replay. */
bool tape_is_cancelled(const struct tape *t)
{
    return !device_of(t) && !t->config.part.ranks && is_cancelled(t->cancel);
}

static void make_ready(struct tape *t, bool exchanges)
{
    order(t, exchanges ? ORDER_EXCHANGE : ORDER_RUN);
    if (t->config.part.ranks)
        t->config.part.ranks->barrier(t->config.part.ranks);
    t->ready = true;
    t->exchanges = exchanges;
}

void tape_ready(struct tape *t)
{
    make_ready(t, false);
}

void tape_ready_exchange(struct tape *t)
{
    make_ready(t, true);
}

static void begin_replay(struct tape *t)
{
    if (!t->ready)
        tape_ready(t);
    t->ready = false;
}

/* A replay is over when all ranks are done with theirs. */
static void end_replay(const struct tape *t)
{
    if (t->config.part.ranks)
        t->config.part.ranks->barrier(t->config.part.ranks);
}

static void run_entries(const struct tape *t)
{
    const struct entry *end = t->main.entries + t->main.count;
    for (const struct entry *e = t->main.entries; e < end && !tape_is_cancelled(t); e++)
        if (!t->exchanges || op_info(e->op)->exchange)
            e->kernel->run(e->args);
}

/* The same with ranges; mark may be null. */
static void run_traced(const struct tape *t, void (*mark)(void *context, int entry), void *context)
{
    struct ranges r = {.device = device_of(t), .context = t->config.context};
    for (int i = 0; i < t->main.count && !tape_is_cancelled(t); i++) {
        const struct entry *e = &t->main.entries[i];
        ranges_move(&r, phase_name(e->phase), e->span);
        e->kernel->run(e->args);
        if (mark)
            mark(context, i);
    }
    ranges_leave(&r);
}

void tape_run(struct tape *t)
{
    begin_replay(t);
    if (t->graph)
        device_of(t)->launch(t->config.context, t->graph);
    else if (t->traced)
        run_traced(t, NULL, NULL);
    else
        run_entries(t);
    end_replay(t);
}

/* The same on the streams of the plan, in a capture: `over` are events. */
static void run_on_streams(const struct tape *t, void **over)
{
    const struct device *d = device_of(t);
    void *context = t->config.context;
    for (int i = 0; i < t->turn_count; i++) {
        const struct stream_place *turn = &t->turns[i];
        const struct entry *e = &t->main.entries[turn->entry];
        d->use_stream(context, turn->stream, turn->part);
        for (int s = 0; s < DEVICE_STREAMS; s++)
            if (turn->after[s] >= 0)
                d->event_await(context, over[turn->after[s]]);
        e->kernel->run(e->args);
        if (turn->awaited)
            d->event_record(context, over[i] = d->event_new(context));
    }
}

void tape_capture(struct tape *t)
{
    const struct device *d = device_of(t);
    void **over = calloc((size_t)t->turn_count + 1, sizeof *over);
    if (!over)
        abort();
    d->capture_begin(t->config.context);
    if (t->turns)
        run_on_streams(t, over);
    else
        run_entries(t);
    t->graph = d->capture_end(t->config.context);
    for (int i = 0; i < t->turn_count; i++)
        if (over[i])
            d->event_free(t->config.context, over[i]);
    free(over);
}

bool tape_captured(const struct tape *t)
{
    return t->graph != NULL;
}

void tape_run_marked(struct tape *t, void (*mark)(void *context, int entry), void *context)
{
    begin_replay(t);
    if (t->traced) {
        run_traced(t, mark, context);
        return;
    }
    for (int i = 0; i < t->main.count && !tape_is_cancelled(t); i++) {
        t->main.entries[i].kernel->run(t->main.entries[i].args);
        if (i + 1 == t->main.count)
            end_replay(t);
        mark(context, i);
    }
}

int tape_entry_count(const struct tape *t)
{
    return t->main.count;
}

const struct entry *tape_entry(const struct tape *t, int index)
{
    return &t->main.entries[index];
}

static int64_t sum(int64_t a, int64_t b)
{
    int64_t total;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &total) ? -1 : total;
}

struct cost cost_add(struct cost a, struct cost b)
{
    return (struct cost){.flops = sum(a.flops, b.flops),
                         .bytes = sum(a.bytes, b.bytes),
                         .written = sum(a.written, b.written),
                         .updated = sum(a.updated, b.updated),
                         .no_reuse = sum(a.no_reuse, b.no_reuse),
                         .sent = sum(a.sent, b.sent),
                         .exps = sum(a.exps, b.exps),
                         .tf32 = sum(a.tf32, b.tf32),
                         .bf16 = sum(a.bf16, b.bf16)};
}

struct cost entry_cost(const struct entry *e)
{
    const struct kernel *k = e->kernel;
    bool rounds = op_has_factors(e->op) && k->bits < 24;
    return (struct cost){.flops = e->flops,
                         .bytes = e->bytes,
                         .written = e->written,
                         .updated = e->updated,
                         .no_reuse = e->no_reuse,
                         .sent = e->sent,
                         .exps = e->exps,
                         .tf32 = rounds && k->dtype != BF16 ? e->flops : 0,
                         .bf16 = rounds && k->dtype == BF16 ? e->flops : 0};
}

struct cost tape_cost(const struct tape *t, enum phase phase)
{
    struct cost cost = {0};
    for (int i = 0; i < t->main.count; i++)
        if (t->main.entries[i].phase == phase)
            cost = cost_add(cost, entry_cost(&t->main.entries[i]));
    return cost;
}

struct cost tape_total(const struct tape *t)
{
    struct cost cost = {0};
    for (enum phase p = 0; p < PHASES; p++)
        cost = cost_add(cost, tape_cost(t, p));
    return cost;
}
