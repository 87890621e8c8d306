/*
 * The reference itself, compared with values obtained independently: published ones, arithmetic by hand, and
 * mathematical properties.
 */
#include "kernels/backend.h"
#include "kernels/rng.h"
#include "tests/test.h"

#include <math.h>

static void run(enum op op, void *args)
{
    const struct kernel *k = backend_kernel(&backend_ref, op, F64, NULL);
    struct call *call = args;
    call->scratch = malloc((size_t)k->scratch(args) + 1);
    call->threads = 1;
    k->run(args);
    free(call->scratch);
}

static struct mat dense(double *data, int64_t rows, int64_t cols)
{
    return (struct mat){.data = data, .rows = rows, .cols = cols, .ld = cols, .dtype = F64};
}

static void expect_near(const double *got, const double *want, int count, double tolerance)
{
    for (int i = 0; i < count; i++)
        if (!(fabs(got[i] - want[i]) <= tolerance))
            fail_msg("entry %d is %.17g, not %.17g", i, got[i], want[i]);
}

TEST(test_activations)
{
    /* 0.5 x erfc(-x / sqrt 2), and the tanh form, evaluated separately */
    static const double want[ACT_KINDS][3] = {
        [ACT_NONE] = {1, -2, 0.5},
        [ACT_GELU] = {0.8413447460685429, -0.04550026389635844, 0.34573123063700656},
        [ACT_GELU_TANH] = {0.8411919906082768, -0.04540230591222494, 0.34571400982514394},
        [ACT_RELU] = {1, 0, 0.5},
    };
    double x[] = {1, -2, 0.5}, one[] = {1}, y[3];
    for (int act = 0; act < ACT_KINDS; act++) {
        struct linear_args a = {.y = dense(y, 3, 1), .x = dense(x, 3, 1), .w = dense(one, 1, 1), .act = act};
        run(OP_linear, &a);
        expect_near(y, want[act], 3, 1e-15);
    }
}

TEST(test_linear)
{
    double x[] = {1, 2, 3, 4}, w[] = {1, 0, 0, 1, 10, 100}, b[] = {-2, -1, 0}, y[6], pre[6];
    struct linear_args a = {.y = dense(y, 2, 3),
                            .pre = dense(pre, 2, 3),
                            .x = dense(x, 2, 2),
                            .w = dense(w, 3, 2),
                            .b = dense(b, 1, 3),
                            .act = ACT_RELU};
    run(OP_linear, &a);
    expect_near(pre, (double[]){-1, 1, 210, 1, 3, 430}, 6, 0);
    expect_near(y, (double[]){0, 1, 210, 1, 3, 430}, 6, 0);
}

TEST(test_layer_norm)
{
    double x[] = {1, 2, 3, 4, 1001, 1002, 1003, 1004}, gain[] = {1, 1, 2, 1}, bias[] = {0, 0, 0, 10};
    double y[8], stats[4], r = 1 / sqrt(1.25);
    struct layer_norm_args a = {.y = dense(y, 2, 4),
                                .stats = dense(stats, 2, 2),
                                .x = dense(x, 2, 4),
                                .gain = dense(gain, 1, 4),
                                .bias = dense(bias, 1, 4)};
    run(OP_layer_norm, &a);
    expect_near(y, (double[]){-1.5 * r, -.5 * r, r, 1.5 * r + 10, -1.5 * r, -.5 * r, r, 1.5 * r + 10}, 8,
                1e-14);
    expect_near(stats, (double[]){2.5, r, 1002.5, r}, 4, 1e-14);
    a.eps = 0.3125; /* a quarter of the variance */
    run(OP_layer_norm, &a);
    expect_near(stats, (double[]){2.5, 0.8}, 2, 1e-15);
}

/* Three nodes in two graphs, two heads of one column. */
TEST(test_attention)
{
    double q[] = {1, 0, 2, 1, 9, 9}, k[] = {1, 5, 0, 5, 7, 7}, v[] = {4, 1, 8, 3, -1, -2}, y[6], lse[6];
    int64_t at[] = {0, 2, 3};
    struct attention_args a = {.y = dense(y, 3, 2),
                               .lse = dense(lse, 3, 2),
                               .q = dense(q, 3, 2),
                               .k = dense(k, 3, 2),
                               .v = dense(v, 3, 2),
                               .heads = 2};
    a.graphs = (struct offsets){{.data = at, .rows = 3, .cols = 1, .ld = 1, .dtype = I64}, 5};
    run(OP_attention, &a);
    double e = exp(1), e2 = exp(2);
    expect_near(y, (double[]){(4 * e + 8) / (e + 1), 2, (4 * e2 + 8) / (e2 + 1), 2, -1, -2}, 6, 1e-14);
    expect_near(lse, (double[]){log(e + 1), log(2), log(e2 + 1), 5 + log(2), 63, 63}, 6, 1e-13);

    a.heads = 1; /* one head of two columns: scores are divided by sqrt 2 */
    a.lse = (struct mat){0};
    run(OP_attention, &a);
    double p = exp(1 / sqrt(2));
    expect_near(y, (double[]){(4 * p + 8) / (p + 1), (p + 3) / (p + 1)}, 2, 1e-14);
}

static struct edges edges_of(int64_t *row, int64_t nodes, int32_t *col, int64_t edges)
{
    return (struct edges){.row = {.data = row, .rows = nodes + 1, .cols = 1, .ld = 1, .dtype = I64},
                          .col = {.data = col, .rows = edges, .cols = 1, .ld = 1, .dtype = I32}};
}

/* Node 0 has two loops, which count as one, and two edges from node 1, which both count. */
TEST(test_gcn)
{
    int64_t row[] = {0, 4, 5, 5};
    int32_t col[] = {0, 0, 1, 1, 0};
    double x[] = {1, 10, 100}, w[6], y[3];
    struct edges adj = edges_of(row, 3, col, 5);
    struct gcn_weights_args a = {.w = dense(w, 3, 2), .adj = adj};
    run(OP_gcn_weights, &a);
    struct spmm_args b = {.y = dense(y, 3, 1), .x = dense(x, 3, 1), .w = a.w, .adj = adj};
    run(OP_spmm, &b);
    expect_near(y, (double[]){1 / 3. + 20 / sqrt(6), 5 + 1 / sqrt(6), 100}, 3, 1e-14);
}

/* Node 0 receives from node 1, node 1 from itself, twice. */
TEST(test_gatv2)
{
    int64_t row[] = {0, 1, 3};
    int32_t col[] = {1, 1, 1};
    double l[] = {2, -4}, r[] = {1, 1}, att[] = {1}, b[] = {7}, y[2], lse[2];
    struct gatv2_args a = {.y = dense(y, 2, 1),
                           .lse = dense(lse, 2, 1),
                           .l = dense(l, 2, 1),
                           .r = dense(r, 2, 1),
                           .att = dense(att, 1, 1),
                           .b = dense(b, 1, 1),
                           .adj = edges_of(row, 2, col, 3),
                           .heads = 1,
                           .slope = 0.2};
    run(OP_gatv2, &a);
    double own = exp(3), other = exp(-0.6);
    expect_near(y, (double[]){(2 * own - 4 * other) / (own + other) + 7, 3}, 2, 1e-14);
    expect_near(lse, (double[]){log(own + other), -0.6}, 2, 1e-14);
}

/* Node 0 receives from nodes 1, 2 and 2, whose messages are the largest; node 1 from node 0, node 2 nothing.
 */
TEST(test_pna)
{
    int64_t row[] = {0, 3, 4, 4}, out_row[] = {0, 1, 2, 4};
    int32_t col[] = {1, 2, 2, 0}, out_col[] = {1, 0, 0, 0};
    double a[] = {10, 1, 1}, b[] = {-8, 5, 5}, mean[3], max[3], sum[3], top[3], da[3], db[3];
    struct edges adj = edges_of(row, 3, col, 4), out = edges_of(out_row, 3, out_col, 4);
    adj.out_row = out.row;
    adj.out_col = out.col;
    struct pna_pool_args f = {.mean = dense(mean, 3, 1),
                              .max = dense(max, 3, 1),
                              .sum = dense(sum, 3, 1),
                              .top = dense(top, 3, 1),
                              .a = dense(a, 3, 1),
                              .b = dense(b, 3, 1),
                              .adj = adj};
    run(OP_pna_pool, &f);
    expect_near(mean, (double[]){15, -7, 0}, 3, 1e-14);
    expect_near(max, (double[]){15, -7, 0}, 3, 0);
    expect_near(sum, (double[]){45, -7, 0}, 3, 0);

    double dmean[] = {3, 1, 1}, dmax[] = {6, 1, 1}, dsum[] = {1, 1, 1};
    struct pna_pool_backward_args g = {.da = dense(da, 3, 1),
                                       .db = dense(db, 3, 1),
                                       .dmean = dense(dmean, 3, 1),
                                       .dmax = dense(dmax, 3, 1),
                                       .dsum = dense(dsum, 3, 1),
                                       .top = f.top,
                                       .b = f.b,
                                       .adj = adj};
    run(OP_pna_pool_backward, &g);
    expect_near(da, (double[]){12, 3, 0}, 3, 1e-14);
    expect_near(db, (double[]){3, 4, 8}, 3, 1e-14);
}

TEST(test_pooling_and_loss)
{
    double x[] = {1, 10, 3, 20, 5, 60, 7, 8}, y[4], target[] = {1, 2, 3, 4}, loss[1];
    int64_t at[] = {0, 3, 4};
    struct mean_pool_args a = {.y = dense(y, 2, 2), .x = dense(x, 4, 2)};
    a.graphs = (struct offsets){{.data = at, .rows = 3, .cols = 1, .ld = 1, .dtype = I64}, 10};
    run(OP_mean_pool, &a);
    expect_near(y, (double[]){3, 30, 7, 8}, 4, 0);

    struct mean_error_args b = {
        .loss = dense(loss, 1, 1), .y = dense(y, 2, 2), .target = dense(target, 2, 2), .power = 2};
    run(OP_mean_error, &b);
    expect_near(loss, (double[]){(4 + 28 * 28 + 16 + 16) / 4.0}, 1, 0);

    target[0] = 3; /* the gradient is 0 there */
    double two = 2, dy[4];
    struct mean_error_args c = {.loss = b.loss, .y = b.y, .target = b.target, .power = 1};
    run(OP_mean_error, &c);
    expect_near(loss, (double[]){(0 + 28 + 4 + 4) / 4.0}, 1, 0);
    struct mean_error_backward_args d = {
        .dy = dense(dy, 2, 2), .dloss = dense(&two, 1, 1), .y = b.y, .target = b.target, .power = 1};
    target[3] = 9;
    run(OP_mean_error_backward, &d);
    expect_near(dy, (double[]){0, 0.5, 0.5, -0.5}, 4, 0);
}

/* exp(-|y|) if the label is right, |y| if it is wrong, within a relative exp(-30). */
TEST(test_loss_of_large_logits)
{
    for (int size = 30; size <= 90; size += 15)
        for (int side = 0; side < 4; side++) {
            int64_t label[] = {side % 2};
            double y[] = {side / 2 ? size : -size}, loss[1], want = side % 2 == side / 2 ? exp(-size) : size;
            struct binary_cross_entropy_args a = {
                .loss = dense(loss, 1, 1),
                .y = dense(y, 1, 1),
                .label = {.data = label, .rows = 1, .cols = 1, .ld = 1, .dtype = I64}};
            run(OP_binary_cross_entropy, &a);
            expect_near(loss, &want, 1, 1e-13 * want);
        }
}

TEST(test_elementwise)
{
    double x[] = {1, 2, 3, 4}, z[] = {10, 20, 30, 40}, y[4];
    struct add_args a = {.y = dense(y, 2, 2), .a = dense(x, 2, 2), .b = dense(z, 2, 2)};
    run(OP_add, &a);
    expect_near(y, (double[]){11, 22, 33, 44}, 4, 0);
    struct copy_args c = {.y = dense(y, 2, 2), .x = dense(x, 2, 2)};
    c.y.acc = true;
    run(OP_copy, &c);
    expect_near(y, (double[]){12, 24, 36, 48}, 4, 0);
    c.y.acc = false;
    run(OP_copy, &c);
    expect_near(y, x, 4, 0);
    struct fill_args f = {.y = dense(y, 2, 2), .value = -0.25};
    run(OP_fill, &f);
    expect_near(y, (double[]){-0.25, -0.25, -0.25, -0.25}, 4, 0);
}

/*
 * With constant gradients both corrected moments are g and g^2 at every step, so p moves by lr g / (|g| +
 * eps) after decaying by 1 - lr decay.
 */
TEST(test_adamw)
{
    double p[] = {1, -3}, m[2] = {0}, v[2] = {0}, g[] = {0.5, -2}, schedule[] = {0, 0.01}, want[] = {1, -3};
    struct adamw_args a = {.p = dense(p, 1, 2),
                           .m = dense(m, 1, 2),
                           .v = dense(v, 1, 2),
                           .g = dense(g, 1, 2),
                           .schedule = dense(schedule, 1, 2),
                           .beta1 = 0.9,
                           .beta2 = 0.999,
                           .eps = 0.25,
                           .decay = 0.1};
    struct advance_args t = {.schedule = a.schedule};
    for (int step = 1; step <= 5; step++) {
        run(OP_advance, &t);
        assert_true(schedule[0] == step && schedule[1] == 0.01);
        run(OP_adamw, &a);
        for (int i = 0; i < 2; i++)
            want[i] = want[i] * (1 - 0.01 * 0.1) - 0.01 * g[i] / (fabs(g[i]) + 0.25);
        expect_near(p, want, 2, 1e-14);
    }
    expect_near(m, (double[]){0.5 * (1 - pow(0.9, 5)), -2 * (1 - pow(0.9, 5))}, 2, 1e-15);
}

/* The first output of SplitMix64 from state 0, according to its authors' code. */
TEST(test_random_bits)
{
    assert_true(rng_bits(0, 0) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(rng_bits(0, 1) == UINT64_C(0x6e789e6aa1b965f4));
    assert_true(rng_key(1, "a") != rng_key(2, "a") && rng_key(1, "a") != rng_key(1, "b"));
}

TEST(test_uniform)
{
    enum { ROWS = 1000, COLS = 100, COUNT = ROWS * COLS };
    double *y = malloc(COUNT * sizeof *y), mean = 0, square = 0, bound = 0.1;
    float *z = malloc(COUNT * sizeof *z);
    struct uniform_args a = {.y = dense(y, ROWS, COLS), .key = 42, .bound = bound}, b = a;
    b.y.data = z;
    b.y.dtype = F32;
    run(OP_uniform, &a);
    backend_kernel(&backend_ref, OP_uniform, F32, NULL)->run(&b);
    for (int i = 0; i < COUNT; i++) {
        assert_true(z[i] == (float)y[i]);
        assert_true(fabs(y[i]) <= (double)(float)bound);
        mean += y[i] / COUNT;
        square += y[i] * y[i] / COUNT;
    }
    /* standard errors: bound / sqrt(3 n) of the mean, bound^2 sqrt(4 / 45 n) of the square; five of each */
    assert_true(fabs(mean) < 5 * bound / sqrt(3.0 * COUNT));
    assert_true(fabs(square - bound * bound / 3) < 5 * bound * bound * sqrt(4 / 45.0 / COUNT));
    free(y);
    free(z);
}
