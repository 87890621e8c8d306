/*
 * Recording: an op's operands are bound, storages are created for missing outputs, and an entry is appended
 * to the program.
 *
 * A tape has two programs. `init` fills the persistent storages; `main` is what is measured.
 */
#include "models/tape/tape_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void tape_contract(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "contract: ");
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    abort();
}

const char *category_name(enum category c)
{
    static const char *const names[MEMORY_CATEGORIES] = {
        "parameters", "gradients", "optimizer", "graph", "encodings", "state", "activations", "workspace"};
    return names[c];
}

const char *phase_name(enum phase p)
{
    static const char *const names[PHASES] = {"forward", "backward", "optimizer", "recompute"};
    return names[p];
}

/* The list with capacity for one more. */
static void *grown(void *list, int count, int *capacity, size_t size)
{
    if (count < *capacity)
        return list;
    *capacity = *capacity ? 2 * *capacity : 256;
    list = realloc(list, (size_t)*capacity * size);
    if (!list)
        tape_contract("out of memory for %d entries", *capacity);
    return list;
}

struct tape *tape_new(const struct tape_config *config)
{
    struct arena *metadata = arena_new();
    struct tape *t = arena_alloc(metadata, sizeof *t);
    t->metadata = metadata;
    t->config = *config;
    t->span = "";
    t->storages = grown(NULL, 0, &t->storage_capacity, sizeof *t->storages);
    t->storages[t->storage_count++] = (struct storage){0};
    return t;
}

void tape_free(struct tape *t)
{
    if (!t)
        return;
    order(t, ORDER_FREE);
    tape_release(t);
    free(t->storages);
    free(t->init.entries);
    free(t->main.entries);
    arena_free(t->metadata);
}

const struct tape_config *tape_config(const struct tape *t)
{
    return &t->config;
}

struct mat tape_storage(struct tape *t, enum category category, enum dtype dtype, int64_t rows, int64_t cols,
                        const char *name)
{
    t->storages = grown(t->storages, t->storage_count, &t->storage_capacity, sizeof *t->storages);
    struct storage *s = &t->storages[t->storage_count];
    *s = (struct storage){.name = name, .category = category, .dtype = dtype, .rows = rows, .cols = cols};
    if (__builtin_mul_overflow(rows, cols, &s->bytes) ||
        __builtin_mul_overflow(s->bytes, (int64_t)dtype_size(dtype), &s->bytes))
        s->bytes = BYTES_MOST;
    s->needs_grad = category == MEMORY_PARAMETERS;
    return (struct mat){
        .rows = rows, .cols = cols, .ld = cols, .dtype = dtype, .storage = t->storage_count++};
}

struct mat tape_whole(struct tape *t, enum category category, bool copies)
{
    int64_t elements = 0;
    enum dtype dtype = copies ? BF16 : tape_wide(t);
    for (int i = 1; i < t->storage_count; i++)
        if (t->storages[i].category == category && !t->storages[i].alias && t->storages[i].is_copy == copies)
            elements += t->storages[i].rows * t->storages[i].cols;
    struct mat m = tape_storage(t, category, dtype, 1, elements, NULL);
    t->storages[m.storage].alias = true;
    t->storages[m.storage].is_copy = copies;
    return m;
}

const char *span_path(struct tape *t, const char *name)
{
    size_t outer = strlen(t->span), inner = strlen(name), dot = outer > 0;
    char *path = arena_alloc(t->metadata, outer + dot + inner + 1);
    memcpy(path, t->span, outer);
    if (dot)
        path[outer] = '.';
    memcpy(path + outer + dot, name, inner);
    return path;
}

void span_enter(struct tape *t, const char *name)
{
    t->span = span_path(t, name);
}

void span_leave(struct tape *t)
{
    const char *dot = strrchr(t->span, '.');
    if (!*t->span)
        tape_contract("span_leave: no span is entered");
    t->span = dot ? arena_text(t->metadata, t->span, (size_t)(dot - t->span)) : "";
}

bool depends_on_parameter(const struct tape *t, const struct op_info *info, const void *args)
{
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        if (!operand_is_mat(o) || operand_writes(o))
            continue;
        if (t->storages[operand_mat(o, args)->storage].needs_grad)
            return true;
    }
    return false;
}

/* The dtype of an op's operands; for an op without any, that of the tape's parameters. */
static enum dtype dtype_of(const struct tape *t, enum op op, const void *args)
{
    enum dtype dtype = op_dtype(op, args);
    return dtype == DTYPE_NONE ? t->config.dtype : dtype;
}

static struct mat made(struct tape *t, const struct op_info *info, const struct operand *o, enum dtype dtype,
                       const int64_t dims[DIMS])
{
    int64_t rows = dims[o->rows], cols = dims[o->cols];
    if (rows < 1 || cols < 1)
        tape_contract("%s: %s was left out, and its size cannot be derived", info->name, o->name);
    return tape_storage(t, MEMORY_ACTIVATIONS, operand_dtype(o, dtype), rows, cols, NULL);
}

static void make_outputs(struct tape *t, enum op op, void *args, const int64_t dims[DIMS])
{
    const struct op_info *info = op_info(op);
    enum dtype dtype = dtype_of(t, op, args);
    bool flows = t->phase == PHASE_FORWARD && t->config.training && depends_on_parameter(t, info, args);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        bool empty = o->rows == DIM_E && dims[DIM_E] == 0;
        if (!operand_is_mat(o) || !operand_writes(o) || empty)
            continue;
        struct mat *m = operand_mat(o, args);
        if (!mat_present(*m) && (o->role == ROLE_OUT || (flows && operand_saved(o, args))))
            *m = made(t, info, o, dtype, dims);
        if ((o->role == ROLE_OUT || o->role == ROLE_SAVE) && flows)
            t->storages[m->storage].needs_grad = true;
    }
}

static const struct kernel *kernel_for(struct tape *t, enum op op, const void *args)
{
    unsigned options = op_options(op, args);
    const char *variant = t->config.variant[op][options];
    enum dtype dtype = dtype_of(t, op, args);
    const struct kernel *k = t->kernels[op][options];
    if (k && k->dtype == dtype)
        return k;
    const struct backend *b = t->config.backend;
    if (b->device && op_info(op)->host)
        b = backend_cpu(); /* tape_init copies what it computes */
    t->kernels[op][options] = k = backend_bits_kernel(b, op, options, dtype, t->config.bits, variant);
    if (!k)
        tape_contract("backend %s has no kernel for %s%s%s in %s", t->config.backend->name,
                      op_info(op)->forms[options], variant ? ", variant " : "", variant ? variant : "",
                      dtype_name(dtype));
    return k;
}

/* Whether the operands of two calls of an op have the same shapes, and those that are graphs are the same. */
static bool same_graphs(const struct entry *a, const struct entry *b)
{
    const struct op_info *info = op_info(a->op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        if (!operand_is_mat(o))
            continue;
        const struct mat *x = operand_mat(o, a->args), *y = operand_mat(o, b->args);
        if (x->rows != y->rows || x->cols != y->cols ||
            (dtype_is_whole(x->dtype) && x->storage != y->storage))
            return false;
    }
    return true;
}

/*
 * Scratch is a storage like any other, live for one entry; but what a kernel prepares from the graphs is live
 * for the whole program, and shared by the calls for which it is the same.
 */
static void add_scratch(struct tape *t, const struct program *program, struct entry *e)
{
    struct call *call = e->args;
    call->context = t->config.context; /* libraries report the workspace they need */
    int64_t bytes = e->kernel->scratch ? e->kernel->scratch(e->args) : 0;
    for (const struct entry *other = program->entries; e->kernel->prepare && other < e; other++)
        if (other->kernel == e->kernel && same_graphs(other, e)) {
            e->scratch = other->scratch;
            e->prepared = true;
        }
    if (bytes > 0 && !e->prepared) {
        e->scratch = tape_storage(t, MEMORY_WORKSPACE, F64, 1, (bytes + 7) / 8, NULL);
        t->storages[e->scratch.storage].whole = e->kernel->prepare != NULL;
    }
    call->scratch = NULL;
}

static void set_costs(struct entry *e)
{
    struct op_traffic moved = op_traffic(e->op, e->args, e->dims);
    e->flops = op_flops_bound(e->op, e->args, e->dims);
    e->exps = op_exps(e->op, e->args, e->dims);
    e->sent = op_sent(e->op, e->args, e->dims);
    e->bytes = moved.bytes;
    e->written = moved.written;
    e->updated = moved.updated;
    e->no_reuse = moved.no_reuse;
}

/* The numbers of the edges, if only options that the op does not have read them. */
static void leave_out_numbers(enum op op, void *args)
{
    const struct op_info *info = op_info(op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        if (o->role == ROLE_NUMBERS && o->option && !(operand_option(op, o) & op_options(op, args)))
            *operand_mat(o, args) = (struct mat){0};
    }
}

void *tape_record_in(struct tape *t, struct program *program, enum op op, const void *args)
{
    const struct op_info *info = op_info(op);
    char error[256];
    int64_t dims[DIMS];
    void *copy = arena_alloc(t->metadata, info->args_size);
    memcpy(copy, args, info->args_size);
    leave_out_numbers(op, copy);
    if (!op_bind(op, copy, dims, error, sizeof error))
        tape_contract("%s: %s", *t->span ? t->span : "(no span)", error);
    make_outputs(t, op, copy, dims);
    struct call *call = copy;
    call->threads = t->config.threads;
    call->ranks = t->config.part.ranks;

    program->entries = grown(program->entries, program->count, &program->capacity, sizeof *program->entries);
    struct entry *e = &program->entries[program->count++];
    *e = (struct entry){
        .op = op, .phase = t->phase, .span = t->span, .kernel = kernel_for(t, op, copy), .args = copy};
    e->form = info->forms[op_options(op, copy)];
    call->kernel = e->kernel;
    memcpy(e->dims, dims, sizeof dims);
    if (program == &t->main)
        set_costs(e);
    add_scratch(t, program, e);
    return copy;
}

void tape_rule(struct tape *t, void (*rule)(struct tape *t, const void *args))
{
    t->main.entries[t->main.count - 1].rule = rule;
}

void *tape_record(struct tape *t, enum op op, const void *args)
{
    return tape_record_in(t, &t->main, op, args);
}
