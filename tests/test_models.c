/*
 * Whole models, each that is registered: parameters by the formula, gradients by central differences, a step
 * against double, counted FLOPs, and learning. Published sizes and closed formulas of a model are its own
 * tests.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/count.h"
#include "models/listing.h"
#include "models/model.h"
#include "tests/tapes.h"

static struct batch batch_of(int64_t nodes, int64_t graphs)
{
    struct graph_config g = {.family = "er", .nodes = nodes, .degree = 3, .graphs = graphs, .seed = 1};
    struct batch b;
    char error[256];
    assert_true(batch_generate(&b, &g, error, sizeof error));
    return b;
}

static struct tape_config config_of(const struct backend *backend, enum dtype dtype)
{
    return (struct tape_config){.backend = backend, .dtype = dtype, .threads = 2, .seed = 42};
}

/* The published size of one layer: 4 (d^2 + d) of attention, the FFN's two linear layers, two norms. */
static void test_parameter_oracle(void **state)
{
    (void)state;
    struct model_config c = {.layers = 6, .hidden = 256, .heads = 8, .ffn = 512, .act = ACT_GELU};
    int64_t d = 256, layer = 4 * (d * d + d) + 2 * d * 512 + 512 + d + 4 * d;
    assert_int_equal(graph_transformer.parameters(&c), 17 * d + 6 * layer + d + 1);
    struct batch b = batch_of(10, 1);
    struct recording r =
        record_program(PROGRAM_FORWARD, &graph_transformer, &c, &b, config_of(backend_cpu(), F32));
    assert_int_equal(tape_parameter_elements(r.tape), graph_transformer.parameters(&c));
    const char *name;
    struct mat w = tape_parameter(r.tape, 2, &name);
    assert_string_equal(name, "layer1.attention.qkv.weight");
    assert_int_equal(w.rows, 3 * d);
    tape_free(r.tape);
    batch_free(&b);
}

/* The model's output for graphs of 4, 1 and 2 nodes. */
static struct mat record_model(struct tape *t, const struct model *m, const struct model_config *c)
{
    static const int64_t at[] = {0, 4, 5, 7};
    struct offsets graphs = {.at = input_copy(t, "graphs", I64, 4, 1, at), .pairs = 16 + 1 + 4};
    return m->record(t, c, input_uniform(t, "features", 7, FEATURES), &graphs);
}

static void test_parameters_by_the_formula(void **state)
{
    const struct model *m = *state;
    static const struct model_config configs[] = {{.layers = 1, .hidden = 1, .heads = 1, .ffn = 1},
                                                  {.layers = 1, .hidden = 6, .heads = 3, .ffn = 5},
                                                  {.layers = 2, .hidden = 6, .heads = 2, .ffn = 5},
                                                  {.layers = 3, .hidden = 10, .heads = 5, .ffn = 7},
                                                  {.layers = 5, .hidden = 21, .heads = 7, .ffn = 64},
                                                  {.layers = 12, .hidden = 48, .heads = 4, .ffn = 11},
                                                  {.layers = 6, .hidden = 256, .heads = 8, .ffn = 512}};
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        struct tape_config config = config_of(backend_cpu(), F32);
        struct tape *t = tape_new(&config);
        record_model(t, m, &configs[i]);
        assert_int_equal(tape_parameter_elements(t), m->parameters(&configs[i]));
        tape_free(t);
    }
}

static void test_gradients(void **state)
{
    const struct model *m = *state;
    for (enum activation act = 0; act < ACT_KINDS; act++) {
        struct model_config c = {.layers = 2, .hidden = 6, .heads = 3, .ffn = 5, .act = act};
        struct tape *t = tape_new_in_double();
        struct mat y = record_model(t, m, &c);
        struct mat loss = op(t, mse, .y = y, .target = input_uniform(t, "targets", y.rows, y.cols))->loss;
        tape_make_ready(t, loss);
        double error = tape_gradient_error(t, loss);
        if (!(error < 1e-6))
            fail_msg("%s, act %s: relative error %g", m->name, activation_name(act), error);
        tape_free(t);
    }
}

static const struct model_config small = {.layers = 2, .hidden = 40, .heads = 5, .ffn = 72, .act = ACT_GELU};

/* What a step in float leaves behind, against the same step of the reference in double from the same
 * parameters. */
static void test_step_agrees_with_double(void **state)
{
    const struct model *m = *state;
    struct batch b = batch_of(67, 3);
    struct recording f = record_program(PROGRAM_STEP, m, &small, &b, config_of(backend_cpu(), F32));
    struct recording d = record_program(PROGRAM_STEP, m, &small, &b, config_of(&backend_ref, F64));
    assert_true(tape_layout(f.tape) && tape_layout(d.tape));
    tape_init(f.tape);
    tape_init(d.tape);
    tape_run(f.tape);
    tape_run(d.tape);
    assert_true(fabs(tape_scalar(f.tape, f.loss) / tape_scalar(d.tape, d.loss) - 1) < 1e-5);
    double difference = 0, norm = 0;
    for (int p = 0; p < tape_parameter_count(f.tape); p++) {
        struct mat gf = tape_gradient(f.tape, tape_parameter(f.tape, p, NULL));
        struct mat gd = tape_gradient(d.tape, tape_parameter(d.tape, p, NULL));
        for (int64_t i = 0; i < mat_size(gf); i++) {
            double a = ((float *)gf.data)[i], r = ((double *)gd.data)[i];
            difference += (a - r) * (a - r);
            norm += r * r;
        }
    }
    assert_true(norm > 0 && sqrt(difference / norm) < 1e-4);
    tape_free(f.tape);
    tape_free(d.tape);
    batch_free(&b);
}

static void test_loss_falls(void **state)
{
    const struct model *m = *state;
    struct batch b = batch_of(20, 8);
    struct recording r = record_program(PROGRAM_STEP, m, &small, &b, config_of(backend_cpu(), F32));
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    tape_run(r.tape);
    double first = tape_scalar(r.tape, r.loss);
    for (int i = 0; i < 150; i++)
        tape_run(r.tape);
    double last = tape_scalar(r.tape, r.loss);
    if (!(last < 0.02 * first))
        fail_msg("eight targets, 150 steps: the loss went from %g to %g", first, last);
    tape_init(r.tape);
    tape_run(r.tape);
    assert_true(tape_scalar(r.tape, r.loss) == first); /* init restores everything */
    tape_free(r.tape);
    batch_free(&b);
}

/* The forward pass of inference and of training are the same function. */
static void test_inference_equals_training(void **state)
{
    const struct model *m = *state;
    struct batch b = batch_of(33, 2);
    struct recording f = record_program(PROGRAM_FORWARD, m, &small, &b, config_of(backend_cpu(), F32));
    struct recording s = record_program(PROGRAM_STEP, m, &small, &b, config_of(backend_cpu(), F32));
    assert_true(tape_layout(f.tape) && tape_layout(s.tape));
    tape_init(f.tape);
    tape_init(s.tape);
    tape_run(f.tape);
    tape_run(s.tape);
    struct mat x = tape_view(f.tape, f.output), y = tape_view(s.tape, s.output);
    assert_memory_equal(x.data, y.data, (size_t)mat_bytes(x));
    assert_true(tape_planned(f.tape)->arena < tape_planned(s.tape)->arena);
    tape_free(f.tape);
    tape_free(s.tape);
    batch_free(&b);
}

static bool all_finite(struct mat m)
{
    for (int64_t i = 0; i < mat_size(m); i++)
        if (!isfinite(m.dtype == F64 ? ((double *)m.data)[i] : (double)((float *)m.data)[i]))
            return false;
    return true;
}

/* One step from features of +-1e15: whether output, loss and every gradient are finite. */
static bool finite_from_huge_features(const struct model *m, const struct batch *b,
                                      const struct backend *backend, enum dtype dtype)
{
    struct recording r = record_program(PROGRAM_STEP, m, &small, b, config_of(backend, dtype));
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    const char *name;
    struct mat features = tape_input(r.tape, 0, &name);
    assert_string_equal(name, "features");
    for (int64_t i = 0; i < mat_size(features); i++) {
        if (dtype == F64)
            ((double *)features.data)[i] *= 1e15;
        else
            ((float *)features.data)[i] *= 1e15f;
    }
    tape_run(r.tape);
    bool finite = all_finite(tape_view(r.tape, r.output)) && all_finite(tape_view(r.tape, r.loss));
    for (int p = 0; p < tape_parameter_count(r.tape); p++)
        finite &= all_finite(tape_gradient(r.tape, tape_parameter(r.tape, p, NULL)));
    tape_free(r.tape);
    return finite;
}

static void test_huge_features_stay_finite(void **state)
{
    struct batch b = batch_of(33, 2);
    assert_true(finite_from_huge_features(*state, &b, &backend_oracle, F64));
    for (const struct backend *const *cpu = backend_cpu_all(); *cpu; cpu++)
        assert_true(finite_from_huge_features(*state, &b, *cpu, F32));
    assert_true(finite_from_huge_features(*state, &b, &backend_ref, F32));
    batch_free(&b);
}

static void test_counted_equals_analytic(void **state)
{
    const struct model *m = *state;
    struct batch b = batch_of(29, 3);
    struct recording r = record_program(PROGRAM_STEP, m, &small, &b, config_of(&backend_ref, F64));
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    struct cost total = tape_total(r.tape);
    assert_true(total.flops > 1000000);
    assert_int_equal(tape_count(r.tape, INT64_MAX), total.flops);
    assert_int_equal(tape_count(r.tape, 1000), -1);
    tape_free(r.tape);
    batch_free(&b);
}

/* Sizes that no machine holds: 10 million nodes, whose 4 N^2 d FLOPs pass 2^53. */
static void test_dry_run(void **state)
{
    (void)state;
    struct graph_config g = {.family = "er", .nodes = 10000000, .degree = 5, .graphs = 1, .seed = 1};
    struct batch b;
    char error[256];
    assert_true(batch_shape(&b, &g, error, sizeof error));
    struct model_config c = {.layers = 1, .hidden = 256, .heads = 8, .ffn = 512, .act = ACT_GELU};
    struct recording r =
        record_program(PROGRAM_FORWARD, &graph_transformer, &c, &b, config_of(backend_cpu(), F32));
    int64_t n = 10000000, d = 256, h = 8, f = 512;
    int64_t linear = 2 * n * (FEATURES * d + 4 * d * d + 2 * d * f), bias = n * (d + 4 * d + f + d),
            act = 5 * n * f;
    int64_t attention = 4 * n * n * (d + h) + n * d, norms = 2 * (n * d + n * (8 * d + 5));
    int64_t head = (n + 1) * d + 2 * d + 1;
    assert_int_equal(tape_cost(r.tape, PHASE_FORWARD).flops, linear + bias + act + attention + norms + head);
    tape_free(r.tape);
    batch_free(&b);
}

static void test_listing(void **state)
{
    (void)state;
    struct batch b = batch_of(12, 1);
    struct recording r =
        record_program(PROGRAM_STEP, &graph_transformer, &small, &b, config_of(backend_cpu(), F32));
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    tape_list(r.tape, out);
    fclose(out);
    int lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, tape_entry_count(r.tape) + 1);
    assert_non_null(strstr(text, "backward  layer2.ffn.down"));
    assert_non_null(strstr(text, "y 12x40, lse 12x5 <- q 12x40, k 12x40, v 12x40, graphs 2x1"));
    free(text);
    tape_free(r.tape);
    batch_free(&b);
}

static const struct CMUnitTest of_every_model[] = {
    cmocka_unit_test(test_parameters_by_the_formula), cmocka_unit_test(test_gradients),
    cmocka_unit_test(test_step_agrees_with_double),   cmocka_unit_test(test_loss_falls),
    cmocka_unit_test(test_inference_equals_training), cmocka_unit_test(test_counted_equals_analytic),
    cmocka_unit_test(test_huge_features_stay_finite),
};

enum { OWN_TESTS = 3, PER_MODEL = sizeof of_every_model / sizeof *of_every_model, MODELS_MAX = 16 };

int main(void)
{
    struct CMUnitTest tests[OWN_TESTS + MODELS_MAX * PER_MODEL] = {
        cmocka_unit_test(test_parameter_oracle),
        cmocka_unit_test(test_dry_run),
        cmocka_unit_test(test_listing),
    }; /* cmocka passes over the empty ones */
    static char names[MODELS_MAX][PER_MODEL][100];
    for (int m = 0; models[m]; m++) {
        if (m == MODELS_MAX)
            abort();
        for (int i = 0; i < PER_MODEL; i++) {
            struct CMUnitTest *test = &tests[OWN_TESTS + m * PER_MODEL + i];
            snprintf(names[m][i], sizeof names[m][i], "%s: %s", models[m]->name, of_every_model[i].name);
            *test = of_every_model[i];
            test->name = names[m][i];
            test->initial_state = (void *)(uintptr_t)models[m];
        }
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
