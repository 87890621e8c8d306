#include "bench/audit/operands.h"

#include "analysis/statistics/allocate.h"
#include "kernels/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRAP = 0xff };

static _Noreturn void unfit(enum op op, const struct operand *p, const char *what)
{
    fprintf(stderr, "operands: %s: %s %s\n", op_info(op)->name, p->name, what);
    abort();
}

static void *allocate_block(size_t size)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 64, size ? size : 1) != 0)
        abort();
    return memory;
}

double mat_norm(struct mat m)
{
    double sum = 0;
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++)
            sum += mat_get(m, i, k) * mat_get(m, i, k);
    return sqrt(sum);
}

struct mat operand_of(const struct operands *o, const char *name)
{
    const struct operand *p = operand_named(o->sample.op, name);
    return p ? *operand_mat(p, &o->args) : (struct mat){0};
}

/* For attributes without a SAMPLE in ops.def: neither 0 nor 1, which would hide a term, and different for
 * each name, so that mixed-up attributes are detected. */
static double real_attribute(const struct operand *p)
{
    return p->moderate != 0 ? p->moderate : 0.625 + rng_int24(rng_key(0, p->name), 0) * 0x1p-26;
}

/* Features of the softmax subtract a maximum, a constant in gradients, which cancels without eps. */
static bool cancels_a_maximum(const struct sample *s, const struct operand *p)
{
    bool performer = s->op == OP_performer_attention || s->op == OP_performer_attention_backward;
    return s->smooth && performer && s->act == FEATURES_EXP && strcmp(p->name, "eps") == 0;
}

static void set_attribute(const struct sample *s, const struct operand *p, void *args)
{
    char *at = (char *)args + p->at;
    if (p->role == ROLE_SIZE)
        *(int *)at = (int)s->dims[p->rows];
    else if (p->values == VALUES_ACTIVATION || p->values == VALUES_FEATURES)
        *(int *)at = s->act;
    else if (cancels_a_maximum(s, p))
        *(double *)at = 0;
    else if (strcmp(p->name, "halo_nodes") == 0)
        *(int *)at = (int)(s->dims[DIM_S] - s->dims[DIM_N]);
    else if (strcmp(p->name, "nodes") == 0 || strcmp(p->name, "sends") == 0)
        *(int *)at = (int)s->dims[DIM_N];
    else if (strcmp(p->name, "gets") == 0)
        *(int *)at = (int)s->dims[DIM_S];
    else if (strcmp(p->name, "power") == 0)
        *(int *)at = (int)(1 + s->seed % 2);
    else if (strcmp(p->name, "degree") == 0)
        *(int *)at = (int)(1 + s->seed % 4);
    else if (strcmp(p->type, "int") == 0 && p->moderate != 0)
        *(int *)at = (int)p->moderate;
    else if (strcmp(p->type, "uint64_t") == 0)
        *(uint64_t *)at = rng_key(s->seed, p->name);
    else if (strcmp(p->type, "double") == 0)
        *(double *)at = real_attribute(p);
    else
        unfit(s->op, p, "has no value: ops.def gives no SAMPLE");
}

static void set_shape(struct operands *o, int index, int64_t pad)
{
    const struct operand *p = &op_info(o->sample.op)->operands[index];
    struct mat *m = operand_mat(p, &o->args);
    bool bounds = p->role == ROLE_OFFSETS || p->role == ROLE_ROW_PTR, edges = operand_of_edges(p);
    if (o->sample.dims[p->rows] < !edges || o->sample.dims[p->cols] < 1)
        unfit(o->sample.op, p, "has a size that the sample does not define");
    m->rows = o->sample.dims[p->rows] + bounds;
    m->cols = o->sample.dims[p->cols];
    m->ld = m->cols + (bounds || edges ? 0 : pad);
    m->dtype = operand_dtype(p, o->dtype);
    if (p->role == ROLE_OFFSETS)
        ((struct offsets *)(void *)m)->pairs = o->sample.dims[DIM_P];
    m->acc = p->role == ROLE_GRAD && (o->sample.acc >> index & 1);

    enum guard pages = o->sample.guard;
    int64_t guard = pages ? 0 : 5 + 3 * pad, gap = pages ? m->ld - m->cols : 0;
    size_t element = dtype_size(m->dtype);
    struct operand_block *b = &o->blocks[index];
    b->size = (size_t)(2 * guard + m->rows * m->ld - gap) * element;
    b->pages = pages ? guarded_new(b->size, element, pages) : (struct guarded){0};
    b->bytes = pages ? b->pages.bytes : allocate_block(b->size);
    memset(b->bytes, TRAP, b->size);
    m->data = b->bytes + (size_t)guard * element;
}

/* A matrix with one row per edge, when there are no edges. */
static bool without_rows(const struct sample *s, const struct operand *p)
{
    return p->rows == DIM_E && s->dims[DIM_E] == 0 && !operand_of_edges(p);
}

static bool shaped(struct operands *o, int64_t pad)
{
    const struct op_info *info = op_info(o->sample.op);
    int outputs = 0;
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *p = &info->operands[i];
        if (!operand_is_mat(p))
            set_attribute(&o->sample, p, &o->args);
        else if (!without_rows(&o->sample, p) && !(operand_optional(p) && o->sample.absent >> i & 1)) {
            set_shape(o, i, pad);
            outputs += operand_writes(p);
        }
    }
    char error[200];
    return outputs > 0 && op_complete(o->sample.op, &o->args, error, sizeof error);
}

static struct operands *shaped_or_null(const struct sample *s, enum dtype dtype, int64_t pad)
{
    struct operands *o = allocate(1, sizeof *o);
    if (op_info(s->op)->operand_count > OPERANDS_MAX)
        abort();
    o->sample = *s;
    operands_sizes(&o->sample);
    o->dtype = dtype;
    if (shaped(o, pad))
        return o;
    operands_free(o);
    return NULL;
}

struct operands *operands_new(const struct sample *s, enum dtype dtype)
{
    struct operands *o = shaped_or_null(s, dtype, s->pad);
    if (o)
        operands_fill(o);
    return o;
}

struct operands *operands_copy(const struct operands *from, enum dtype dtype, int64_t pad)
{
    struct operands *o = shaped_or_null(&from->sample, dtype, pad);
    if (!o)
        abort();
    const struct op_info *info = op_info(o->sample.op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *p = &info->operands[i];
        if (!operand_is_mat(p))
            continue;
        struct mat *m = operand_mat(p, &o->args);
        if (operand_reads(p, m) || p->carried)
            operands_copy_entries(*m, *operand_mat(p, &from->args));
    }
    return o;
}

void operands_free(struct operands *o)
{
    for (int i = 0; o && i < OPERANDS_MAX; i++) {
        guarded_free(o->blocks[i].pages);
        free(o->blocks[i].pages.bytes ? NULL : o->blocks[i].bytes);
    }
    free(o);
}

static bool trapped(const unsigned char *bytes, size_t size)
{
    return !size || (bytes[0] == TRAP && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* Between the pages of which those of the inputs are frozen. */
static bool run_guarded(struct operands *o, const struct kernel *k, size_t size)
{
    const struct op_info *info = op_info(o->sample.op);
    for (int i = 0; i < info->operand_count; i++)
        if (o->blocks[i].bytes && !operand_writes(&info->operands[i]))
            guarded_freeze(o->blocks[i].pages);
    o->scratch = guarded_new(size, 64, o->sample.guard);
    unsigned char *scratch = o->scratch.bytes, *end = scratch + size;
    size_t rest = o->sample.guard == GUARD_AFTER ? -(uintptr_t)end % 64 : 0; /* to the page */
    memset(scratch, TRAP, size + rest);
    o->args.call.scratch = scratch;
    k->run(&o->args);
    bool intact = trapped(end, rest);
    guarded_close(o->scratch);
    o->closed = o->scratch;
    return intact;
}

static bool run_plain(struct operands *o, const struct kernel *k, size_t size)
{
    size_t guard = 4096 + size / 2; /* the part of one of three threads is found here, not in the heap */
    unsigned char *scratch = allocate_block(size + guard);
    memset(scratch, TRAP, size + guard);
    o->args.call.scratch = scratch;
    k->run(&o->args);
    bool intact = trapped(scratch + size, guard);
    free(scratch);
    return intact;
}

bool operands_run(struct operands *o, const struct kernel *k, int threads, int64_t row0, int64_t row1)
{
    o->args.call = (struct call){.kernel = k, .threads = threads, .eager = true, .row0 = row0, .row1 = row1};
    size_t size = k->scratch ? (size_t)k->scratch(&o->args) : 0;
    o->rounding = kernel_rounding(k);
    bool intact = o->sample.guard ? run_guarded(o, k, size) : run_plain(o, k, size);
    o->args.call = (struct call){0};
    return intact;
}

bool operands_guarded(const struct operands *o)
{
    const struct op_info *info = op_info(o->sample.op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand_block *b = &o->blocks[i];
        if (!b->bytes)
            continue;
        struct mat m = *operand_mat(&info->operands[i], &o->args);
        size_t element = dtype_size(m.dtype), row = (size_t)m.cols * element, step = (size_t)m.ld * element;
        const unsigned char *at = b->bytes, *first = m.data;
        for (int64_t r = 0; r < m.rows; at = first + (size_t)r * step + row, r++)
            if (!trapped(at, (size_t)(first + (size_t)r * step - at)))
                return false;
        if (!trapped(at, (size_t)(b->bytes + b->size - at)))
            return false;
    }
    return true;
}
