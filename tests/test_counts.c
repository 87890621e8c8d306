/*
 * The FLOPs and exps counted by ref's own loops equal the formulas of ops.def exactly: every op, several
 * sizes, every choice of optional operands and activation, with and without accumulation. Operands have no
 * memory here, except the offsets of graphs and the edges, which determine the shape.
 */
#include "bench/audit/operands.h"
#include "tests/test.h"

/* With scratch, because walks over edges use it to mark visited nodes. */
static struct ref_count counted(enum op op, const void *args)
{
    const struct kernel *k = backend_kernel(&backend_count, op, F32, NULL);
    struct call *call = (struct call *)(uintptr_t)args;
    int64_t bytes = k->scratch ? k->scratch(args) : 0;
    call->scratch = bytes ? malloc((size_t)bytes) : NULL;
    assert_true(!bytes || call->scratch);
    ref_count_take();
    k->run(args);
    free(call->scratch);
    call->scratch = NULL;
    return ref_count_take();
}

/* The arguments of a sample, with the data of every matrix at an inaccessible address. */
static union any_args without_memory(const struct operands *o, void *address)
{
    union any_args args = o->args;
    const struct op_info *info = op_info(o->sample.op);
    for (int i = 0; i < info->operand_count; i++) {
        enum role role = info->operands[i].role;
        if (operand_is_mat(&info->operands[i]) && role != ROLE_OFFSETS &&
            !operand_of_edges(&info->operands[i]))
            operand_mat(&info->operands[i], &args)->data = address;
    }
    return args;
}

/* What ref computes twice, and kernels once: tanh or erf is the same in an activation and in its slope. */
static int64_t shared_exps(const struct sample *s)
{
    bool shares = s->op == OP_mlp_backward && (s->act == ACT_GELU || s->act == ACT_GELU_TANH);
    return shares ? s->dims[DIM_N] * s->dims[DIM_M] : 0;
}

/* Whether the case exists. */
static bool check_case(const struct sample *s)
{
    struct operands *o = operands_new(s, F32);
    if (!o)
        return false;
    union any_args null = without_memory(o, NULL), bad = without_memory(o, (void *)64);
    if (operand_named(s->op, "work")) /* known only after a run */
        operands_run(o, backend_kernel(&backend_ref, s->op, F32, NULL), 1, 0, 0);
    int64_t dims[DIMS];
    char error[256];
    assert_true(op_bind(s->op, &o->args, dims, error, sizeof error));
    int64_t flops = op_flops(s->op, &o->args), exps = op_exps(s->op, &o->args, dims);
    struct ref_count at_null = counted(s->op, &null), at_bad = counted(s->op, &bad);
    if (flops != at_null.flops || flops != at_bad.flops || exps != at_null.exps - shared_exps(s))
        fail_msg(
            "%s, N %d M %d D %d H %d B %d E %d, act %s, absent %x, acc %x: formulas %lld and %lld, counted "
            "%lld and %lld",
            op_info(s->op)->name, (int)s->dims[DIM_N], (int)s->dims[DIM_M], (int)s->dims[DIM_D],
            (int)s->dims[DIM_H], (int)s->dims[DIM_B], (int)s->dims[DIM_E], activation_name(s->act), s->absent,
            s->acc, (long long)flops, (long long)exps, (long long)at_null.flops, (long long)at_null.exps);
    operands_free(o);
    return true;
}

static void test_op(void **state)
{
    static const int64_t shapes[][DIMS] = {{1, 2, 1, 1, 1, 1, 1, 0, 0},
                                           {1, 2, 2, 3, 4, 2, 1, 5, 0},
                                           {1, 2, 29, 7, 15, 3, 4, 60, 0},
                                           {1, 2, 64, 48, 32, 8, 2, 200, 0}};
    static struct sample cases[CASES_MAX];
    enum op op = *(const enum op *)*state;
    struct sample base = {.op = op,
                          .pad = op_info(op)->exchange ? 0 : 2}; /* between ranks rows are contiguous */
    int checked = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int d = 0; d < DIMS; d++)
            base.dims[d] = shapes[i][d];
        base.seed = i + 1;
        int count = operands_cases(&base, true, cases);
        for (int c = 0; c < count; c++)
            checked += check_case(&cases[c]);
    }
    if (!checked)
        fail_msg("%s: no operands could be made", op_info(base.op)->name);
}

/* Costs computed by hand: 2 x 3 outputs of 4 products and a bias; 3 nodes and 2, 2 heads of 2. */
static void test_known_counts(void **state)
{
    (void)state;
    struct sample s = {.op = OP_linear, .dims = {1, 2, 2, 3, 4, 1, 1}, .act = ACT_GELU, .seed = 1};
    struct operands *o = operands_new(&s, F32);
    struct ref_count count = counted(s.op, &o->args);
    assert_int_equal(count.flops, 2 * 3 * (4 + 4 + 1 + 5));
    assert_int_equal(count.exps, 2 * 3);
    operands_free(o);

    s = (struct sample){.op = OP_attention, .dims = {1, 2, 3, 1, 4, 2, 2}, .seed = 1};
    s.absent = operands_without(s.op, 0) | 2;
    o = operands_new(&s, F32);
    assert_false(mat_present(o->args.attention.lse));
    assert_int_equal(o->args.attention.graphs.pairs, 1 + 4);
    count = counted(s.op, &o->args);
    assert_int_equal(count.flops, 5 * 2 * (2 * 2 + 4 + 2 * 2) + 3 * 4);
    assert_int_equal(count.exps, 5 * 2);
    operands_free(o);
}

static void test_taking_empties_the_counter(void **state)
{
    (void)state;
    struct sample s = {.op = OP_add, .dims = {1, 2, 5, 3, 1, 1, 1}, .seed = 1};
    struct operands *o = operands_new(&s, F64);
    const struct kernel *k = backend_kernel(&backend_count, OP_add, F64, NULL);
    ref_count_take();
    k->run(&o->args);
    k->run(&o->args);
    assert_int_equal(ref_count_take().flops, 30);
    assert_int_equal(ref_count_take().flops, 0);
    operands_free(o);
}

/* The canonical layer with 2000 nodes: 4e9 and 1e10 FLOPs, which compilers reduce to the loops over pairs. */
static void test_large_attention(void **state)
{
    (void)state;
    int64_t N = env_set("GTMARK_SMALL") ? 200 : 2000, D = 256, H = 8;
    int64_t at[] = {0, N};
    struct mat x = {.rows = N, .cols = D, .ld = D, .dtype = F32};
    struct mat lse = {.rows = N, .cols = H, .ld = H, .dtype = F64};
    struct offsets graphs = {{.data = at, .rows = 2, .cols = 1, .ld = 1, .dtype = I64}, N * N};

    struct attention_args forward = {
        .y = x, .lse = lse, .q = x, .k = x, .v = x, .graphs = graphs, .heads = (int)H};
    assert_int_equal(counted(OP_attention, &forward).flops, 4 * N * N * (D + H) + N * D + 2 * N * H);

    struct attention_backward_args backward = {.dq = x,
                                               .dk = x,
                                               .dv = x,
                                               .dy = x,
                                               .y = x,
                                               .q = x,
                                               .k = x,
                                               .v = x,
                                               .lse = lse,
                                               .graphs = graphs,
                                               .heads = (int)H};
    assert_int_equal(counted(OP_attention_backward, &backward).flops, N * N * (10 * D + 6 * H) + 2 * N * D);
}

/* Whether an operand is an input of the op's own type. */
static bool holds_reals(const struct operand *p, const struct operands *o)
{
    return operand_is_mat(p) && p->dtype == DTYPE_NONE && !operand_writes(p) &&
           mat_present(*operand_mat(p, &o->args));
}

/* m = scale m + offset */
static void change(struct mat m, double scale, double offset)
{
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t j = 0; j < m.cols; j++)
            mat_set(m, i, j, scale * mat_get(m, i, j) + offset);
}

/* Whether the results of the reference are others if the values of this operand are. */
static bool depends_on(const struct operands *o, int operand)
{
    struct operands *before = operands_copy(o, F64, 0), *after = operands_copy(o, F64, 0);
    const struct kernel *k = backend_kernel(&backend_ref, o->sample.op, F64, NULL);
    change(*operand_mat(&op_info(o->sample.op)->operands[operand], &after->args), 2, 1);
    assert_true(operands_run(before, k, 1, 0, 0) && operands_run(after, k, 1, 0, 0));
    bool differ = !operands_same_bits(before, after);
    operands_free(before);
    operands_free(after);
    return differ;
}

/* The operands, a bit each, that the results depend on, and of `present` those that were there. Ones make
 * inputs equal, which some ops look for. */
static unsigned operands_read(enum op op, int act, bool ones, unsigned *present)
{
    const struct op_info *info = op_info(op);
    struct sample s = {
        .op = op, .dims = {1, 2, 29, 7, 16, 4, 4, 60, 0}, .seed = 1 + (uint64_t)act, .act = act};
    struct operands *o = info->exchange ? NULL : operands_new(&s, F64);
    unsigned read = 0;
    for (int i = 0; o && ones && i < info->operand_count; i++)
        if (holds_reals(&info->operands[i], o))
            change(*operand_mat(&info->operands[i], &o->args), 0, 1);
    for (int i = 0; o && i < info->operand_count; i++)
        if (holds_reals(&info->operands[i], o)) {
            *present |= 1u << i;
            read |= (unsigned)depends_on(o, i) << i;
        }
    if (o)
        operands_free(o);
    return read;
}

/* Bytes count what an op reads. */
static void test_operands_read(void **state)
{
    (void)state;
    for (enum op op = 0; op < OPS; op++) {
        const struct op_info *info = op_info(op);
        unsigned present = 0, read = 0;
        for (int act = 0; act < 2; act++)
            read |= operands_read(op, act, false, &present) | operands_read(op, act, true, &present);
        for (int i = 0; i < info->operand_count; i++)
            if ((present >> i & 1) && (read >> i & 1) == info->operands[i].carried)
                fail_msg("%s: %s is%s read", info->name, info->operands[i].name, read >> i & 1 ? "" : " not");
    }
}

int main(void)
{
    static enum op ops[OPS];
    struct CMUnitTest tests[OPS + 4] = {
        cmocka_unit_test(test_known_counts),
        cmocka_unit_test(test_taking_empties_the_counter),
        cmocka_unit_test(test_large_attention),
        cmocka_unit_test(test_operands_read),
    };
    for (enum op op = 0; op < OPS; op++) {
        ops[op] = op;
        tests[4 + op] = (struct CMUnitTest){op_info(op)->name, test_op, NULL, NULL, &ops[op]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
