/* Random operands for any op: see operands.h. */
#include "bench/audit/operands.h"

#include "kernels/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRAP = 0xff };

static bool optional(const struct operand *p)
{
    return p->role == ROLE_GRAD || p->role == ROLE_SAVE || p->role == ROLE_OPT || p->option;
}

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

/* Shapes, attributes and memory. */

/* The sums of norms over ranks are of columns of their own, or of all. */
static int64_t columns_of_sums(const struct sample *s)
{
    return s->seed % 2 ? s->dims[DIM_D] : 1;
}

/*
 * For attributes without a SAMPLE in ops.def: neither 0 nor 1, which would hide a term, and different for
 * each name, so that mixed-up attributes are detected.
 */
static double real_attribute(const struct operand *p)
{
    return p->moderate != 0 ? p->moderate : 0.625 + rng_int24(rng_key(0, p->name), 0) * 0x1p-26;
}

/*
 * The features of the softmax subtract a maximum, which counts as a constant in gradients: without eps it
 * cancels.
 */
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
    else if (strcmp(p->name, "ghosts") == 0)
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
        else if (!without_rows(&o->sample, p) && !(optional(p) && o->sample.absent >> i & 1)) {
            set_shape(o, i, pad);
            outputs += operand_writes(p);
        }
    }
    char error[200];
    return outputs > 0 && op_complete(o->sample.op, &o->args, error, sizeof error);
}

/* Values. */

/* The size of graph g, with `left` rows remaining: random; 1 for the first of several. */
static int64_t graph_size(const struct sample *s, int64_t g, int64_t left)
{
    int64_t after = s->dims[DIM_B] - g - 1, most = left - after;
    return after == 0 ? left : g == 0 ? 1 : 1 + (int64_t)(rng_bits(s->seed, (uint64_t)g) % (uint64_t)most);
}

static int64_t senders_of_part(const struct sample *s)
{
    return s->dims[DIM_N] + s->dims[DIM_N] / 3;
}

/* Where keys are rows of their own: the first of several graphs has none, and the last of more rows is none.
 */
static int64_t first_key(const struct sample *s, int64_t g)
{
    int64_t keys = senders_of_part(s) - (s->dims[DIM_N] >= 3);
    return g <= 1 && s->dims[DIM_B] > 1 ? 0 : keys * g / s->dims[DIM_B];
}

/* Whether queries and keys are different rows. */
static bool has_keys(const struct sample *s)
{
    const struct operand *keys = operand_named(s->op, "keys");
    return keys && !(s->absent >> (keys - op_info(s->op)->operands) & 1);
}

static int64_t pairs_of(const struct sample *s)
{
    int64_t pairs = 0, left = s->dims[DIM_N];
    bool keys = has_keys(s);
    for (int64_t g = 0, size; g < s->dims[DIM_B]; g++, left -= size) {
        size = graph_size(s, g, left);
        pairs += size * (keys ? first_key(s, g + 1) - first_key(s, g) : size);
    }
    return pairs;
}

static void fill_offsets(const struct sample *s, bool keys, struct offsets *graphs)
{
    int64_t *at = graphs->at.data;
    at[0] = 0;
    for (int64_t g = 0; g < s->dims[DIM_B]; g++)
        at[g + 1] = keys ? first_key(s, g + 1) : at[g] + graph_size(s, g, s->dims[DIM_N] - at[g]);
}

/* More than the receivers where the op allows it. */
static int64_t senders_of(const struct sample *s)
{
    const struct op_info *info = op_info(s->op);
    for (int i = 0; i < info->operand_count; i++)
        if (info->operands[i].rows == DIM_S)
            return s->dims[DIM_S];
    return s->dims[DIM_N];
}

/*
 * Random edges by receiver and by sender. Every third node neither sends nor receives; there are hubs, and so
 * many edges for few nodes that some are loops or duplicates.
 */
static struct edge_ends {
    int32_t from, to;
} random_edge(const struct sample *s, int64_t e)
{
    int64_t N = s->dims[DIM_N], spread = e % 4 ? N : (N + 7) / 8;
    struct edge_ends ends = {(int32_t)(rng_bits(s->seed + 1, (uint64_t)(2 * e)) % (uint64_t)senders_of(s)),
                             (int32_t)(rng_bits(s->seed + 1, (uint64_t)(2 * e + 1)) % (uint64_t)spread)};
    ends.from -= ends.from % 3 == 2;
    ends.to -= ends.to % 3 == 2;
    return ends;
}

/* Rows of either end, in ascending order, by counting sort. */
static void fill_edges(const struct sample *s, bool by_sender, struct mat row, struct mat col)
{
    int64_t *at = row.data, E = s->dims[DIM_E], N = row.rows - 1;
    int32_t *other = col.data;
    memset(at, 0, (size_t)(N + 1) * sizeof *at);
    for (int64_t e = 0; e < E; e++) {
        struct edge_ends ends = random_edge(s, e);
        at[(by_sender ? ends.from : ends.to) + 1]++;
    }
    for (int64_t i = 0; i < N; i++)
        at[i + 1] += at[i];
    for (int64_t e = 0; e < E; e++)
        other[e] = INT32_MAX;
    for (int64_t e = 0; e < E; e++) {
        struct edge_ends ends = random_edge(s, e);
        int64_t i = by_sender ? ends.from : ends.to, place = at[i];
        int32_t end = by_sender ? ends.to : ends.from;
        while (other[place] <= end)
            place++;
        for (int32_t next; place < at[i + 1] && end != INT32_MAX; end = next) {
            next = other[place];
            other[place++] = end;
        }
    }
}

/* The number of each edge by sender: they come in the order of their receivers in both. */
static void fill_numbers(const struct sample *s, const struct edges *e)
{
    int64_t rows = e->out_row.rows - 1, *next = allocate_block((size_t)rows * sizeof *next);
    memcpy(next, e->out_row.data, (size_t)rows * sizeof *next);
    for (int64_t n = 0; n < s->dims[DIM_E]; n++)
        ((int32_t *)e->out_edge.data)[next[((const int32_t *)e->col.data)[n]]++] = (int32_t)n;
    free(next);
}

/* Whether a row is the same as the one before it, so that there are ties: pairs, which have a gradient. */
static bool repeats(int64_t row)
{
    return row % 5 == 4;
}

static void fill_random(const struct sample *s, const struct operand *p, struct mat m)
{
    uint64_t key = rng_key(s->seed, p->name);
    for (int64_t i = 0; i < m.rows; i++) {
        int64_t row = p->values == VALUES_DISTINCT ? i : i - repeats(i);
        for (int64_t k = 0; k < m.cols; k++)
            mat_set(
                m, i, k,
                with_bits(rng_int24(key, (uint64_t)(row * m.cols + k)) * 0x1p-23, s->bits ? s->bits : 53));
    }
}

static void copy_entries(struct mat to, struct mat from)
{
    size_t element = dtype_size(to.dtype);
    for (int64_t i = 0; i < to.rows; i++) {
        if (to.dtype == from.dtype)
            memcpy((char *)to.data + (size_t)(i * to.ld) * element,
                   (char *)from.data + (size_t)(i * from.ld) * element, (size_t)to.cols * element);
        for (int64_t k = 0; k < to.cols && to.dtype != from.dtype; k++)
            mat_set(to, i, k, mat_get(from, i, k));
    }
}

/* Values that the mathematics restricts. */
static void fill_values(const struct sample *s, const struct operand *p, struct mat m)
{
    static const double schedule[2] = {3, 1e-2};
    if (p->values == VALUES_INDEX) {
        for (int64_t i = 0; i < m.rows; i++)
            for (int64_t k = 0; k < m.cols; k++)
                mat_set(
                    m, i, k,
                    (double)(rng_bits(s->seed, (uint64_t)(i * m.cols + k)) % (uint64_t)s->dims[p->limit]));
        return;
    }
    fill_random(s, p, m);
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++) {
            if (p->values == VALUES_POSITIVE)
                mat_set(m, i, k, fabs(mat_get(m, i, k)));
            if (p->values == VALUES_SCHEDULE)
                mat_set(m, i, k, schedule[k]);
        }
}

unsigned operands_without(enum op op, unsigned options)
{
    const struct op_info *info = op_info(op);
    unsigned absent = 0;
    for (int i = 0; i < info->operand_count; i++)
        if (info->operands[i].option && !(operand_option(op, &info->operands[i]) & options))
            absent |= 1u << i;
    return absent;
}

/* Replaces the inputs that come from the forward op by its results. */
static void fill_saved(struct operands *o)
{
    enum op forward = op_forward_of(o->sample.op);
    if (forward == OPS)
        return;
    struct sample s = o->sample;
    s.op = forward;
    s.absent = operands_without(forward, op_options(o->sample.op, &o->args));
    s.acc = 0;
    struct operands *f = operands_new(&s, F64);
    if (!f && s.dims[DIM_E] == 0) /* all that it would compute has a row per edge */
        return;
    if (!f || !operands_run(f, backend_kernel(&backend_ref, forward, F64, NULL), 1, 0, 0))
        abort();
    const struct op_info *info = op_info(forward);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *p = operand_named(o->sample.op, info->operands[i].name);
        if (operand_writes(&info->operands[i]) && p && !operand_writes(p))
            copy_entries(*operand_mat(p, &o->args), *operand_mat(&info->operands[i], &f->args));
    }
    operands_free(f);
}

static const struct edges *edges_of(const struct operands *o)
{
    return (const struct edges *)(const void *)operand_mat(operand_named(o->sample.op, "adj.row"), &o->args);
}

static void fill(struct operands *o)
{
    const struct op_info *info = op_info(o->sample.op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *p = &info->operands[i];
        struct mat *m = operand_is_mat(p) ? operand_mat(p, &o->args) : NULL;
        if (p->role == ROLE_OFFSETS && mat_present(*m))
            fill_offsets(&o->sample, strcmp(p->name, "keys") == 0, (struct offsets *)(void *)m);
        else if (p->role == ROLE_ROW_PTR) /* its columns are the next operand */
            fill_edges(&o->sample, p->by_sender, *m, *operand_mat(&info->operands[i + 1], &o->args));
        else if (p->role == ROLE_NUMBERS && mat_present(*m))
            fill_numbers(&o->sample, edges_of(o));
        else if (p->role == ROLE_INDEX)
            continue;
        else if (m && (operand_reads(p, m) || p->carried))
            fill_values(&o->sample, p, *m);
    }
    fill_saved(o);
}

static struct operands *shaped_or_null(const struct sample *s, enum dtype dtype, int64_t pad)
{
    struct operands *o = calloc(1, sizeof *o);
    if (!o || op_info(s->op)->operand_count > OPERANDS_MAX)
        abort();
    o->sample = *s;
    o->sample.dims[DIM_P] = pairs_of(s);
    o->sample.dims[DIM_C] = s->dims[DIM_D] / s->dims[DIM_H];
    o->sample.dims[DIM_S] =
        operand_named(s->op, "keys") && !has_keys(s) ? s->dims[DIM_N] : senders_of_part(s);
    if (operand_named(s->op, "n"))
        o->sample.dims[DIM_M] = columns_of_sums(s);
    o->sample.dims[DIM_F] = s->dims[DIM_B] * s->dims[DIM_H] * s->dims[DIM_M];
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
        fill(o);
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
            copy_entries(*m, *operand_mat(p, &from->args));
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

/* Running. */

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

/* The number of activations or of kinds of features; 1 if the op has neither. */
static int choices_of(enum op op)
{
    const struct op_info *info = op_info(op);
    for (int i = 0; i < info->operand_count; i++)
        if (info->operands[i].values == VALUES_ACTIVATION || info->operands[i].values == VALUES_FEATURES)
            return info->operands[i].values == VALUES_ACTIVATION ? (int)ACT_KINDS : (int)FEATURES_KINDS;
    return 1;
}

/* Adds a case for every subset of absent operands, beside those of other options. */
static int add_cases(const struct sample *of, unsigned choices, struct sample cases[CASES_MAX], int count)
{
    unsigned absent = 0;
    do {
        if (count == CASES_MAX)
            abort();
        cases[count] = *of;
        cases[count++].absent |= absent;
        absent = (absent - choices) & choices;
    } while (absent);
    return count;
}

int operands_cases(const struct sample *base, bool all, struct sample cases[CASES_MAX])
{
    const struct op_info *info = op_info(base->op);
    unsigned choices = 0, gradients = 0;
    for (int i = 0; i < info->operand_count; i++) {
        bool choice = all && optional(&info->operands[i]) && !info->operands[i].option;
        choices |= (unsigned)choice << i;
        gradients |= info->operands[i].role == ROLE_GRAD ? 1u << i : 0;
    }
    int acts = choices_of(base->op), count = 0;
    for (int form = 0; form < info->form_count; form++)
        for (int act = 0; act < acts; act++)
            for (int acc = 0; acc < (gradients ? 2 : 1); acc++) {
                struct sample one = *base;
                one.act = act;
                one.acc = acc ? gradients : 0;
                one.absent = operands_without(base->op, (unsigned)form);
                count = add_cases(&one, choices, cases, count);
            }
    return count;
}
