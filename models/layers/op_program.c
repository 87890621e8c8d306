/*
 * Operands are created from the op's metadata, by role and name. Operands of the same name are one matrix,
 * both within an op and between it and its preceding forward op.
 */
#include "models/layers/op_program.h"

#include <stdio.h>
#include <string.h>

#include "kernels/rng.h"
#include "models/tape/tape_internal.h"

enum { NAMES = 32 };

struct op_program {
    struct tape *t;
    enum op op;       /* that is timed */
    unsigned options; /* of it, and of its forward op */
    int64_t dims[DIMS];
    const struct model_config *config;
    struct structure structure;
    struct {
        const char *name;
        struct mat m;
    } made[NAMES];
    int count;
};

static bool in_structure(const struct operand *o)
{
    return o->role == ROLE_OFFSETS || operand_of_edges(o);
}

/* --- attributes */

static bool is_real(const struct operand *o)
{
    return strcmp(o->type, "double") == 0;
}

static bool is_key(const struct operand *o)
{
    return strcmp(o->type, "uint64_t") == 0;
}

static bool attribute_known(const struct operand *o)
{
    return o->role == ROLE_SIZE || o->values == VALUES_ACTIVATION || o->values == VALUES_FEATURES ||
           is_key(o) || is_real(o) || o->typical != 0;
}

/* The value used in models; 1 for a real attribute without one. */
static void set_attribute(const struct op_program *s, const struct operand *o, void *args)
{
    char *at = (char *)args + o->at;
    if (o->role == ROLE_SIZE)
        *(int *)at = (int)s->dims[o->rows];
    else if (o->values == VALUES_ACTIVATION)
        *(int *)at = (int)s->config->act;
    else if (o->values == VALUES_FEATURES)
        *(int *)at = FEATURES_EXP;
    else if (is_key(o))
        *(uint64_t *)at = rng_key(s->t->config.seed, "key");
    else if (is_real(o))
        *(double *)at = o->typical != 0 ? o->typical : 1;
    else
        *(int *)at = (int)o->typical;
}

/* --- matrices */

static struct mat remember(struct op_program *s, const char *name, struct mat m)
{
    if (s->count == NAMES)
        tape_contract("%s has more than %d operands", op_info(s->op)->name, NAMES);
    s->made[s->count].name = name;
    return s->made[s->count++].m = m;
}

/* Doubles: the numbers of entries of norms are those of graphs of the mean size; lse is that of one key whose
 * score is 0.
 */
static struct mat make_doubles(struct op_program *s, const struct operand *o)
{
    int64_t rows = s->dims[o->rows], cols = s->dims[o->cols];
    double *x = arena_alloc(s->t->metadata, (size_t)(rows * cols) * sizeof *x);
    for (int64_t i = 0; i < rows * cols; i++)
        x[i] = o->values == VALUES_POSITIVE ? (double)s->dims[DIM_N] / (double)rows : 0;
    return input_copy(s->t, o->name, F64, rows, cols, x);
}

static struct mat make_input(struct op_program *s, const struct operand *o)
{
    /* As after a few steps; at step 0, AdamW would divide by 1 - beta^0 = 0. */
    static const double schedule[2] = {3, 1e-3};
    int64_t rows = s->dims[o->rows], cols = s->dims[o->cols];
    enum dtype dtype = operand_dtype(o, s->t->config.dtype);
    if (rows == 0) /* of edges that there are not */
        return (struct mat){0};
    switch (o->values) {
    case VALUES_SCHEDULE:
        return input_copy(s->t, o->name, o->dtype, rows, cols, schedule);
    case VALUES_INDEX:
        return input_index(s->t, o->name, all_rows(rows), cols, (int)s->dims[o->limit]);
    case VALUES_POSITIVE:
        return o->dtype == F64 ? make_doubles(s, o)
                               : tape_constant(s->t, MEMORY_STATE, o->name, dtype, rows, cols, 1);
    default:
        return o->dtype == F64 ? make_doubles(s, o)
                               : tape_uniform(s->t, MEMORY_GRAPH, o->name, dtype, all_rows(rows), cols, 1);
    }
}

/* An input of the op. */
static struct mat input_of(struct op_program *s, const struct operand *o)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->made[i].name, o->name) == 0)
            return s->made[i].m;
    return remember(s, o->name, make_input(s, o));
}

static struct mat output_of(struct op_program *s, const struct operand *o, enum category category)
{
    enum dtype dtype = operand_dtype(o, s->t->config.dtype);
    return tape_storage(s->t, category, dtype, s->dims[o->rows], s->dims[o->cols], o->name);
}

static void set_structure(const struct op_program *s, const struct operand *o, struct mat *m)
{
    const struct edges *adj = &s->structure.adj;
    if (o->role == ROLE_OFFSETS)
        *(struct offsets *)(void *)m = s->structure.graphs;
    else if (o->role == ROLE_NUMBERS)
        *m = adj->out_edge;
    else if (o->role == ROLE_ROW_PTR)
        memcpy(m, o->by_sender ? &adj->out_row : &adj->row, o->size);
    else
        *m = o->by_sender ? adj->out_col : adj->col;
}

/* Whether an op with these options has the operand. */
static bool takes_part(enum op op, const struct operand *o, unsigned options)
{
    return !o->option || (operand_option(op, o) & options);
}

/* Completes the arguments of an op. `kept` selects the outputs that another op reads. */
static void complete(struct op_program *s, enum op op, void *args,
                     bool (*kept)(enum op reader, const char *name))
{
    const struct op_info *info = op_info(op);
    for (int i = 0; i < info->operand_count; i++) /* attributes first: they determine what is saved */
        if (!operand_is_mat(&info->operands[i]))
            set_attribute(s, &info->operands[i], args);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        struct mat *m = operand_is_mat(o) ? operand_mat(o, args) : NULL;
        if (!m || !takes_part(op, o, s->options))
            continue;
        bool saved = o->role == ROLE_SAVE, read = kept && kept(s->op, o->name);
        if (in_structure(o))
            set_structure(s, o, m);
        else if (o->carried)
            continue;
        else if (operand_reads(o, m))
            *m = input_of(s, o);
        else if (read && (!saved || operand_saved(o, args)))
            *m = remember(s, o->name, output_of(s, o, MEMORY_GRAPH));
        else if (!read && (!saved || (!kept && operand_saved(o, args))))
            *m = output_of(s, o, MEMORY_ACTIVATIONS);
    }
}

static bool reads(enum op reader, const char *name)
{
    const struct operand *o = operand_named(reader, name);
    return o && !operand_writes(o);
}

/* Whether a backward op has an operand that its forward op computes. */
static bool needs_forward(enum op op, enum op forward)
{
    const struct op_info *info = op_info(forward);
    for (int i = 0; i < info->operand_count; i++)
        if (operand_is_mat(&info->operands[i]) && operand_writes(&info->operands[i]) &&
            reads(op, info->operands[i].name))
            return true;
    return false;
}

/* --- the program */

/* Ops of linear attention have sizes of their own. */
static bool attends_linearly(enum op op)
{
    return op == OP_performer_keys || op == OP_performer_keys_backward || op == OP_performer_attention ||
           op == OP_performer_attention_backward;
}

static void set_sizes(struct op_program *s, const struct model_config *c, const struct batch *b)
{
    int64_t dims[DIMS] = {
        [DIM_1] = 1,         [DIM_2] = 2,           [DIM_N] = b->adj.nodes, [DIM_M] = c->hidden,
        [DIM_D] = c->hidden, [DIM_H] = c->heads,    [DIM_B] = b->graphs,    [DIM_E] = b->adj.edges,
        [DIM_P] = b->pairs,  [DIM_S] = b->adj.nodes};
    if (attends_linearly(s->op)) {
        dims[DIM_M] = PERFORMER_FEATURES;
        dims[DIM_D] = c->heads * PERFORMER_WIDTH;
    }
    dims[DIM_C] = dims[DIM_D] / dims[DIM_H];
    dims[DIM_F] = dims[DIM_B] * dims[DIM_H] * dims[DIM_M];
    if (s->op == OP_linear || s->op == OP_linear_backward || s->op == OP_mlp || s->op == OP_mlp_backward)
        dims[DIM_M] = c->ffn;
    if (operand_named(s->op, "squares") && b->graphs > 1)
        dims[DIM_M] = 1; /* sums of norms over all columns: those of each are of one graph */
    if (s->op == OP_cross_entropy || s->op == OP_cross_entropy_backward)
        dims[DIM_M] = CLASSES;
    if (s->op == OP_adamw) {
        dims[DIM_N] = 1;
        dims[DIM_M] = program_parameters(c);
    }
    memcpy(s->dims, dims, sizeof dims);
}

static bool uses(enum op op, enum role role)
{
    for (int i = 0; i < op_info(op)->operand_count; i++)
        if (op_info(op)->operands[i].role == role)
            return true;
    return false;
}

bool op_program_numbers_edges(struct form form)
{
    const struct operand *o = operand_named(form.op, "adj.out_edge");
    return o && !o->carried && takes_part(form.op, o, form.options);
}

const char *op_program_refuses(enum op op)
{
    const struct op_info *info = op_info(op);
    if (info->exchange)
        return "it needs several ranks";
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        if (!operand_is_mat(o) && !attribute_known(o))
            return "one of its attributes has no known value in a model";
        if (operand_is_mat(o) && !in_structure(o) && !operand_writes(o) && dtype_is_whole(o->dtype) &&
            o->values != VALUES_INDEX)
            return "its indices are not known in a model";
    }
    return NULL;
}

struct recording op_program_record(struct form form, const struct model_config *c, const struct batch *batch,
                                   struct tape_config tape)
{
    tape.training = true;
    struct tape *t = tape_new(&tape);
    enum op op = form.op;
    struct op_program s = {.t = t, .op = op, .options = form.options, .config = c};
    enum op forward = op_forward_of(op);
    union any_args args = {0}, before = {0};
    set_sizes(&s, c, batch);
    span_enter(t, "kernel");
    if (uses(op, ROLE_OFFSETS) || uses(op, ROLE_ROW_PTR))
        s.structure = tape_structure(t, batch, uses(op, ROLE_ROW_PTR), op_program_numbers_edges(form));
    if (forward < OPS && needs_forward(op, forward)) {
        complete(&s, forward, &before, reads);
        tape_record_in(t, &t->init, forward, &before);
    }
    complete(&s, op, &args, NULL);
    tape_record(t, op, &args);
    span_leave(t);
    return (struct recording){.tape = t};
}
