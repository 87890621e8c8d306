/*
 * FLOPs as other counters count them (models/tape/conventions.h): for a batch of one graph exactly the
 * numbers of the counters themselves, which tests/golden/flop_conventions.py wrote to a file; sums, limits,
 * fields and the table.
 */
#include "models/layers/model.h"
#include "models/tape/conventions.h"
#include "tests/batches.h"
#include "tests/records.h"
#include "tests/refusals.h"
#include "tests/test.h"

static const struct tape_config on_ref = {.backend = &backend_ref, .dtype = F32, .threads = 1, .seed = 1};

static int64_t golden_count(const struct value *v, const char *path)
{
    int64_t count = -1;
    if (!value_get_count(v, path, &count))
        fail_msg("the golden file has no count %s", path);
    return count;
}

static const char *golden_text(const struct value *v, const char *path)
{
    const char *text = "";
    if (!value_get_text(v, path, &text))
        fail_msg("the golden file has no text %s", path);
    return text;
}

static struct model_config model_of(const struct value *golden, const struct value *program)
{
    int attention = 0;
    while (strcmp(attention_name(attention), golden_text(program, "attention")) != 0)
        attention++;
    return (struct model_config){.layers = golden_count(golden, "layers"),
                                 .hidden = golden_count(golden, "hidden"),
                                 .heads = golden_count(golden, "heads"),
                                 .ffn = golden_count(golden, "ffn"),
                                 .act = ACT_GELU,
                                 .attention = (enum attention_kind)attention,
                                 .mpnn = golden_count(program, "mpnn") ? MPNN_GIN : MPNN_NONE,
                                 .norm = strcmp(golden_text(program, "norm"), "batch") == 0 ? NORM_BATCH
                                                                                            : NORM_LAYER};
}

/* The sum over ops is that of the program, and `full` that of the costs. */
static void check_sums(const struct tape *t)
{
    for (enum convention c = 0; c < CONVENTIONS; c++) {
        int64_t sum = 0;
        for (enum op op = 0; op < OPS; op++)
            sum += convention_total(c, t, op);
        assert_int_equal(sum, convention_total(c, t, OPS));
    }
    assert_int_equal(convention_total(CONVENTION_FULL, t, OPS), tape_total(t).flops);
}

static void check_program(const struct model_config *c, const struct value *program, const struct batch *b)
{
    bool step = strcmp(golden_text(program, "program"), "step") == 0;
    struct recording r = program_record(step ? PROGRAM_STEP : PROGRAM_FORWARD, c, b, NULL, on_ref);
    for (enum convention k = CONVENTION_TORCH; k < CONVENTIONS; k++) {
        int64_t ours = convention_total(k, r.tape, OPS), theirs = golden_count(program, convention_name(k));
        if (ours != theirs)
            fail_msg("%s, norm %s, %s: %s counts %lld, but we say %lld", golden_text(program, "model"),
                     golden_text(program, "norm"), golden_text(program, "program"), convention_name(k),
                     (long long)theirs, (long long)ours);
    }
    check_sums(r.tape);
    tape_free(r.tape);
}

TEST(test_golden)
{
    char error[MESSAGE_SIZE];
    struct value *golden = value_load("tests/golden/data/flop_conventions.json", error);
    if (!golden)
        fail_msg("%s", error);
    struct batch b = batch_er(golden_count(golden, "nodes"), 1);
    int programs = 0;
    for (struct walk w = value_walk(value_get(golden, "programs")); walk_next(&w); programs++) {
        struct model_config c = model_of(golden, w.value);
        check_program(&c, w.value, &b);
    }
    assert_int_equal(programs, 20);
    batch_free(&b);
    value_free(golden);
}

static struct entry entry_of(enum op op, void *args)
{
    struct entry e = {.op = op, .args = args, .flops = op_flops(op, args)};
    char error[256];
    if (!op_bind(op, args, e.dims, error, sizeof error))
        fail_msg("%s", error);
    return e;
}

/* By hand, for 3 nodes: a linear layer from 2 to 4 columns with bias and GELU; attention of width 4, 2 heads,
 * 9 pairs. */
TEST(test_by_hand)
{
    struct mat x = {.rows = 3, .cols = 2, .ld = 2, .dtype = F32},
               y = {.rows = 3, .cols = 4, .ld = 4, .dtype = F32},
               w = {.rows = 4, .cols = 2, .ld = 2, .dtype = F32},
               b = {.rows = 1, .cols = 4, .ld = 4, .dtype = F32};
    struct mat at = {.rows = 2, .cols = 1, .ld = 1, .dtype = I64};
    struct linear_args linear = {.y = y, .x = x, .w = w, .b = b, .act = ACT_GELU};
    struct attention_args attention = {
        .y = y, .q = y, .k = y, .v = y, .graphs = {.at = at, .pairs = 9}, .heads = 2};
    struct entry e = entry_of(OP_linear, &linear);
    static const int64_t of_linear[] = {12 * (4 + 1 + 5), 12 * (4 + 1 + 4), 12 * 4, 12 * 2, 12 * (4 + 1)};
    for (enum convention c = 0; c < CONVENTIONS; c++)
        assert_int_equal(convention_flops(c, &e), of_linear[c]);
    e = entry_of(OP_attention, &attention);
    static const int64_t of_attention[] = {9 * (16 + 8) + 12, 9 * (16 + 12), 9 * 16, 9 * 8, 9 * (16 + 2)};
    for (enum convention c = 0; c < CONVENTIONS; c++)
        assert_int_equal(convention_flops(c, &e), of_attention[c]);
    e.phase = PHASE_BACKWARD; /* a forward op that is run again */
    assert_int_equal(convention_flops(CONVENTION_TORCH, &e), 9 * 16);
    assert_int_equal(convention_flops(CONVENTION_FVCORE, &e), 0);
    assert_int_equal(convention_flops(CONVENTION_DEEPSPEED, &e), 0);
}

/* Counts beyond 63 bits are said to be, and those below are exact. */
TEST(test_beyond_63_bits)
{
    int64_t n = INT64_C(1) << 31;
    struct mat y = {.rows = n, .cols = 1, .ld = 1, .dtype = F32},
               at = {.rows = 2, .cols = 1, .ld = 1, .dtype = I64};
    struct attention_args args = {
        .y = y, .q = y, .k = y, .v = y, .graphs = {.at = at, .pairs = n * n}, .heads = 1};
    struct entry e = entry_of(OP_attention, &args);
    assert_int_equal(convention_flops(CONVENTION_FULL, &e), -1);
    assert_int_equal(convention_flops(CONVENTION_TORCH, &e), -1);
    args.graphs.pairs = (n - 1) * (n - 1); /* 2 P is below 2^63 */
    e = entry_of(OP_attention, &args);
    assert_int_equal(convention_flops(CONVENTION_FVCORE, &e), 2 * args.graphs.pairs);
}

#define SMALL "--device meta --hidden 512 --heads 2 --layers 1 "

TEST(test_fields_and_table)
{
    struct record *record = run_json(*state, SMALL "--nodes 29,100M", 0);
    const struct row *row = row_at(record, 0);
    int64_t forward = count_at(row, "forward.flops.convention.fvcore");
    assert_true(forward > 0 && forward < count_at(row, "forward.flops.convention.torch"));
    assert_int_equal(count_at(row, "step.flops.convention.fvcore"), forward);
    assert_true(count_at(row, "step.flops.convention.torch") >
                2 * count_at(row, "forward.flops.convention.torch"));
    assert_true(count_at(row, "step.flops.convention.simple") < count_at(row, "step.flops.analytic"));
    assert_null_because(row_at(record, 1), "step.flops.convention.torch", "exceeds 63 bits");
    record_free(record);

    struct ended e = run_words(*state, SMALL "--nodes 29 --phase step --flop-convention fvcore,full", 0);
    assert_non_null(strstr(e.out, "FLOPs of step at 29 nodes"));
    assert_non_null(strstr(e.out, "\nlinear_backward "));
    assert_non_null(strstr(e.out, "\nlinear: torch and fvcore count neither"));
    assert_non_null(strstr(e.out, "spmm"));
    assert_null(strstr(e.out, "deepspeed: "));
    ended_free(&e);
}

TEST(test_bad_lists)
{
    static const char allowed[] = "one or more of full, simple, torch, fvcore and deepspeed, each once";
    refuses(*state, "--flop-convention torhc", NULL, "--flop-convention torhc", "did you mean torch?");
    refuses(*state, "--flop-convention torch,torch", NULL, "--flop-convention torch,torch", allowed);
    refuses(*state, "--flop-convention torch,", NULL, "--flop-convention torch,", allowed);
}

GROUP("tests", house_setup, house_teardown)
