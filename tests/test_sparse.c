/*
 * Ops over edges with long rows: a hub with far more edges than a task, whose row is split and recombined,
 * and scores far from zero along it, so that its running maximum increases from piece to piece; a node
 * without edges. Kernels for all instruction sets, on one to three threads, against ref in double.
 */
#include "bench/audit/operands.h"
#include "kernels/rng.h"
#include "tests/test.h"

#include <math.h>

enum { N = 1000, D = 48, HEADS = 3, TO_HUB = 30000, FROM_HUB = 6000, OTHERS = 3000 };
enum { HUB = 417, ALONE = 420 /* a node without edges */ };
enum { E = TO_HUB + FROM_HUB + OTHERS };

static void *zeros(int64_t count, size_t size)
{
    void *p = calloc((size_t)count + 64, size);
    assert_non_null(p);
    return p;
}

static struct mat matrix(int64_t rows, int64_t cols, enum dtype dtype)
{
    struct mat m = {.rows = rows, .cols = cols, .ld = cols, .dtype = dtype};
    m.data = zeros(rows * cols, dtype_size(dtype));
    return m;
}

/* End `end` of edge e: 0 is the sender, 1 the receiver. */
static int64_t edge_end(int64_t e, int end)
{
    if (e < TO_HUB + FROM_HUB && end == (e < TO_HUB))
        return HUB;
    int64_t node = (int64_t)(rng_bits(7, (uint64_t)(2 * e + end)) % N);
    return node == ALONE ? ALONE + 1 : node;
}

/* The edges as rows of one end, each with the other ends in ascending order. */
static void fill_rows(int end, struct mat row, struct mat col)
{
    int64_t *at = row.data, place[N];
    int32_t *to = col.data;
    int64_t *first = zeros((int64_t)N * N, sizeof *first); /* number of edges between each pair of nodes */
    for (int64_t e = 0; e < E; e++)
        first[edge_end(e, end) * N + edge_end(e, !end)]++;
    for (int64_t i = 0; i < N; i++) {
        place[i] = at[i];
        for (int64_t j = 0; j < N; j++)
            for (int64_t c = 0; c < first[i * N + j]; c++)
                to[place[i]++] = (int32_t)j;
        at[i + 1] = place[i];
    }
    free(first);
}

/* The position of each edge by sender in the order by receiver. */
static void fill_numbers(struct edges g)
{
    int64_t next[N];
    const int32_t *sender = g.col.data;
    memcpy(next, g.out_row.data, sizeof next);
    for (int32_t e = 0; e < E; e++)
        ((int32_t *)g.out_edge.data)[next[sender[e]]++] = e;
}

static struct edges graph(void)
{
    struct edges g = {.row = matrix(N + 1, 1, I64),
                      .col = matrix(E, 1, I32),
                      .out_row = matrix(N + 1, 1, I64),
                      .out_col = matrix(E, 1, I32),
                      .out_edge = matrix(E, 1, I32)};
    fill_rows(1, g.row, g.col);
    fill_rows(0, g.out_row, g.out_col);
    fill_numbers(g);
    return g;
}

/*
 * Entries of q (or att) and k are within `size` of zero, those of k in row i within (1 + growth i / N) size;
 * others are within 1. Two consecutive edges each have equal rows.
 */
struct scores {
    double size, growth;
    int heads; /* 0: HEADS */
    unsigned options;
};

static int heads_of(struct scores s)
{
    return s.heads ? s.heads : HEADS;
}

static void fill_operand(struct mat m, const char *name, struct scores s)
{
    bool q = !strcmp(name, "q") || !strcmp(name, "att"), k = !strcmp(name, "k");
    uint64_t key = rng_key(3, name);
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t c = 0; c < m.cols; c++) {
            double factor = q ? s.size : k ? s.size * (1 + s.growth * (double)i / N) : 1;
            uint64_t row = (uint64_t)(m.rows == E ? i / 2 : i);
            mat_set(m, i, c,
                    (float)(rng_int24(key, row * (uint64_t)m.cols + (uint64_t)c) * 0x1p-23 * factor));
        }
}

/* Operands of an op on the graph, with this dtype. */
static union any_args operands_on(struct edges g, enum op op, enum dtype dtype, struct scores s)
{
    union any_args args = {0};
    const struct op_info *info = op_info(op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        if (o->role == ROLE_ATTR) /* eps: as large as a hub's sum */
            *(double *)(void *)((char *)&args + o->at) = strcmp(o->name, "eps") == 0 ? 1e4 : 0.5;
        else if (o->role == ROLE_SIZE)
            *(int *)(void *)((char *)&args + o->at) = heads_of(s);
        else if (!strcmp(o->name, "adj.row"))
            *(struct edges *)(void *)operand_mat(o, &args) = g;
        else if (!operand_of_edges(o) && (!o->option || (operand_option(op, o) & s.options))) {
            int64_t cols = o->cols == DIM_H ? heads_of(s) : o->cols == DIM_2 ? 2 : D;
            struct mat m = matrix(o->rows == DIM_1   ? 1
                                  : o->rows == DIM_E ? E
                                                     : N,
                                  cols, o->dtype == DTYPE_NONE ? dtype : o->dtype);
            fill_operand(m, o->name, s);
            *operand_mat(o, &args) = m;
        }
    }
    return args;
}

static bool is_matrix(const struct operand *o)
{
    return operand_is_mat(o) && !operand_of_edges(o);
}

static void release(enum op op, union any_args *args)
{
    for (int i = 0; i < op_info(op)->operand_count; i++)
        if (is_matrix(&op_info(op)->operands[i]))
            free(operand_mat(&op_info(op)->operands[i], args)->data);
}

static void run(const struct kernel *k, union any_args *args, int threads)
{
    args->call.threads = threads;
    int64_t scratch = k->scratch ? k->scratch(args) : 0;
    args->call.scratch = aligned_alloc(64, (size_t)(scratch + 64) / 64 * 64);
    assert_non_null(args->call.scratch);
    memset(args->call.scratch, 0xff, (size_t)scratch);
    k->run(args);
    free(args->call.scratch);
}

static void copy(struct mat to, struct mat from)
{
    for (int64_t i = 0; i < to.rows; i++)
        for (int64_t c = 0; c < to.cols; c++)
            mat_set(to, i, c, mat_get(from, i, c));
}

/* Copies what the backward reads of the oracle's forward. */
static void copy_saved(enum op op, const union any_args *forward, union any_args *backward)
{
    for (int i = 0; i < op_info(op)->operand_count; i++) {
        const struct operand *o = &op_info(op)->operands[i];
        const struct operand *p = operand_named(op_backward_of(op), o->name);
        if (operand_is_mat(o) && operand_writes(o) && p)
            copy(*operand_mat(p, backward), *operand_mat(o, forward));
    }
}

static double error(struct mat a, struct mat r)
{
    struct mat difference = matrix(r.rows, r.cols, F64);
    for (int64_t i = 0; i < r.rows; i++)
        for (int64_t c = 0; c < r.cols; c++)
            mat_set(difference, i, c, mat_get(a, i, c) - mat_get(r, i, c));
    double e = mat_norm(difference) / mat_norm(r);
    free(difference.data);
    return e;
}

/*
 * Results are finite, and within `limit` of the oracle's; infinity disables the limit. A row of a
 * gradient is a sum of at most E rows, whose entries are within 1: neither probabilities nor entries of dy
 * exceed it.
 */
static void judge(const struct backend *b, enum op op, const union any_args *ours,
                  const union any_args *oracle, double limit)
{
    for (int i = 0; i < op_info(op)->operand_count; i++) {
        const struct operand *o = &op_info(op)->operands[i];
        if (!operand_is_mat(o) || !operand_writes(o) || !mat_present(*operand_mat(o, oracle)))
            continue;
        struct mat x = *operand_mat(o, ours), r = *operand_mat(o, oracle);
        if (!isfinite(mat_norm(r)) || !isfinite(mat_norm(x)))
            fail_msg("%s %s: %s is not finite", b->name, op_info(op)->name, o->name);
        if (o->role == ROLE_GRAD && mat_norm(x) > E * sqrt(D))
            fail_msg("%s %s: %s is %g", b->name, op_info(op)->name, o->name, mat_norm(x));
        if (isfinite(limit) && !(error(x, r) <= limit))
            fail_msg("%s %s: %s is off by %g, allowed %g", b->name, op_info(op)->name, o->name, error(x, r),
                     limit);
    }
}

static void expect_same(const struct backend *b, enum op op, const union any_args *one,
                        const union any_args *many)
{
    for (int i = 0; i < op_info(op)->operand_count; i++) {
        const struct operand *o = &op_info(op)->operands[i];
        if (!operand_is_mat(o) || !operand_writes(o))
            continue;
        struct mat x = *operand_mat(o, one), y = *operand_mat(o, many);
        if (mat_present(x) && memcmp(x.data, y.data, (size_t)mat_bytes(x)) != 0)
            fail_msg("%s %s: %s depends on the threads", b->name, op_info(op)->name, o->name);
    }
}

/* Checks an op on all instruction sets. `forward` is the oracle's forward if the op needs what it saved. */
static void check(struct edges g, enum op op, struct scores s, const union any_args *oracle,
                  const union any_args *forward, double limit)
{
    for (const struct backend *const *b = backend_cpu_all(); *b; b++) {
        const struct kernel *k = backend_kernel(*b, op, F32, NULL);
        union any_args one;
        for (int threads = 1; threads <= 3; threads++) {
            union any_args args = operands_on(g, op, F32, s);
            if (forward)
                copy_saved(op_forward_of(op), forward, &args);
            run(k, &args, threads);
            if (threads == 1)
                one = args;
            else {
                expect_same(*b, op, &one, &args);
                release(op, &args);
            }
        }
        judge(*b, op, &one, oracle, limit);
        release(op, &one);
    }
}

/* Checks an op and its backward, with their error limits. */
static void check_both(enum op op, struct scores s, double limit, double backward_limit)
{
    enum op back = op_backward_of(op);
    struct edges g = graph();
    union any_args forward = operands_on(g, op, F64, s), backward = operands_on(g, back, F64, s);
    run(backend_kernel(&backend_ref, op, F64, NULL), &forward, 1);
    copy_saved(op, &forward, &backward);
    run(backend_kernel(&backend_ref, back, F64, NULL), &backward, 1);
    check(g, op, s, &forward, NULL, limit);
    check(g, back, s, &backward, &forward, backward_limit);
    release(op, &forward);
    release(back, &backward);
    void *all[] = {g.row.data, g.col.data, g.out_row.data, g.out_col.data, g.out_edge.data};
    for (int i = 0; i < 5; i++)
        free(all[i]);
}

TEST(test_hub_sums)
{
    check_both(OP_spmm, (struct scores){.size = 1}, 1e-5, 1e-5);
}

TEST(test_hub_attention)
{
    check_both(OP_sparse_attention, (struct scores){.size = 1}, 1e-5, 1e-4);
}

/* With one head, vectors hold the numbers of several edges; with many, groups have few edges. */
TEST(test_hub_attention_of_one_head_and_many)
{
    for (int heads = 1; heads <= D; heads += D - 1) {
        check_both(OP_sparse_attention, (struct scores){.size = 1, .heads = heads}, 1e-5, 1e-4);
        check_both(OP_gatv2, (struct scores){.size = 1, .heads = heads}, 1e-5, 1e-4);
    }
}

/* Half of the scores are beyond the clamp. */
TEST(test_hub_attention_with_edges)
{
    for (int heads = 1; heads <= D; heads = heads == 1 ? HEADS : heads * 16) {
        struct scores s = {.size = 2, .heads = heads, .options = OPTION_sparse_attention_edges};
        check_both(OP_sparse_attention, s, 1e-5, 1e-4);
    }
}

TEST(test_hub_convolution)
{
    check_both(OP_spmm, (struct scores){.size = 1, .options = 1}, 1e-5, 1e-5);
}

TEST(test_hub_statistics)
{
    check_both(OP_pna_pool, (struct scores){.size = 1}, 1e-5, 1e-5);
    check_both(OP_edge_pool, (struct scores){.size = 1}, 1e-5, 1e-5);
    check_both(OP_edge_mean, (struct scores){.size = 1}, 1e-5, 1e-5);
}

/* Scores within about 10, and within about 500. */
TEST(test_hub_gatv2)
{
    check_both(OP_gatv2, (struct scores){.size = 1}, 1e-5, 1e-4);
    check_both(OP_gatv2, (struct scores){.size = 50}, 1e-3, 1e-2);
    check_both(OP_gatv2, (struct scores){.size = 1, .options = 1}, 1e-5, 1e-4);
}

/* From about 10 to about 200. */
TEST(test_hub_attention_of_large_scores)
{
    check_both(OP_sparse_attention, (struct scores){.size = 3, .growth = 12}, 1e-3, 1e-2);
}

/* About 1e4, where exp overflows and rounding alone changes scores by 1e-3. */
TEST(test_hub_attention_of_huge_scores)
{
    check_both(OP_sparse_attention, (struct scores){.size = 60, .growth = 3}, 1e-1, INFINITY);
}

/* About 1e9, where rounding alone changes scores by hundreds. */
TEST(test_hub_attention_of_immense_scores)
{
    check_both(OP_sparse_attention, (struct scores){.size = 1e4, .growth = 3}, INFINITY, INFINITY);
}
