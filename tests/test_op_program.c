/*
 * Programs of one op, for every op and variant: results against the reference in double, on a batch of
 * directed graphs; nonzero inputs, and inputs that the forward op computes.
 */
#include <math.h>

#include "models/layers/check.h"
#include "models/layers/op_program.h"
#include "models/tape/count.h"
#include "tests/batches.h"
#include "tests/test.h"

static const struct model_config config = {
    .layers = 1, .hidden = 12, .heads = 3, .ffn = 20, .act = ACT_GELU, .attention = ATTENTION_DENSE};

static struct tape *ready(struct form f, const struct batch *b, const char *variant)
{
    struct tape_config t = {.backend = backend_cpu(), .dtype = F32, .threads = 2, .seed = 5};
    t.variant[f.op][f.options] = variant;
    struct tape *tape = op_program_record(f, &config, b, t).tape;
    assert_int_equal(tape_entry_count(tape), 1);
    assert_true(tape_layout(tape));
    tape_init(tape);
    return tape;
}

static bool is_zero(struct mat m)
{
    for (int64_t i = 0; i < mat_size(m); i++)
        if (m.dtype == F32 ? ((float *)m.data)[i] != 0 : ((unsigned char *)m.data)[i] != 0)
            return false;
    return true;
}

static void check_variant(struct form f, const struct batch *b, const char *variant)
{
    struct tape *t = ready(f, b, variant);
    const struct entry *e = tape_entry(t, 0);
    const struct op_info *info = op_info(f.op);
    assert_string_equal(e->form, form_name(f));
    assert_string_equal(e->kernel->variant, variant);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        struct mat *m = operand_is_mat(o) ? operand_mat(o, e->args) : NULL;
        bool wanted = !o->option || (operand_option(f.op, o) & f.options);
        if (!m || o->carried)
            continue;
        if (!wanted) {
            assert_false(mat_present(*m));
            continue;
        }
        if (!mat_present(*m) || (operand_reads(o, m) && m->dtype == F32 && is_zero(*m)))
            fail_msg("%s: %s is %s", e->form, o->name, mat_present(*m) ? "zero" : "absent");
    }
    struct check c = {0};
    assert_true(check_rows(&c, t, 1, NULL));
    if (c.tensors == 0 || !(c.excess <= 1))
        fail_msg("%s, %s: %s has %g times the allowed error", e->form, variant, c.tensor, c.excess);
    tape_learn(t);
    assert_true(tape_count(t, INT64_MAX) == tape_total(t).flops);
    tape_free(t);
}

static void test_op(void **state)
{
    struct form f = *(const struct form *)*state;
    assert_null(op_program_refuses(f.op));
    struct batch awkward = batch_awkward(), er = batch_er(30, 1);
    int variants = 0;
    for (const struct backend *from = backend_cpu(); from; from = from->base)
        for (int i = 0; i < from->count; i++)
            if (from->kernels[i].op == f.op && from->kernels[i].dtype == F32 &&
                kernel_supports(&from->kernels[i], f.options)) {
                check_variant(f, &awkward, from->kernels[i].variant);
                check_variant(f, &er, from->kernels[i].variant);
                variants++;
            }
    assert_true(variants > 0);
    batch_free(&awkward);
    batch_free(&er);
}

/* attention_backward reads what attention wrote, also after further runs and another initialisation. */
static void test_inputs_of_a_forward_op(void **state)
{
    (void)state;
    struct batch b = batch_awkward();
    struct tape *forward = ready((struct form){OP_attention, 0}, &b, NULL);
    struct tape *backward = ready((struct form){OP_attention_backward, 0}, &b, NULL);
    tape_run(forward);
    const struct attention_args *f = tape_entry(forward, 0)->args;
    const struct attention_backward_args *a = tape_entry(backward, 0)->args;
    for (int round = 0; round < 2; round++) {
        assert_memory_equal(f->q.data, a->q.data, (size_t)mat_bytes(a->q));
        assert_memory_equal(f->y.data, a->y.data, (size_t)mat_bytes(a->y));
        assert_memory_equal(f->lse.data, a->lse.data, (size_t)mat_bytes(a->lse));
        tape_run(backward);
        tape_init(backward);
    }
    tape_free(forward);
    tape_free(backward);
    batch_free(&b);
}

/* adamw does not change the step count, and advance increments it. */
static void test_states(void **state)
{
    (void)state;
    struct batch b = batch_er(5, 1);
    struct tape *t = ready((struct form){OP_advance, 0}, &b, NULL);
    const double *schedule = ((const struct advance_args *)tape_entry(t, 0)->args)->schedule.data;
    double before = schedule[0];
    tape_run(t);
    assert_true(before > 0 && schedule[0] == before + 1);
    tape_free(t);
    t = ready((struct form){OP_adamw, 0}, &b, NULL);
    assert_int_equal(((const struct adamw_args *)tape_entry(t, 0)->args)->p.cols, model_parameters(&config));
    tape_free(t);
    batch_free(&b);
}

int main(void)
{
    static struct form forms[FORMS];
    static struct CMUnitTest tests[FORMS + 2] = {cmocka_unit_test(test_inputs_of_a_forward_op),
                                                 cmocka_unit_test(test_states)};
    for (int i = 0; form_at(i).op < OPS; i++) {
        forms[i] = form_at(i);
        if (!op_info(forms[i].op)->exchange) /* cmocka skips what has no function */
            tests[2 + i] = (struct CMUnitTest){form_name(forms[i]), test_op, NULL, NULL, &forms[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
