/*
 * The ops as data: the metadata, the binder with its messages, and the formulas of FLOPs and bytes, which are
 * exact to 63 bits and -1 beyond.
 */
#include "kernels/ops.h"
#include "tests/test.h"

static char memory[1 << 16];

/* rows x cols floats within `memory`. */
static struct mat at(size_t float_index, int64_t rows, int64_t cols)
{
    return (struct mat){
        .data = memory + 4 * float_index, .rows = rows, .cols = cols, .ld = cols, .dtype = F32};
}

/* The same without data: such views never overlap. */
static struct mat shape(int64_t rows, int64_t cols)
{
    return (struct mat){.rows = rows, .cols = cols, .ld = cols, .dtype = F32};
}

static struct mat doubles(int64_t rows, int64_t cols)
{
    return (struct mat){.rows = rows, .cols = cols, .ld = cols, .dtype = F64};
}

static struct offsets graphs(int64_t count, int64_t pairs)
{
    return (struct offsets){{.rows = count + 1, .cols = 1, .ld = 1, .dtype = I64}, pairs};
}

static void expect_error(enum op op, const void *args, const char *message)
{
    int64_t dims[DIMS];
    char error[200] = "";
    assert_false(op_bind(op, args, dims, error, sizeof error));
    assert_string_equal(error, message);
}

static void expect_bound(enum op op, const void *args)
{
    int64_t dims[DIMS];
    char error[200] = "";
    if (!op_bind(op, args, dims, error, sizeof error))
        fail_msg("refused: %s", error);
}

/* y = x w' + b with N = 5, D = 12, M = 3. */
static struct linear_args linear(void)
{
    return (struct linear_args){.y = shape(5, 3), .x = shape(5, 12), .w = shape(3, 12), .b = shape(1, 3)};
}

static struct attention_args attention(int heads)
{
    return (struct attention_args){.y = shape(6, 8),
                                   .lse = doubles(6, heads),
                                   .q = shape(6, 8),
                                   .k = shape(6, 8),
                                   .v = shape(6, 8),
                                   .graphs = graphs(2, 18),
                                   .heads = heads};
}

TEST(test_names)
{
    for (enum op op = 0; op < OPS; op++) {
        assert_int_equal(op_named(op_info(op)->name), op);
        assert_true(strlen(op_info(op)->doc) > 0);
    }
    assert_int_equal(op_named("nope"), OPS);
    assert_string_equal(op_info(OP_layer_norm_backward)->name, "layer_norm_backward");
    assert_string_equal(op_info(OP_mean_error)->flops_formula, "(1 + a->power) * N * M + 1");
}

TEST(test_metadata)
{
    const struct op_info *info = op_info(OP_linear);
    assert_false(info->host);
    assert_int_equal(info->operand_count, 6);
    assert_int_equal(info->args_size, sizeof(struct linear_args));
    const struct operand *pre = &info->operands[1], *act = &info->operands[5];
    assert_string_equal(pre->name, "pre");
    assert_int_equal(pre->role, ROLE_SAVE);
    assert_int_equal(pre->rows, DIM_N);
    assert_int_equal(pre->cols, DIM_M);
    assert_string_equal(act->type, "int");

    struct linear_args a = {.act = ACT_NONE, .pre = {.rows = 7}};
    assert_int_equal(operand_mat(pre, &a)->rows, 7);
    assert_false(operand_saved(pre, &a));
    a.act = ACT_RELU;
    assert_true(operand_saved(pre, &a));
    assert_true(operand_writes(pre) && !operand_writes(&info->operands[2]));
    assert_false(operand_is_mat(act));
}

TEST(test_sizes_are_unified)
{
    struct linear_args a = linear();
    a.y = (struct mat){0};
    int64_t dims[DIMS];
    char error[200];
    assert_true(op_bind(OP_linear, &a, dims, error, sizeof error));
    assert_int_equal(dims[DIM_N], 5);
    assert_int_equal(dims[DIM_D], 12);
    assert_int_equal(dims[DIM_M], 3);
    assert_int_equal(dims[DIM_H], -1);

    struct attention_args b = attention(4);
    assert_true(op_bind(OP_attention, &b, dims, error, sizeof error));
    assert_int_equal(dims[DIM_B], 2);
    assert_int_equal(dims[DIM_H], 4);
}

TEST(test_shape_errors)
{
    struct linear_args a = linear();
    a.w = shape(3, 16);
    expect_error(OP_linear, &a, "linear: w has D = 16, but x has 12");
    a = linear();
    a.b = shape(1, 4);
    expect_error(OP_linear, &a, "linear: b has M = 4, but y has 3");
    a.b = shape(2, 3);
    expect_error(OP_linear, &a, "linear: b has 2, but its shape requires 1");
    a = linear();
    a.y.ld = 2;
    expect_error(OP_linear, &a, "linear: y is not a valid matrix");
    struct attention_args b = attention(4);
    b.lse = doubles(6, 2);
    expect_error(OP_attention, &b, "attention: heads has H = 4, but lse has 2");
}

TEST(test_missing_operands)
{
    struct linear_args a = linear();
    a.x = (struct mat){0};
    expect_error(OP_linear, &a, "linear: x is missing");
    a = linear();
    a.b = (struct mat){0};
    expect_bound(OP_linear, &a);

    char error[200] = "";
    a.y = (struct mat){0};
    expect_bound(OP_linear, &a);
    assert_false(op_complete(OP_linear, &a, error, sizeof error));
    assert_string_equal(error, "linear: y is missing");
    a.y = shape(5, 3);
    assert_true(op_complete(OP_linear, &a, error, sizeof error));

    struct mean_pool_args p = {.y = shape(2, 3), .x = shape(5, 3)};
    expect_error(OP_mean_pool, &p, "mean_pool: graphs is missing");
}

/*
 * In bf16 statistics, sums and losses stay f32, and so do gradients of parameters, those
 * that have neither rows of nodes nor of what follows from them; others are bf16.
 */
TEST(test_wide_operands)
{
    static const char *const always[] = {"stats", "running_mean", "running_var", "loss",  "dloss",
                                         "lse",   "squares",      "den",         "total", "scale"};
    for (enum op op = 0; op < OPS; op++) {
        const struct op_info *info = op_info(op);
        for (int i = 0; i < info->operand_count; i++) {
            const struct operand *o = &info->operands[i];
            if (!operand_is_mat(o) || o->dtype != DTYPE_NONE)
                continue;
            bool named = false, summed = o->rows == DIM_1 || o->rows == DIM_M || o->rows == DIM_D;
            for (size_t n = 0; n < sizeof always / sizeof *always; n++)
                named = named || strcmp(o->name, always[n]) == 0;
            if ((named && !o->wide) || (o->role == ROLE_GRAD && o->rows != DIM_F && o->wide != summed))
                fail_msg("%s: %s", info->name, o->name);
            assert_int_equal(operand_dtype(o, BF16), o->wide ? F32 : BF16);
            assert_int_equal(operand_dtype(o, F64), F64);
        }
    }
}

TEST(test_dtypes)
{
    struct linear_args a = linear();
    a.w.dtype = F64;
    expect_error(OP_linear, &a, "linear: w is f64, but must be f32");
    a.y.dtype = a.x.dtype = a.b.dtype = F64;
    expect_bound(OP_linear, &a);

    struct adamw_args w = {.p = shape(2, 2), .m = shape(2, 2), .v = shape(2, 2), .g = shape(2, 2)};
    w.schedule = shape(1, 2);
    expect_error(OP_adamw, &w, "adamw: schedule is f32, but must be f64");
    w.schedule.dtype = F64;
    expect_bound(OP_adamw, &w);
    struct attention_args b = attention(4);
    b.graphs.at.dtype = F32;
    expect_error(OP_attention, &b, "attention: graphs is f32, but must be i64");
}

TEST(test_attributes)
{
    struct attention_args a = attention(3);
    expect_error(OP_attention, &a, "attention: heads do not divide the width");
    a.heads = 0;
    a.lse = (struct mat){0};
    expect_error(OP_attention, &a, "attention: heads must be positive");

    struct linear_backward_args b = {
        .dx = shape(5, 12), .dy = shape(5, 3), .x = shape(5, 12), .w = shape(3, 12)};
    expect_bound(OP_linear_backward, &b);
    b.act = ACT_GELU;
    expect_error(OP_linear_backward, &b, "linear_backward: pre is required with an activation");

    struct attention_backward_args c = {.dq = shape(6, 8),
                                        .dk = shape(6, 8),
                                        .dy = shape(6, 8),
                                        .y = shape(6, 8),
                                        .q = shape(6, 8),
                                        .k = shape(6, 8),
                                        .v = shape(6, 8),
                                        .lse = doubles(6, 2),
                                        .graphs = graphs(1, 36),
                                        .heads = 2};
    expect_error(OP_attention_backward, &c, "attention_backward: dq, dk and dv must be given together");
}

TEST(test_only_gradients_accumulate)
{
    struct linear_args a = linear();
    a.y.acc = true;
    expect_error(OP_linear, &a, "linear: y cannot be accumulated into");
    struct copy_args c = {.y = shape(2, 3), .x = shape(2, 3)};
    c.y.acc = true;
    expect_bound(OP_copy, &c);
}

static void expect_overlap(struct mat dx, struct mat dw, bool overlap)
{
    struct linear_backward_args a = {
        .dx = dx, .dw = dw, .dy = shape(5, 3), .x = shape(5, 4), .w = shape(3, 4)};
    if (overlap)
        expect_error(OP_linear_backward, &a, "linear_backward: dw overlaps another output");
    else
        expect_bound(OP_linear_backward, &a);
}

TEST(test_overlapping_outputs)
{
    expect_overlap(at(0, 5, 4), at(0, 3, 4), true);
    expect_overlap(at(0, 5, 4), at(19, 3, 4), true);
    expect_overlap(at(0, 5, 4), at(20, 3, 4), false);
    expect_overlap(at(12, 5, 4), at(0, 3, 4), false);
    expect_overlap(at(11, 5, 4), at(0, 3, 4), true);

    struct mat wide = at(0, 5, 12), both = wide; /* column ranges of one matrix */
    both.rows = 3;
    expect_overlap(mat_cols(wide, 0, 4), mat_cols(both, 4, 4), false);
    expect_overlap(mat_cols(wide, 8, 4), mat_cols(both, 0, 4), false);
    expect_overlap(mat_cols(wide, 0, 4), mat_cols(both, 3, 4), true);
    expect_overlap(mat_cols(wide, 4, 4), mat_cols(both, 1, 4), true);

    struct mat wraps = at(10, 3, 4); /* begins in the last columns of a row, ends in the first of the next */
    wraps.ld = 12;
    expect_overlap(mat_cols(wide, 0, 4), wraps, true);
}

static struct mat in_bf16(struct mat m)
{
    m.dtype = BF16;
    return m;
}

/* dx is in BF16 and dw in F32: what ends first has the size that counts, whichever is named first. */
TEST(test_overlapping_outputs_of_two_types)
{
    static const struct {
        int dx, dw; /* 5 x 4 of 2 bytes, 3 x 4 of 4 bytes; in units of 4 */
        bool overlap;
    } places[] = {{0, 10, false}, {0, 9, true}, {12, 0, false}, {11, 0, true}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct linear_backward_args a = {.dx = in_bf16(at(places[i].dx, 5, 4)),
                                         .dw = at(places[i].dw, 3, 4),
                                         .dy = in_bf16(shape(5, 3)),
                                         .x = in_bf16(shape(5, 4)),
                                         .w = in_bf16(shape(3, 4))};
        if (places[i].overlap)
            expect_error(OP_linear_backward, &a, "linear_backward: dw overlaps another output");
        else
            expect_bound(OP_linear_backward, &a);
    }
}

/* Before layout, overlap is determined by the storage and the offset into it. */
TEST(test_overlap_within_a_storage)
{
    struct mat wide = shape(5, 8), both = shape(3, 8);
    wide.storage = both.storage = 7;
    expect_overlap(mat_cols(wide, 0, 4), mat_cols(both, 4, 4), false);
    expect_overlap(mat_cols(wide, 0, 4), mat_cols(both, 2, 4), true);
    both.storage = 8;
    expect_overlap(mat_cols(wide, 0, 4), mat_cols(both, 2, 4), false);

    struct attention_backward_args a = {.dy = shape(6, 8),
                                        .y = shape(6, 8),
                                        .q = shape(6, 8),
                                        .k = shape(6, 8),
                                        .v = shape(6, 8),
                                        .lse = doubles(6, 2),
                                        .graphs = graphs(1, 36),
                                        .heads = 2};
    struct mat qkv = shape(6, 24);
    qkv.storage = 3;
    a.dq = mat_cols(qkv, 0, 8), a.dk = mat_cols(qkv, 8, 8), a.dv = mat_cols(qkv, 16, 8);
    expect_bound(OP_attention_backward, &a);
    a.dv = mat_cols(qkv, 15, 8);
    expect_error(OP_attention_backward, &a, "attention_backward: dv overlaps another output");
}

/* The stride of single-row views is irrelevant. */
TEST(test_overlap_of_single_rows)
{
    struct layer_norm_backward_args a = {.dgain = at(0, 1, 4),
                                         .dbias = at(4, 1, 4),
                                         .dy = shape(6, 4),
                                         .x = shape(6, 4),
                                         .gain = shape(1, 4),
                                         .stats = shape(6, 2)};
    expect_bound(OP_layer_norm_backward, &a);
    a.dgain.ld = a.dbias.ld = 0;
    expect_bound(OP_layer_norm_backward, &a);
    a.dbias = at(3, 1, 4);
    a.dbias.ld = 0;
    expect_error(OP_layer_norm_backward, &a, "layer_norm_backward: dbias overlaps another output");
}

TEST(test_flops)
{
    struct linear_args a = linear();
    assert_int_equal(op_flops(OP_linear, &a), 5 * 3 * (2 * 12 + 1));
    a.b = (struct mat){0};
    a.act = ACT_GELU_TANH;
    assert_int_equal(op_flops(OP_linear, &a), 5 * 3 * (2 * 12 + 9));

    struct mean_error_backward_args m = {
        .dy = shape(5, 3), .dloss = shape(1, 1), .y = shape(5, 3), .target = shape(5, 3), .power = 2};
    assert_int_equal(op_flops(OP_mean_error_backward, &m), 45);
    m.dy.acc = true;
    assert_int_equal(op_flops(OP_mean_error_backward, &m), 60);
}

TEST(test_flops_of_large_graphs)
{
    int64_t N = 10000000;
    struct attention_args a = {.y = shape(N, 256),
                               .q = shape(N, 256),
                               .k = shape(N, 256),
                               .v = shape(N, 256),
                               .graphs = graphs(1, N * N),
                               .heads = 8};
    assert_true(op_flops(OP_attention, &a) == INT64_C(105600002560000000));
    a.lse = doubles(N, 8);
    assert_true(op_flops(OP_attention, &a) == INT64_C(105600002720000000));

    N = 1000000000;
    a = (struct attention_args){.y = shape(N, 256),
                                .q = shape(N, 256),
                                .k = shape(N, 256),
                                .v = shape(N, 256),
                                .graphs = graphs(1, N * N),
                                .heads = 8};
    assert_int_equal(op_flops(OP_attention, &a), -1);
}

static struct op_traffic traffic(enum op op, const void *args)
{
    char error[200];
    int64_t dims[DIMS];
    op_bind(op, args, dims, error, sizeof error);
    return op_traffic(op, args, dims);
}

TEST(test_bytes)
{
    struct linear_args a = linear();
    assert_int_equal(op_bytes(OP_linear, &a), 4 * (5 * 3 + 5 * 12 + 3 * 12 + 3));
    assert_int_equal(traffic(OP_linear, &a).written, 4 * 5 * 3);
    struct attention_args b = attention(4);
    assert_int_equal(op_bytes(OP_attention, &b), 4 * 4 * 6 * 8 + 8 * 6 * 4 + 8 * 3);

    struct copy_args c = {.y = shape(5, 3), .x = shape(5, 3)};
    assert_int_equal(op_bytes(OP_copy, &c), 120);
    c.y.acc = true;
    assert_int_equal(op_bytes(OP_copy, &c), 180);
    assert_int_equal(traffic(OP_copy, &c).written, 60);
    assert_int_equal(traffic(OP_copy, &c).updated, 60);
    static char memory[60];
    c.y = (struct mat){.data = memory, .rows = 5, .cols = 3, .ld = 3, .dtype = F32};
    assert_int_equal(traffic(OP_copy, &c).updated, 0);
    c.x = c.y;
    assert_int_equal(traffic(OP_copy, &c).updated, 60);

    struct adamw_args w = {.p = shape(2, 2), .m = shape(2, 2), .v = shape(2, 2), .g = shape(2, 2)};
    w.schedule = (struct mat){.rows = 1, .cols = 2, .ld = 2, .dtype = F64};
    assert_int_equal(op_bytes(OP_adamw, &w), 4 * 4 * 7 + 16);
    assert_int_equal(traffic(OP_adamw, &w).written, 4 * 4 * 3);
    assert_int_equal(traffic(OP_adamw, &w).updated, 4 * 4 * 3);

    int64_t huge = INT64_C(1) << 40;
    struct fill_args f = {.y = {.rows = huge, .cols = huge, .ld = huge, .dtype = F32}};
    assert_int_equal(op_bytes(OP_fill, &f), -1);
    assert_int_equal(traffic(OP_fill, &f).written, -1);
}

/* 5 nodes and 7 edges, width 3, on a symmetric graph and on a directed one. */
TEST(test_edges)
{
    static char memory[64];
    struct mat row = {.data = memory, .rows = 6, .cols = 1, .ld = 1, .dtype = I64}, other = row;
    struct mat col = {.data = memory + 8, .rows = 7, .cols = 1, .ld = 1, .dtype = I32};
    struct spmm_args a = {.y = shape(5, 3), .x = shape(5, 3), .adj = {.row = row, .col = col}};
    char error[200];
    int64_t dims[DIMS];
    assert_true(
        op_bind(OP_spmm, &a, dims, error, sizeof error)); /* without the transpose, which is not read */
    assert_int_equal(dims[DIM_E], 7);
    assert_int_equal(op_bytes(OP_spmm, &a), 4 * (5 * 3 + 5 * 3) + 8 * 6 + 4 * 7);
    assert_int_equal(traffic(OP_spmm, &a).no_reuse, 4 * (5 * 3 + 7 * 3) + 8 * 6 + 4 * 7);
    assert_int_equal(op_flops(OP_spmm, &a), 3 * 7);
    a.self = 1;
    assert_int_equal(op_flops(OP_spmm, &a), 3 * (7 + 5));
    a.self = 1.5;
    assert_int_equal(op_flops(OP_spmm, &a), 3 * (7 + 2 * 5));

    struct spmm_backward_args b = {.dx = shape(5, 3), .dy = shape(5, 3), .adj = a.adj};
    assert_false(op_bind(OP_spmm_backward, &b, dims, error, sizeof error));
    assert_string_equal(error, "spmm_backward: adj.out_row is missing");

    struct mat m = shape(5, 4), lse = doubles(5, 2), numbers = col;
    numbers.data = memory + 24;
    struct sparse_attention_backward_args c = {
        .dq = m,
        .dk = m,
        .dv = m,
        .dy = m,
        .y = m,
        .q = m,
        .k = m,
        .v = m,
        .lse = lse,
        .adj = {.row = row, .col = col, .out_row = row, .out_col = col, .out_edge = numbers},
        .heads = 2};
    int64_t symmetric = op_bytes(OP_sparse_attention_backward, &c);
    other.data = memory + 16;
    c.adj.out_row = other;
    assert_int_equal(op_bytes(OP_sparse_attention_backward, &c), symmetric + 8 * 6);

    a.adj.col = (struct mat){.cols = 1, .ld = 1, .dtype = I32}; /* no edges at all */
    assert_true(op_bind(OP_spmm, &a, dims, error, sizeof error));
    assert_int_equal(dims[DIM_E], 0);
}

/* Forms are named by their options, which an op and its backward op have alike. */
TEST(test_forms)
{
    int count = 0;
    for (enum op op = 0; op < OPS; op++) {
        const struct op_info *info = op_info(op),
                             *back = op_backward_of(op) < OPS ? op_info(op_backward_of(op)) : info;
        assert_int_equal(back->form_count, info->form_count);
        for (int form = 0; form < info->form_count; form++, count++) {
            struct form f = form_at(count);
            assert_true(f.op == op && f.options == (unsigned)form);
            assert_string_equal(form_name(f), info->forms[form]);
            const char *options = strchr(back->forms[form], '+'), *same = strchr(info->forms[form], '+');
            assert_true(form ? strcmp(options, same) == 0 : !options && !same);
        }
        for (int i = 0; i < info->operand_count; i++)
            assert_true(!info->operands[i].option == !operand_option(op, &info->operands[i]));
    }
    assert_null(form_name(form_at(count)));
    assert_string_equal(op_info(OP_attention)->forms[OPTION_attention_mask | OPTION_attention_dropout],
                        "attention+mask+dropout");

    struct attention_args a = attention(2);
    assert_int_equal(op_options(OP_attention, &a), 0);
    a.m = shape(6, 1);
    assert_int_equal(op_options(OP_attention, &a), OPTION_attention_mask);
    expect_bound(OP_attention, &a);
}

/* What an option reads is given together, and nothing of it without. */
TEST(test_options_are_whole)
{
    struct mat row = {.rows = 6, .cols = 1, .ld = 1, .dtype = I64};
    struct mat col = {.rows = 7, .cols = 1, .ld = 1, .dtype = I32}, m = shape(5, 4);
    struct edges adj = {.row = row, .col = col, .out_row = row, .out_col = col, .out_edge = col};
    struct gatv2_args a = {
        .y = m, .l = m, .r = m, .att = shape(1, 4), .b = shape(1, 4), .adj = adj, .heads = 2};
    expect_bound(OP_gatv2, &a);
    a.c = shape(7, 4);
    expect_error(OP_gatv2, &a, "gatv2: loop is missing");
    a.loop = m;
    expect_bound(OP_gatv2, &a);
    a.c = (struct mat){0};
    expect_error(OP_gatv2, &a, "gatv2: c is missing");

    struct gine_backward_args b = {.dx = m, .de = shape(7, 4), .dy = m, .x = m, .e = shape(7, 4), .adj = adj};
    expect_bound(OP_gine_backward, &b);
    b.dg = shape(7, 1);
    expect_error(OP_gine_backward, &b, "gine_backward: dg is given, but not what it belongs to");
    b.g = shape(7, 1);
    expect_bound(OP_gine_backward, &b);
    b.dg = (struct mat){0};
    expect_error(OP_gine_backward, &b, "gine_backward: dx, de and, with weights, dg must be given together");
}
