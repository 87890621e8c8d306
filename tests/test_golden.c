/*
 * Layers and a whole model against golden results of PyTorch in float64 (tests/golden/make_golden.py):
 * outputs, losses and every gradient, on every backend. No Python is needed here.
 *
 * Both sides make the same inputs: a matrix is uniform on [-1, 1) and keyed by its name, which is exact in
 * float and double.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernels/rng.h"
#include "models/check.h"
#include "models/layers.h"
#include "tests/npy.h"
#include "tests/tapes.h"

enum { NODES = 137, GRAPHS = 3, WIDTH = 12, HEADS = 3, SEED = 7, STEPS = 3 };

/* Rows of each graph; the one in the middle is a single node. */
static int64_t offset[GRAPHS + 1] = {0, 61, 62, NODES};
static const int64_t pairs = 61 * 61 + 1 + 75 * 75;

/* How a program is computed, and how far it may be from the golden results. */
struct way {
    const struct backend *backend;
    enum dtype dtype;
    double output, gradient; /* limits */
};

static const double in_double = 1e-11;

/* Calls back for each way that this machine has. */
static void each_way(void (*test)(const struct way *way, const void *context), const void *context)
{
    test(&(struct way){&backend_ref, F64, in_double, in_double}, context);
    test(&(struct way){&backend_oracle, F64, in_double, in_double}, context);
    test(&(struct way){&backend_ref, F32, CHECK_LIMIT_OUTPUT, CHECK_LIMIT_GRADIENT}, context);
    for (const struct backend *const *b = backend_cpu_all(); *b; b++)
        test(&(struct way){*b, F32, CHECK_LIMIT_OUTPUT, CHECK_LIMIT_GRADIENT}, context);
}

static struct tape_config config_of(const struct way *way)
{
    return (struct tape_config){
        .backend = way->backend, .dtype = way->dtype, .training = true, .threads = 2, .seed = SEED};
}

/* A golden array; free its data. */
static struct mat golden(const char *directory, const char *kind, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "tests/golden/data/%s/%s%s.npy", directory, kind, name);
    struct array a = npy_read(path);
    return array_mat(&a);
}

static void compare(struct check *c, const char *name, struct mat ours, struct mat oracle, double floor,
                    double limit)
{
    if (ours.rows != oracle.rows || ours.cols != oracle.cols)
        fail_msg("%s is %lld x %lld", name, (long long)ours.rows, (long long)ours.cols);
    check_tensor(c, name, ours, oracle, NULL, ours.rows, floor, limit);
}

static void compare_golden(struct check *c, const char *directory, const char *name, struct mat ours,
                           double limit)
{
    struct mat oracle = golden(directory, "", name);
    compare(c, name, ours, oracle, 0, limit);
    free(oracle.data);
}

static void assert_right(const struct check *c, const char *what, const struct way *way)
{
    if (c->excess > 1)
        fail_msg("%s on %s in %s: %s has %.3g times the error allowed", what, way->backend->doc,
                 dtype_name(way->dtype), c->tensor, c->excess);
}

static double squares(struct mat m)
{
    double sum = 0;
    for (int64_t i = 0; i < mat_size(m); i++)
        sum += pow(((const double *)m.data)[i], 2);
    return sum;
}

/* Element i of a matrix of either type, whose rows are dense. */
static double element(struct mat m, int64_t i)
{
    return m.dtype == F64 ? ((const double *)m.data)[i] : (double)((const float *)m.data)[i];
}

/* Entry i of the matrix of that name in the recipe. */
static double recipe(const char *name, int64_t i)
{
    return rng_int24(rng_key(SEED, name), (uint64_t)i) * 0x1p-23;
}

/* --- layers */

struct layer {
    const char *name;
    struct mat (*record)(struct tape *t, struct mat x);
};

static struct mat record_linear(struct tape *t, struct mat x, enum activation act)
{
    return linear(t, "layer", x, 10, act);
}

static struct mat linear_none(struct tape *t, struct mat x)
{
    return record_linear(t, x, ACT_NONE);
}

static struct mat linear_gelu(struct tape *t, struct mat x)
{
    return record_linear(t, x, ACT_GELU);
}

static struct mat linear_gelu_tanh(struct tape *t, struct mat x)
{
    return record_linear(t, x, ACT_GELU_TANH);
}

static struct mat linear_relu(struct tape *t, struct mat x)
{
    return record_linear(t, x, ACT_RELU);
}

static struct mat record_mlp(struct tape *t, struct mat x)
{
    return mlp(t, "layer", x, 17, WIDTH, ACT_GELU);
}

static struct mat record_add_norm(struct tape *t, struct mat x)
{
    struct mat branch = param(t, "branch", NODES, WIDTH, 1);
    return add_norm(t, "layer", x, branch);
}

static struct offsets graphs_of(struct tape *t)
{
    return (struct offsets){.at = input_copy(t, "graphs", I64, GRAPHS + 1, 1, offset), .pairs = pairs};
}

static struct mat record_attention(struct tape *t, struct mat x)
{
    struct offsets graphs = graphs_of(t);
    return attention(t, "layer", x, &graphs, HEADS);
}

static struct mat record_mean_pool(struct tape *t, struct mat x)
{
    struct offsets graphs = graphs_of(t);
    return mean_pool(t, "layer", x, &graphs);
}

/* The input of the loss. */
static struct mat nothing(struct tape *t, struct mat x)
{
    (void)t;
    return x;
}

/* Every parameter, whatever it is initialised with, becomes the matrix of its name in the recipe. */
static void fill_parameters(struct tape *t)
{
    for (int p = 0; p < tape_parameter_count(t); p++) {
        const char *name;
        struct mat m = tape_parameter(t, p, &name);
        for (int64_t i = 0; i < mat_size(m); i++)
            if (m.dtype == F64)
                ((double *)m.data)[i] = recipe(name, i);
            else
                ((float *)m.data)[i] = (float)recipe(name, i);
    }
}

static void compare_gradients(struct check *c, const char *directory, const struct tape *t, double limit)
{
    int count = tape_parameter_count(t);
    struct mat oracle[16];
    double all = 0;
    const char *name;
    assert_true(count <= 16);
    for (int p = 0; p < count; p++) {
        tape_parameter(t, p, &name);
        oracle[p] = golden(directory, "grad.", name);
        all += squares(oracle[p]);
    }
    for (int p = 0; p < count; p++) {
        struct mat gradient = tape_gradient(t, tape_parameter(t, p, &name));
        double share = (double)mat_size(gradient) / (double)tape_parameter_elements(t);
        compare(c, name, gradient, oracle[p], 1e-2 * sqrt(all * share), limit);
        free(oracle[p].data);
    }
}

static void check_layer(const struct way *way, const void *context)
{
    const struct layer *layer = context;
    struct tape_config config = config_of(way);
    struct tape *t = tape_new(&config);
    struct mat x = param(t, "x", NODES, WIDTH, 1);
    struct mat y = layer->record(t, x);
    struct mat loss = mean_squared_error(t, "loss", y, input_uniform(t, "targets", y.rows, y.cols));
    tape_keep(t, y);
    tape_keep(t, loss);
    tape_backward(t, loss);
    assert_true(tape_layout(t));
    tape_init(t);
    fill_parameters(t);
    tape_run(t);

    struct check c = {0};
    if (layer->record != nothing)
        compare_golden(&c, layer->name, "output", tape_view(t, y), way->output);
    compare_golden(&c, layer->name, "loss", tape_view(t, loss), way->output);
    compare_gradients(&c, layer->name, t, way->gradient);
    assert_right(&c, layer->name, way);
    tape_free(t);
}

static void test_layer(void **state)
{
    each_way(check_layer, *state);
}

/* --- a whole model */

static struct recording record_model(const struct way *way)
{
    static const struct model_config sizes = {
        .layers = 2, .hidden = 96, .heads = HEADS, .ffn = 192, .act = ACT_GELU};
    const struct batch b = {.adj.nodes = NODES, .graphs = GRAPHS, .offset = offset, .pairs = pairs};
    struct recording r = record_program(PROGRAM_STEP, &graph_transformer, &sizes, &b, config_of(way));
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    return r;
}

/*
 * The product of a gradient with a random vector, from the left (one number for each column) or from the
 * right (for each row): an entry that is wrong is seen in both.
 */
static void project(struct mat g, bool left, double *out)
{
    for (int64_t n = 0; n < (left ? g.cols : g.rows); n++)
        out[n] = 0;
    for (int64_t i = 0; i < mat_size(g); i++) {
        int64_t row = i / g.cols, col = i % g.cols;
        out[left ? col : row] += element(g, i) * recipe(left ? "left" : "right", left ? row : col);
    }
}

/*
 * The products of all gradients against the golden ones, which stand below one another. A gradient of one row
 * has none from the right: it would be a single number, in which everything may cancel.
 */
static void compare_products(struct check *c, const struct tape *t, bool left, double limit)
{
    struct mat all = golden("graph_transformer", "", left ? "gradients_left" : "gradients_right");
    double *ours = malloc((size_t)all.rows * sizeof *ours), size = squares(all);
    int64_t at = 0;
    for (int p = 0; p < tape_parameter_count(t); p++) {
        const char *name;
        struct mat gradient = tape_gradient(t, tape_parameter(t, p, &name)), a = all, part = all;
        if (!left && gradient.rows == 1)
            continue;
        a.rows = part.rows = left ? gradient.cols : gradient.rows;
        assert_true(at + part.rows <= all.rows);
        a.data = ours + at;
        part.data = (double *)all.data + at;
        project(gradient, left, a.data);
        compare(c, name, a, part, 1e-2 * sqrt(size * (double)part.rows / (double)all.rows), limit);
        at += part.rows;
    }
    assert_int_equal(at, all.rows);
    free(ours);
    free(all.data);
}

static void check_step(struct check *c, const struct recording *r, const struct way *way)
{
    compare_golden(c, "graph_transformer", "output", tape_view(r->tape, r->output), way->output);
    compare_products(c, r->tape, true, way->gradient);
    compare_products(c, r->tape, false, way->gradient);
}

/* Later steps only in double: AdamW divides a gradient by its own size, which magnifies rounding. */
static void check_model(const struct way *way, const void *context)
{
    (void)context;
    struct recording r = record_model(way);
    struct mat losses = golden("graph_transformer", "", "losses");
    assert_int_equal(losses.rows, STEPS);
    losses.rows = 1;
    struct check c = {0};
    for (int step = 0; step < (way->dtype == F64 ? STEPS : 1); step++) {
        tape_run(r.tape);
        if (step == 0)
            check_step(&c, &r, way);
        struct mat loss = losses;
        loss.data = (double *)losses.data + step;
        compare(&c, "loss", tape_view(r.tape, r.loss), loss, 0, way->output);
    }
    assert_right(&c, "graph_transformer", way);
    free(losses.data);
    tape_free(r.tape);
}

static void test_model(void **state)
{
    (void)state;
    each_way(check_model, NULL);
}

/* One entry of 27,648 that is wrong by a millionth of the gradient's root mean square is found in double. */
static void test_products_see_an_entry(void **state)
{
    (void)state;
    const struct way way = {&backend_oracle, F64, in_double, in_double};
    struct recording r = record_model(&way);
    tape_run(r.tape);
    struct mat g = tape_gradient(r.tape, tape_parameter(r.tape, 2, NULL));
    assert_int_equal(mat_size(g), 288 * 96);
    ((double *)g.data)[12345] += 1e-6 * sqrt(squares(g) / (double)mat_size(g));
    for (int left = 0; left < 2; left++) {
        struct check c = {0};
        compare_products(&c, r.tape, left, in_double);
        assert_true(c.excess > 1);
        assert_string_equal(c.tensor, "layer1.attention.qkv.weight");
    }
    tape_free(r.tape);
}

int main(void)
{
    static struct layer layers[] = {
        {"linear_none", linear_none},
        {"linear_gelu", linear_gelu},
        {"linear_gelu_tanh", linear_gelu_tanh},
        {"linear_relu", linear_relu},
        {"mlp", record_mlp},
        {"add_norm", record_add_norm},
        {"attention", record_attention},
        {"mean_pool", record_mean_pool},
        {"mse", nothing},
    };
    enum { LAYERS = sizeof layers / sizeof *layers };
    struct CMUnitTest tests[LAYERS + 2] = {
        [LAYERS] = cmocka_unit_test(test_model),
        [LAYERS + 1] = cmocka_unit_test(test_products_see_an_entry),
    };
    for (int i = 0; i < LAYERS; i++)
        tests[i] =
            (struct CMUnitTest){.name = layers[i].name, .test_func = test_layer, .initial_state = &layers[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
