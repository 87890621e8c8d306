/*
 * Linear attention beyond what the tests of all ops and models show: its random projection, how far it is
 * from softmax attention, very large operands, its parameters, and that its memory is linear in the nodes.
 */
#include <math.h>

#include "kernels/rng.h"
#include "models/layers/model.h"
#include "tests/batches.h"
#include "tests/tapes.h"
#include "tests/test.h"

enum { NODES = 300, WIDTH = PERFORMER_WIDTH };

/* --- the projection */

static struct mat projection(struct tape **t, const char *name, enum features features)
{
    *t = tape_new_in_double();
    struct mat w = input_orthogonal(*t, name, PERFORMER_FEATURES, WIDTH, features);
    assert_true(tape_layout(*t));
    tape_init(*t);
    return tape_view(*t, w);
}

static double row_product(struct mat w, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t k = 0; k < w.cols; k++)
        sum += mat_get(w, i, k) * mat_get(w, j, k);
    return sum;
}

TEST(test_rows_are_orthogonal)
{
    struct tape *t;
    for (enum features features = 0; features < FEATURES_KINDS; features++) {
        struct mat w = projection(&t, "w", features);
        for (int64_t i = 0; i < w.rows; i++)
            for (int64_t j = i / WIDTH * WIDTH; j < i; j++)
                assert_true(fabs(row_product(w, i, j)) < 1e-12);
        assert_true(fabs(row_product(w, 0, WIDTH)) > 1e-3); /* of another block */
        tape_free(t);
    }
}

/*
 * The squared length of 64 Gaussian numbers has mean 64 and variance 128, its mean of 266 rows a standard
 * deviation of 0.7; without these lengths all rows have length 1.
 */
TEST(test_lengths)
{
    struct tape *t;
    double mean = 0, squares = 0;
    struct mat w = projection(&t, "w", FEATURES_EXP);
    for (int64_t i = 0; i < w.rows; i++) {
        double length = row_product(w, i, i);
        mean += length / (double)w.rows;
        squares += length * length / (double)w.rows;
    }
    assert_true(fabs(mean - WIDTH) < 4);
    assert_true(squares - mean * mean > 60 && squares - mean * mean < 250);
    tape_free(t);
    w = projection(&t, "w", FEATURES_RELU);
    for (int64_t i = 0; i < w.rows; i++)
        assert_true(fabs(row_product(w, i, i) - 1) < 1e-12);
    tape_free(t);
}

TEST(test_each_layer_has_its_own)
{
    struct tape *t, *u;
    struct mat w = projection(&t, "layer1.w", FEATURES_EXP), same = projection(&u, "layer1.w", FEATURES_EXP);
    assert_memory_equal(w.data, same.data, (size_t)mat_bytes(w));
    tape_free(u);
    struct mat other = projection(&u, "layer2.w", FEATURES_EXP);
    double along = 0;
    for (int64_t n = 0; n < mat_size(w); n++)
        along += mat_get(w, 0, n) * mat_get(other, 0, n);
    assert_true(fabs(along) < 0.05 * WIDTH * PERFORMER_FEATURES);
    tape_free(t);
    tape_free(u);
}

/* --- one head of one graph */

static struct mat matrix(enum dtype dtype, int64_t rows, int64_t cols)
{
    struct mat m = {.rows = rows, .cols = cols, .ld = cols, .dtype = dtype};
    m.data = calloc((size_t)mat_size(m), dtype_size(dtype));
    assert_non_null(m.data);
    return m;
}

/* Uniform on +-size, of this name. */
static struct mat random_matrix(enum dtype dtype, const char *name, int64_t rows, int64_t cols, double size)
{
    struct mat m = matrix(dtype, rows, cols);
    for (int64_t n = 0; n < mat_size(m); n++)
        mat_set(m, 0, n, size * rng_int24(rng_key(3, name), (uint64_t)n) * 0x1p-23);
    return m;
}

static void run(const struct backend *b, enum op op, enum dtype dtype, void *args)
{
    const struct kernel *k = backend_kernel(b, op, dtype, NULL);
    struct call *call = args;
    *call = (struct call){.threads = 2};
    call->scratch = aligned_alloc(64, (size_t)(k->scratch ? k->scratch(args) : 0) / 64 * 64 + 64);
    assert_non_null(call->scratch);
    k->run(args);
    free(call->scratch);
}

/* Queries and keys of this size, values of size 1. */
struct head {
    struct mat q, k, v, y;
    int64_t at[2];
    struct offsets graphs;
};

static void head_open(struct head *h, enum dtype dtype, double size)
{
    *h = (struct head){.q = random_matrix(dtype, "q", NODES, WIDTH, size),
                       .k = random_matrix(dtype, "k", NODES, WIDTH, size),
                       .v = random_matrix(dtype, "v", NODES, WIDTH, 1),
                       .y = matrix(dtype, NODES, WIDTH),
                       .at = {0, NODES}};
    h->graphs = (struct offsets){{.data = h->at, .rows = 2, .cols = 1, .ld = 1, .dtype = I64}, NODES * NODES};
}

static void head_close(struct head *h)
{
    free(h->q.data);
    free(h->k.data);
    free(h->v.data);
    free(h->y.data);
}

static void attend_by_softmax(struct head *h)
{
    struct attention_args a = {.y = h->y, .q = h->q, .k = h->k, .v = h->v, .graphs = h->graphs, .heads = 1};
    run(&backend_oracle, OP_attention, F64, &a);
}

static void attend_linearly(struct head *h, const struct backend *b, enum features features, int64_t count)
{
    enum dtype dtype = h->q.dtype;
    struct mat sum = matrix(dtype, 1, WIDTH), w = matrix(dtype, count, WIDTH);
    struct orthogonal_args random = {.y = w, .key = 7, .features = (int)features};
    struct sum_pool_args values = {.y = sum, .x = h->v, .graphs = h->graphs};
    struct performer_keys_args keys = {.s = matrix(dtype, count, WIDTH),
                                       .l = matrix(dtype, count, 1),
                                       .top = matrix(dtype, count, 1),
                                       .k = h->k,
                                       .v = h->v,
                                       .w = w,
                                       .graphs = h->graphs,
                                       .heads = 1,
                                       .features = (int)features};
    struct performer_attention_args a = {.y = h->y,
                                         .q = h->q,
                                         .s = keys.s,
                                         .l = keys.l,
                                         .top = keys.top,
                                         .sum = sum,
                                         .w = w,
                                         .graphs = h->graphs,
                                         .heads = 1,
                                         .features = (int)features,
                                         .eps = features == FEATURES_EXP ? 1e-4 : 1e-3};
    run(&backend_ref, OP_orthogonal, dtype, &random);
    run(b, OP_sum_pool, dtype, &values);
    run(b, OP_performer_keys, dtype, &keys);
    run(b, OP_performer_attention, dtype, &a);
    free(sum.data);
    free(w.data);
    free(keys.s.data);
    free(keys.l.data);
    free(keys.top.data);
}

/* |a - b| / |b| */
static double distance(const struct head *a, const struct head *b)
{
    double difference = 0, norm = 0;
    for (int64_t n = 0; n < mat_size(b->y); n++) {
        difference += pow(mat_get(a->y, 0, n) - mat_get(b->y, 0, n), 2);
        norm += pow(mat_get(b->y, 0, n), 2);
    }
    return sqrt(difference / norm);
}

/* Softmax attention, and linear attention with this many features of each kind, in double. */
struct three {
    struct head softmax, exponential, rectified;
};

static void three_open(struct three *t, double size, int64_t count)
{
    head_open(&t->softmax, F64, size);
    head_open(&t->exponential, F64, size);
    head_open(&t->rectified, F64, size);
    attend_by_softmax(&t->softmax);
    attend_linearly(&t->exponential, &backend_oracle, FEATURES_EXP, count);
    attend_linearly(&t->rectified, &backend_oracle, FEATURES_RELU, count);
}

static void three_close(struct three *t)
{
    head_close(&t->softmax);
    head_close(&t->exponential);
    head_close(&t->rectified);
}

/* The figures of docs/models.md: relative distances of outputs, for queries and keys uniform on +-0.5 and on
 * +-sqrt 3. */
TEST(test_distances)
{
    static const struct {
        double size, exponential, rectified, between; /* the distances, within 10 % */
    } list[] = {{0.5, 0.075, 0.17, 0.14}, {1.7320508, 0.79, 0.70, 0.26}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        struct three t;
        three_open(&t, list[i].size, PERFORMER_FEATURES);
        const double found[] = {distance(&t.exponential, &t.softmax), distance(&t.rectified, &t.softmax),
                                distance(&t.rectified, &t.exponential)};
        const double said[] = {list[i].exponential, list[i].rectified, list[i].between};
        for (int n = 0; n < 3; n++)
            if (!(fabs(found[n] / said[n] - 1) < 0.1))
                fail_msg("size %g: distance %d is %.3g", list[i].size, n, found[n]);
        three_close(&t);
    }
}

/* More features of the softmax come closer to softmax attention as the root of their number; rectified ones
 * do not. */
TEST(test_more_features)
{
    struct three few, many;
    three_open(&few, 1, PERFORMER_FEATURES);
    three_open(&many, 1, 16 * PERFORMER_FEATURES);
    double ratio = distance(&many.exponential, &many.softmax) / distance(&few.exponential, &few.softmax);
    assert_true(ratio > 0.15 && ratio < 0.45);
    ratio = distance(&many.rectified, &many.softmax) / distance(&few.rectified, &few.softmax);
    assert_true(ratio > 0.7 && ratio < 1.1);
    three_close(&few);
    three_close(&many);
}

/* Far from the origin every feature is eps, and the output the mean of the values. */
TEST(test_large_operands)
{
    struct head exact;
    head_open(&exact, F64, 1e4);
    attend_linearly(&exact, &backend_ref, FEATURES_EXP, PERFORMER_FEATURES);
    for (const struct backend *const *b = backend_cpu_all(); *b; b++) {
        struct head h;
        head_open(&h, F32, 1e4);
        attend_linearly(&h, *b, FEATURES_EXP, PERFORMER_FEATURES);
        assert_true(distance(&h, &exact) < 1e-5);
        head_close(&h);
    }
    double mean = 0;
    for (int64_t i = 0; i < NODES; i++)
        mean += mat_get(exact.v, i, 5) / NODES;
    assert_true(fabs(mat_get(exact.y, 11, 5) / mean - 1) < 1e-12);
    head_close(&exact);
}

/* --- models */

static struct model_config model(enum attention_kind attention)
{
    return (struct model_config){.layers = 5,
                                 .hidden = 64,
                                 .heads = 4,
                                 .ffn = 128,
                                 .act = ACT_RELU,
                                 .attention = attention,
                                 .norm = NORM_BATCH};
}

/* 4 d i + d of each layer: 65,600 for d = 64 and i = 256. */
TEST(test_parameters)
{
    struct model_config c = model(ATTENTION_PERFORMER);
    int64_t d = 64, beside = 17 * d + d + 1 + 5 * (4 * d + 2 * d * 128 + 128 + d);
    assert_int_equal(model_parameters(&c) - beside, 5 * 65600);
    c.attention = ATTENTION_PERFORMER_RELU;
    assert_int_equal(model_parameters(&c) - beside, 5 * 65600);
    c.heads = 3; /* need not divide the width */
    assert_null(model_refuses(&c));
    c.attention = ATTENTION_DENSE;
    assert_non_null(model_refuses(&c));
}

static int64_t planned(const struct model_config *c, enum program_kind kind, int64_t nodes)
{
    struct graph_config g = {.family = "er", .nodes = nodes, .degree = 5, .graphs = 1, .seed = 1};
    struct tape_config t = {.backend = backend_cpu(), .dtype = F32, .threads = 2, .seed = 1};
    struct batch b;
    char error[256];
    assert_true(batch_shape(&b, &g, error, sizeof error));
    struct recording r = program_record(kind, c, &b, NULL, t);
    int64_t bytes = tape_plan(r.tape)->arena;
    tape_free(r.tape);
    batch_free(&b);
    return bytes;
}

/* Linear, and without the 2 N H m features of each layer, which would be most of it. */
TEST(test_memory_is_linear)
{
    struct model_config c = model(ATTENTION_PERFORMER);
    for (enum program_kind kind = 0; kind < MODEL_PROGRAMS; kind++) {
        int64_t n = 100000, small = planned(&c, kind, n), twice = planned(&c, kind, 2 * n),
                large = planned(&c, kind, 4 * n);
        double slope = (double)(twice - small) / (double)n;
        assert_true(fabs((double)(large - twice) / (2 * slope * (double)n) - 1) < 1e-3);
        assert_true(slope < (double)(c.layers * 2 * c.heads * PERFORMER_FEATURES * 4));
    }
}
