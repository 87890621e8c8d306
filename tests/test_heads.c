/*
 * Encoders of features and heads in whole models: parameters, gradients by central differences, counted FLOPs
 * and learning; and which types and pairs of nodes are drawn.
 */
#include "models/layers/model.h"
#include "models/tape/count.h"
#include "tests/batches.h"
#include "tests/tapes.h"
#include "tests/test.h"

static struct subject {
    const char *name;
    struct model_config parts;
    int64_t inputs, head; /* parameters for a width of 8 */
} subjects[] = {
    {"types, halving head, binary",
     {.features = {.tables = 3, .types = {4, 1, 3}}, .head = {HEAD_HALVING, 0, 3, LOSS_BINARY}},
     8 * 8,
     8 * 4 + 4 + 4 * 2 + 2 + 2 * 3 + 3},
    {"numbers, deep head, classes of graphs",
     {.features = {.numbers = 3}, .head = {HEAD_MLP, 3, 4, LOSS_CROSS_ENTROPY}},
     3 * 8 + 8,
     2 * (8 * 8 + 8) + 8 * 4 + 4},
    {"normalised numbers", {.features = {.numbers = 3, .normalised = true}}, 3 * 8 + 2 * 8, 8 + 1},
    {"deep head of nodes, binary",
     {.task = TASK_NODE, .head = {HEAD_MLP, 2, 1, LOSS_BINARY}},
     16 * 8 + 8,
     8 * 8 + 8 + 8 + 1},
    {"pairs of nodes", {.task = TASK_EDGE}, 16 * 8 + 8, 8 * 8 + 8},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static struct model_config config_of(const struct subject *s)
{
    struct model_config c = s->parts;
    c.mpnn = MPNN_GIN;
    c.layers = 1;
    c.hidden = 8;
    c.act = ACT_GELU;
    return c;
}

static struct recording ready(const struct model_config *c, const struct batch *b,
                              const struct backend *backend, enum dtype dtype)
{
    struct tape_config tape = {.backend = backend, .dtype = dtype, .threads = 2, .seed = 42};
    struct recording r = program_record(PROGRAM_STEP, c, b, NULL, tape);
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    return r;
}

/* GIN has 2 (d^2 + d) parameters, and its norm 2 d. */
static void test_parameters(void **state)
{
    const struct subject *s = *state;
    struct model_config c = config_of(s);
    assert_int_equal(feature_parameters(&c.features, 8, FEATURES), s->inputs);
    assert_int_equal(head_parameters(&c), s->head);
    assert_int_equal(model_parameters(&c), s->inputs + 2 * (8 * 8 + 8) + 2 * 8 + s->head);
}

static void test_gradients(void **state)
{
    const struct subject *s = *state;
    struct model_config c = config_of(s);
    struct batch b = batch_awkward();
    struct recording r = ready(&c, &b, &backend_ref, F64);
    for (int e = 0; e < tape_entry_count(r.tape); e++) /* no learning between replays */
        if (tape_entry(r.tape, e)->op == OP_adamw)
            ((double *)((const struct adamw_args *)tape_entry(r.tape, e)->args)->schedule.data)[1] = 0;
    double error = tape_gradient_error(r.tape, r.loss);
    if (!(error < 1e-6))
        fail_msg("%s: relative error %g", s->name, error);
    assert_int_equal(tape_count(r.tape, INT64_MAX), tape_total(r.tape).flops);
    tape_free(r.tape);
    batch_free(&b);
}

static void test_loss_falls(void **state)
{
    const struct subject *s = *state;
    struct model_config c = config_of(s);
    struct batch b = batch_er(6, 8);
    struct recording r = ready(&c, &b, backend_cpu(), F32);
    tape_run(r.tape);
    double first = tape_scalar(r.tape, r.loss);
    for (int n = 0; n < 100; n++)
        tape_run(r.tape);
    double last = tape_scalar(r.tape, r.loss);
    if (!(last < 0.9 * first))
        fail_msg("%s: the loss went from %g to %g", s->name, first, last);
    tape_free(r.tape);
    batch_free(&b);
}

/* Each type is drawn from the rows of its own table, and every row is. */
static void test_types(void **state)
{
    (void)state;
    static const int sizes[] = {3, 1, 5};
    struct tape_config config = {.backend = &backend_ref, .dtype = F64, .threads = 1, .seed = 42};
    struct tape *t = tape_new(&config);
    struct mat m = input_types(t, "types", all_rows(200), sizes, 3);
    assert_true(tape_layout(t));
    tape_init(t);
    m = tape_view(t, m);
    int seen[9] = {0};
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0, first = 0; k < 3; first += sizes[k++]) {
            int64_t type = (int64_t)mat_get(m, i, k);
            assert_true(type >= first && type < first + sizes[k]);
            seen[type]++;
        }
    for (int n = 0; n < 9; n++)
        assert_true(seen[n] > 0);
    tape_free(t);
}

static struct mat input_named(const struct tape *t, const char *wanted)
{
    const char *name = "";
    struct mat m = {0};
    for (int i = 0; i < tape_input_count(t) && strcmp(name, wanted) != 0; i++)
        m = tape_input(t, i, &name);
    assert_string_equal(name, wanted);
    return m;
}

static void test_pairs_are_within_graphs(void **state)
{
    (void)state;
    struct model_config c = config_of(&subjects[SUBJECTS - 1]);
    struct batch b = batch_awkward();
    struct recording r = ready(&c, &b, &backend_ref, F64);
    struct mat pairs = input_named(r.tape, "pairs");
    assert_int_equal(pairs.rows, b.adj.nodes);
    int different = 0;
    for (int64_t g = 0; g < b.graphs; g++)
        for (int64_t i = b.offset[g]; i < b.offset[g + 1]; i++) {
            for (int64_t k = 0; k < 2; k++)
                assert_true(mat_get(pairs, i, k) >= (double)b.offset[g] &&
                            mat_get(pairs, i, k) < (double)b.offset[g + 1]);
            different += mat_get(pairs, i, 0) != mat_get(pairs, i, 1);
        }
    assert_true(different > b.adj.nodes / 2);
    tape_free(r.tape);
    batch_free(&b);
}

int main(void)
{
    static const struct CMUnitTest of_each[] = {cmocka_unit_test(test_parameters),
                                                cmocka_unit_test(test_gradients),
                                                cmocka_unit_test(test_loss_falls)};
    enum { EACH = sizeof of_each / sizeof *of_each };
    static char names[SUBJECTS][EACH][100];
    struct CMUnitTest tests[2 + SUBJECTS * EACH] = {cmocka_unit_test(test_types),
                                                    cmocka_unit_test(test_pairs_are_within_graphs)};
    for (int i = 0; i < SUBJECTS; i++)
        for (int n = 0; n < EACH; n++) {
            struct CMUnitTest *test = &tests[2 + i * EACH + n];
            snprintf(names[i][n], sizeof names[i][n], "%s: %s", subjects[i].name, of_each[n].name);
            *test = of_each[n];
            test->name = names[i][n];
            test->initial_state = &subjects[i];
        }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
