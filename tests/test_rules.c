/*
 * The gradient rule of every op (models/tape/rules.c), tested from the ops' metadata: the op is recorded on a
 * tape, with random values, once and twice on the same operands (two gradients to accumulate), over graphs of
 * several sizes, for every activation and choice of optional operands. Operands with gradients are
 * parameters, the others inputs. The gradients recorded by the tape equal the central differences of a loss,
 * in double.
 */
#include "bench/audit/operands.h"
#include "tests/tapes.h"
#include "tests/test.h"

/*
 * The gradient of a sum is passed on, and so is that of a normalised sum: these have a rule but no backward
 * op of their own. The rows of a halo must be given (test_rank_programs).
 */
static bool has_rule(enum op op)
{
    if (op == OP_halo)
        return false;
    return op_backward_of(op) != OPS || op == OP_add || op == OP_add_layer_norm;
}

/*
 * Whether the operand has a gradient: the backward op has an output with its name prefixed by d, or the rule
 * passes it on.
 */
static bool has_gradient(enum op op, const struct operand *p)
{
    if (op_backward_of(op) == OPS)
        return true;
    char name[64];
    snprintf(name, sizeof name, "d%s", p->name);
    const struct operand *d = operand_named(op_backward_of(op), name);
    return (d && d->role == ROLE_GRAD) || (op == OP_edge_add && strcmp(p->name, "c") == 0);
}

/* The arguments with operands on the tape; outputs are created by the tape, except states. */
static union any_args args_on_tape(struct tape *t, const struct operands *o)
{
    union any_args args = o->args;
    const struct op_info *info = op_info(o->sample.op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *p = &info->operands[i];
        if (!operand_is_mat(p))
            continue;
        struct mat *m = operand_mat(p, &args);
        if (operand_writes(p) && p->role != ROLE_INOUT)
            *m = (struct mat){0};
        else if (mat_present(*m))
            *m = has_gradient(o->sample.op, p) ? param(t, p->name, m->rows, m->cols, 1)
                                               : input_copy(t, p->name, m->dtype, m->rows, m->cols, m->data);
    }
    return args;
}

/* An output that the backward op does not know is a constant in gradients. */
static bool is_constant(enum op op, const struct operand *p)
{
    char name[64];
    snprintf(name, sizeof name, "d%s", p->name);
    return op_backward_of(op) != OPS && !operand_named(op_backward_of(op), name);
}

/* Adds to a loss, initially absent, the mean squared error of each output against targets of the span. */
static void add_losses(struct tape *t, enum op op, const void *args, struct mat *loss)
{
    const struct op_info *info = op_info(op);
    for (int i = 0; i < info->operand_count; i++) {
        if (info->operands[i].role != ROLE_OUT || is_constant(op, &info->operands[i]))
            continue;
        struct mat y = *operand_mat(&info->operands[i], args);
        struct mat target = input_uniform(t, info->operands[i].name, all_rows(y.rows), y.cols);
        struct mat more = op(t, mean_error, .y = y, .target = target, .power = 2)->loss;
        *loss = mat_present(*loss) ? op(t, add, .a = *loss, .b = more)->y : more;
    }
}

/* Some ops restrict their operands' values, so parameters are set to the sample's. */
static void set_parameters(const struct tape *t, const struct operands *o)
{
    for (int n = 0; n < tape_parameter_count(t); n++) {
        const char *name;
        struct mat m = tape_parameter(t, n, &name), from = operand_of(o, name);
        for (int64_t i = 0; i < m.rows; i++)
            for (int64_t k = 0; k < m.cols; k++)
                mat_set(m, i, k, mat_get(from, i, k));
    }
}

static double rule_error(const struct operands *o, int times)
{
    struct tape *t = tape_new_in_double();
    union any_args args = args_on_tape(t, o);
    struct mat loss = {0};
    for (int n = 0; n < times; n++) {
        span_enter(t, n == 0 ? "once" : "again");
        add_losses(t, o->sample.op, tape_record(t, o->sample.op, &args), &loss);
        span_leave(t);
    }
    tape_make_ready(t, loss);
    set_parameters(t, o);
    double error = tape_gradient_error(t, loss);
    tape_free(t);
    return error;
}

/* Whether the case exists: the tape decides what is saved. */
static bool check_case(const struct sample *s)
{
    const struct op_info *info = op_info(s->op);
    for (int i = 0; i < info->operand_count; i++)
        if (info->operands[i].role == ROLE_SAVE && (s->absent >> i & 1))
            return false;
    /* At a tie the maximum has a kink, where central differences are off by the order of their step. */
    double limit = s->op == OP_max_pool ? 1e-5 : 1e-7;
    struct operands *o = operands_new(s, F64);
    /* What is folded into attention has its gradients from the rule of that (test_rank_programs). */
    if (o && s->op == OP_attention && (op_options(s->op, &o->args) & OPTION_attention_fold)) {
        operands_free(o);
        return false;
    }
    for (int times = 1; o && times <= 2; times++) {
        double error = rule_error(o, times);
        if (!(error < limit))
            fail_msg("%s used %d times, N %d M %d D %d H %d B %d, act %s, absent %x: relative error %g",
                     info->name, times, (int)s->dims[DIM_N], (int)s->dims[DIM_M], (int)s->dims[DIM_D],
                     (int)s->dims[DIM_H], (int)s->dims[DIM_B], activation_name(s->act), s->absent, error);
    }
    bool possible = o != NULL;
    operands_free(o);
    return possible;
}

/* Different sizes, and equal sizes, for which swapped operands would fit. */
static void test_rule(void **state)
{
    static const int64_t shapes[][DIMS] = {{1, 2, 7, 4, 6, 2, 3, 15, 0}, {1, 2, 6, 6, 6, 3, 2, 6, 0}};
    static struct sample cases[CASES_MAX];
    struct sample base = {.op = *(const enum op *)*state, .smooth = true};
    int checked = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int d = 0; d < DIMS; d++)
            base.dims[d] = shapes[i][d];
        base.seed = 40 + i;
        int count = operands_cases(&base, true, cases);
        for (int c = 0; c < count; c++)
            checked += check_case(&cases[c]);
    }
    if (!checked)
        fail_msg("%s: no operands could be made", op_info(base.op)->name);
}

int main(void)
{
    static enum op ops[OPS];
    struct CMUnitTest tests[OPS] = {{0}}; /* cmocka skips empty ones */
    for (enum op op = 0; op < OPS; op++) {
        if (!has_rule(op))
            continue;
        ops[op] = op;
        tests[op] = (struct CMUnitTest){op_info(op)->name, test_rule, NULL, NULL, &ops[op]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
