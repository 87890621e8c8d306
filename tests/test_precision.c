/*
 * Models in BF16 and TF32: their results by the limits of whole programs, training beside that in F32, what
 * ops read of the parameters, and memory. GTMARK_SOAK=1 trains all norms with both kinds of attention, on up
 * to 2000 nodes, and gives the distribution of slopes of docs/validation/gradients.md.
 */
#include <math.h>
#include <string.h>

#include "models/layers/check.h"
#include "models/tape/tape_internal.h"
#include "tests/batches.h"
#include "tests/test.h"

enum { WIDTH = 16, STEPS = 50 };

static struct model_config parts_of(enum attention_kind attention, enum mpnn_kind mpnn, enum norm_kind norm)
{
    return (struct model_config){.layers = 2,
                                 .hidden = attention_is_linear(attention) ? PERFORMER_WIDTH : WIDTH,
                                 .heads = attention_is_linear(attention) ? 1 : 2,
                                 .ffn = 2 * WIDTH,
                                 .act = ACT_GELU,
                                 .attention = attention,
                                 .mpnn = mpnn,
                                 .norm = norm};
}

static struct recording recorded(const struct model_config *c, const struct batch *b,
                                 const struct backend *backend, enum precision p, enum dtype dtype)
{
    struct tape_config tape = {
        .backend = backend, .dtype = dtype, .bits = precision_bits(p), .threads = 1, .seed = 42};
    return program_record(PROGRAM_STEP, c, b, NULL, tape);
}

static struct recording ready(const struct model_config *c, const struct batch *b, enum precision p)
{
    struct recording r = recorded(c, b, backend_cpu(), p, precision_dtype(p));
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    return r;
}

static double scalar_of(const struct tape *t, struct mat m)
{
    return mat_get(tape_view(t, m), 0, 0);
}

/* The losses of the first and of the last of so many steps. */
static void train(const struct model_config *c, const struct batch *b, enum precision p, double loss[2])
{
    struct recording r = ready(c, b, p);
    for (int i = 0; i < STEPS; i++) {
        tape_run(r.tape);
        loss[i > 0] = scalar_of(r.tape, r.loss);
    }
    tape_free(r.tape);
}

/* Training on labels of nodes, which no model of this size fits in so few steps. */
static void expect_training(enum attention_kind attention, enum norm_kind norm, int64_t nodes)
{
    struct model_config c = parts_of(attention, MPNN_GIN, norm);
    struct batch b = batch_er(nodes, 1);
    double f32[2], other[2];
    c.task = TASK_NODE;
    train(&c, &b, PRECISION_F32, f32);
    assert_true(f32[1] < 0.95 * f32[0]);
    for (enum precision p = PRECISION_TF32; p < PRECISIONS; p++) {
        train(&c, &b, p, other);
        print_message("%s, %s norm, %d nodes: loss %.4f to %.4f in f32, to %.4f in %s\n",
                      attention_name((int)attention), norm_name((int)norm), (int)nodes, f32[0], f32[1],
                      other[1], precision_name((int)p));
        if (!(fabs(other[1] - f32[1]) <= 0.05 * f32[1]))
            fail_msg("%s: beyond 5 %%", precision_name((int)p));
    }
    batch_free(&b);
}

TEST(test_training)
{
    static const int64_t nodes[] = {137, 500, 2000};
    for (size_t n = 0; n < (env_set("GTMARK_SOAK") ? 3 : 1); n++)
        for (enum norm_kind norm = 0; norm < NORM_KINDS; norm++)
            for (int sparse = 0; sparse < 2; sparse++)
                if (env_set("GTMARK_SOAK") || sparse == (int)norm % 2)
                    expect_training(sparse ? ATTENTION_SPARSE : ATTENTION_DENSE, norm, nodes[n]);
}

/* Output, loss and gradients of a step, compared with the oracle, in which products round their factors too.
 */
static void expect_right(const struct model_config *c, const struct batch *b, enum precision p,
                         const char *name)
{
    struct recording ours = ready(c, b, p), oracle = recorded(c, b, &backend_oracle, p, F64);
    struct check check = {0};
    for (int e = 0; e < tape_entry_count(ours.tape); e++) {
        const struct kernel *k = tape_entry(ours.tape, e)->kernel;
        assert_true(!op_has_factors(k->op) || k->bits == (p == PRECISION_TF32 ? 11 : 8));
    }
    assert_true(tape_layout(oracle.tape));
    tape_init(oracle.tape);
    check_whole(&check, &ours, &oracle);
    if (!(check.excess <= 1))
        fail_msg("%s in %s: %s has %g times the allowed error", name, precision_name((int)p), check.tensor,
                 check.excess);
    tape_init(ours.tape);
    check = (struct check){0};
    assert_true(check_rows(&check, ours.tape, 42, NULL));
    if (!(check.excess <= 1))
        fail_msg("%s in %s, by rows: %s has %g times the allowed error", name, precision_name((int)p),
                 check.tensor, check.excess);
    tape_init(ours.tape);
    assert_true(check_adamw(&check, ours.tape));
    assert_string_equal(check.found, "");
    tape_free(ours.tape);
    tape_free(oracle.tape);
}

TEST(test_models)
{
    struct batch b = batch_er(37, 3);
    for (enum precision p = PRECISION_TF32; p < PRECISIONS; p++)
        for (int i = 0; models[i].name; i++) {
            struct model_config c = parts_of(models[i].attention, models[i].mpnn, NORM_LAYER);
            expect_right(&c, &b, p, models[i].name);
        }
    batch_free(&b);
}

/* Slopes of right gradients above the floor, as distances from 1; and programs, by how their check ends. */
struct slopes {
    double *of;
    int count, beyond, programs, again;
};

static void add_slopes(struct slopes *s, const struct tape *ours, const struct tape *oracle, double share,
                       double limit)
{
    double all = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < tape_parameter_count(oracle); i++) {
            struct mat r = tape_gradient(oracle, tape_parameter(oracle, i, NULL));
            struct mat g = tape_gradient(ours, tape_parameter(ours, i, NULL));
            double size = 0;
            for (int64_t n = 0; n < mat_size(r); n++)
                size += pow(mat_get(r, n / r.cols, n % r.cols), 2);
            all += pass ? 0 : size;
            double floor =
                share * share * all * (double)mat_size(r) / (double)tape_parameter_elements(oracle);
            if (pass == 0 || size < floor || size == 0)
                continue;
            s->of = realloc(s->of, (size_t)(s->count + 1) * sizeof *s->of);
            assert_non_null(s->of);
            s->of[s->count++] = fabs(check_slope(g, r) - 1);
            s->beyond += s->of[s->count - 1] > limit;
        }
}

/* Checks a right program as a whole, a second time if need be, and by rows: it must pass. */
static void measure_slopes(struct slopes *s, const struct model_config *c, const struct batch *b,
                           enum precision p)
{
    struct recording ours = ready(c, b, p), oracle = recorded(c, b, &backend_oracle, p, F64);
    struct check check = {0}, rows = {0};
    assert_true(tape_layout(oracle.tape));
    tape_init(oracle.tape);
    check_whole(&check, &ours, &oracle);
    add_slopes(s, ours.tape, oracle.tape, p == PRECISION_BF16 ? 1e-1 : 1e-2,
               p == PRECISION_BF16 ? CHECK_BF16_SLOPE : CHECK_TF32_SLOPE);
    s->programs++;
    if (check.excess > 1) {
        struct recording moved = recorded(c, b, &backend_oracle, p, precision_dtype(p));
        s->again++;
        assert_true(tape_layout(moved.tape));
        assert_true(check_whole_again(&check, &ours, &oracle, &moved));
        tape_free(moved.tape);
    }
    tape_init(ours.tape);
    assert_true(check_rows(&rows, ours.tape, 42, NULL));
    if (check.excess > 1 || rows.excess > 1)
        fail_msg("%s, %s, %s norm, %d nodes, %s: %s has %g times the allowed error", mpnn_name((int)c->mpnn),
                 attention_name((int)c->attention), norm_name((int)c->norm), (int)b->adj.nodes,
                 precision_name((int)p), check.excess > 1 ? check.tensor : rows.tensor,
                 fmax(check.excess, rows.excess));
    tape_free(ours.tape);
    tape_free(oracle.tape);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Programs of all parts, sizes and numbers of graphs; of every EACH-th, or in a long test of every third. */
TEST(test_slopes)
{
    enum { EACH = 330 };
    static const int64_t nodes[] = {5, 20, 60, 200};
    struct slopes all[PRECISIONS] = {{0}};
    const int kinds = MPNN_KINDS * ATTENTION_KINDS * NORM_KINDS, each = env_set("GTMARK_SOAK") ? 3 : EACH;
    for (int n = 0; n < kinds * 8; n += each) {
        int kind = n / 8;
        struct model_config c = {.layers = 2,
                                 .hidden = 32,
                                 .heads = 4,
                                 .ffn = 64,
                                 .act = (enum activation)(1 + n % (ACT_KINDS - 1)),
                                 .mpnn = (enum mpnn_kind)(kind % MPNN_KINDS),
                                 .attention = (enum attention_kind)(kind / MPNN_KINDS % ATTENTION_KINDS),
                                 .norm = (enum norm_kind)(kind / MPNN_KINDS / ATTENTION_KINDS),
                                 .task = n % 5 ? TASK_GRAPH : TASK_NODE,
                                 .pool = (enum pool_kind)(n % POOL_TOKEN)};
        if (c.mpnn == MPNN_NONE && c.attention == ATTENTION_NONE)
            continue;
        struct batch b = batch_er(nodes[n % 4], n / 4 % 2 ? 4 : 1);
        for (enum precision p = PRECISION_TF32; p < PRECISIONS; p++)
            measure_slopes(&all[p], &c, &b, p);
        batch_free(&b);
    }
    for (enum precision p = PRECISION_TF32; p < PRECISIONS; p++) {
        struct slopes *s = &all[p];
        qsort(s->of, (size_t)s->count, sizeof *s->of, ascending);
        print_message("%s: %d gradients: |slope - 1| median %.1g, 99 %% %.1g, 99.9 %% %.1g, largest %.1g; "
                      "%d beyond the limit; %d of %d programs checked again, all right\n",
                      precision_name((int)p), s->count, s->of[s->count / 2], s->of[s->count * 99 / 100],
                      s->of[(int64_t)s->count * 999 / 1000], s->of[s->count - 1], s->beyond, s->again,
                      s->programs);
        free(s->of);
    }
}

/* A step of every kind of loss, pooling and norm runs, and its results are finite. */
TEST(test_parts)
{
    struct batch b = batch_er(37, 3);
    for (int i = 0; i < NORM_KINDS * TASK_KINDS * POOL_KINDS; i++) {
        struct model_config c = parts_of(ATTENTION_DENSE, MPNN_GINE, (enum norm_kind)(i % NORM_KINDS));
        c.task = (enum task_kind)(i / NORM_KINDS % TASK_KINDS);
        c.pool = (enum pool_kind)(i / NORM_KINDS / TASK_KINDS);
        if (model_has_token(&c))
            c.mpnn = MPNN_NONE;
        c.mlp = i % 2 ? MLP_FUSED : MLP_UNFUSED;
        c.dropout = i % 2 ? 0 : 0.1;
        c.attention_dropout = 0.2;
        c.checkpoint = i % 3 ? NULL : "layer";
        struct recording r = ready(&c, &b, PRECISION_BF16);
        tape_run(r.tape);
        assert_true(isfinite(scalar_of(r.tape, r.loss)));
        tape_free(r.tape);
    }
    batch_free(&b);
}

/* In training a parameter has 18 bytes: itself, its gradient, AdamW's two and the copy. */
TEST(test_memory)
{
    struct batch b = batch_er(500, 1);
    struct model_config c = parts_of(ATTENTION_DENSE, MPNN_GIN, NORM_LAYER);
    c.hidden = 256, c.ffn = 512, c.heads = 8, c.layers = 6;
    int64_t activations[2], parameters = model_parameters(&c);
    for (int i = 0; i < 2; i++) {
        struct recording r = recorded(&c, &b, backend_cpu(), PRECISION_F32, i ? BF16 : F32);
        const struct plan *p = tape_plan(r.tape);
        int64_t bytes =
            p->at_peak[MEMORY_PARAMETERS] + p->at_peak[MEMORY_GRADIENTS] + p->at_peak[MEMORY_OPTIMIZER];
        assert_int_equal(bytes - 16, (i ? 18 : 16) * parameters); /* 16: step and rate */
        activations[i] = 0;
        for (int e = 0; e < tape_entry_count(r.tape); e++) {
            int64_t live = tape_live_of(r.tape, e, MEMORY_ACTIVATIONS);
            activations[i] = live > activations[i] ? live : activations[i];
        }
        tape_free(r.tape);
    }
    print_message("activations: %.3f of those in f32\n", (double)activations[1] / (double)activations[0]);
    assert_true((double)activations[1] <= 0.52 * (double)activations[0]);
    batch_free(&b);
}

/* In inference a parameter has 2 bytes, and no scratch of initialisation makes the arena larger than in F32.
 */
TEST(test_memory_of_inference)
{
    struct batch b = batch_er(100, 1);
    struct model_config c = parts_of(ATTENTION_DENSE, MPNN_GIN, NORM_LAYER);
    c.hidden = 256, c.ffn = 512, c.heads = 8, c.layers = 6;
    int64_t arena[2];
    for (int i = 0; i < 2; i++) {
        struct tape_config tape = {.backend = backend_cpu(), .dtype = i ? BF16 : F32, .threads = 1};
        struct recording r = program_record(PROGRAM_FORWARD, &c, &b, NULL, tape);
        arena[i] = tape_plan(r.tape)->arena;
        assert_int_equal(tape_planned(r.tape)->at_peak[MEMORY_PARAMETERS],
                         (i ? 2 : 4) * model_parameters(&c));
        tape_free(r.tape);
    }
    print_message("arena: %.3f of that in f32\n", (double)arena[1] / (double)arena[0]);
    assert_true((double)arena[1] <= 0.65 * (double)arena[0]);
    batch_free(&b);
}

enum { ROWS = 2100, PERIOD = 50, COLS = 24 };

static struct mat filled(int64_t rows, int64_t cols, enum dtype dtype)
{
    struct mat m = {.rows = rows, .cols = cols, .ld = cols, .dtype = dtype};
    m.data = calloc((size_t)mat_size(m), dtype_size(dtype));
    assert_non_null(m.data);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < cols; k++)
            mat_set(m, i, k, sin((double)(i % PERIOD * cols + k)));
    return m;
}

static void expect_periodic(struct mat m)
{
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++) {
            double first = mat_get(m, i % PERIOD, k);
            assert_true(fabs(mat_get(m, i, k) - first) <= 0x1p-7 * fabs(first) + 1e-6);
        }
    free(m.data);
}

/* Rows that are alike stay so, wherever they are converted. */
TEST(test_blocks)
{
    const struct kernel *add_norm = backend_kernel(backend_cpu(), OP_add_layer_norm, BF16, NULL);
    struct mat a = filled(ROWS, COLS, BF16), b = filled(ROWS, COLS, BF16), gain = filled(1, COLS, BF16);
    struct mat y = filled(ROWS + 1, COLS, BF16), sum = filled(ROWS + 1, COLS, BF16);
    struct mat stats = filled(ROWS + 1, 2, F32);
    y.rows = sum.rows = stats.rows = ROWS;
    struct add_layer_norm_args args = {.call = {.kernel = add_norm, .threads = 3},
                                       .y = y,
                                       .sum = sum,
                                       .stats = stats,
                                       .a = a,
                                       .b = b,
                                       .gain = gain,
                                       .bias = gain,
                                       .eps = 1e-5};
    int64_t bytes = add_norm->scratch(&args);
    assert_true(bytes < 4 * ROWS * COLS * 4); /* of the four in F32 */
    args.call.scratch = aligned_alloc(64, (size_t)bytes);
    add_norm->run(&args);
    assert_true(fabs(mat_get(sum, 7, 3) - 2 * mat_get(a, 7, 3)) <= 0x1p-7);
    for (int64_t k = 0; k < COLS; k++) /* past the end: as it was */
        assert_true(mat_get(y, ROWS, k) == mat_get(a, 0, k));
    expect_periodic(y);
    expect_periodic(sum);
    expect_periodic(stats);
    free(args.call.scratch);
    free(a.data);
    free(b.data);
    free(gain.data);
}

/* Rounding can take a uniform value past its bound: 1 / sqrt(40) rounds up, 1 / sqrt(72) down. */
TEST(test_initial_values)
{
    struct batch b = batch_er(67, 1);
    for (int width = 40; width <= 72; width += 32) {
        struct model_config c = parts_of(ATTENTION_DENSE, MPNN_GIN, NORM_LAYER);
        c.hidden = width, c.ffn = 2 * width;
        struct tape_config tape = {.backend = backend_cpu(), .dtype = BF16, .threads = 1, .seed = 42};
        struct recording r = program_record(PROGRAM_FORWARD, &c, &b, NULL, tape);
        struct check check = {0};
        assert_true(tape_layout(r.tape));
        tape_init(r.tape);
        check_initial(&check, r.tape);
        assert_string_equal(check.found, "");
        tape_free(r.tape);
    }
    batch_free(&b);
}
