/*
 * Dropout: which entries are kept, by the definition, with the same bits on every backend, instruction set
 * and number of threads; a mask of its own in every step and at every site; nothing without it; and rows,
 * refusals and hashes as a user sees them. Gradients and golden results are tested with those of other ops
 * and models.
 */
#include <math.h>

#include "bench/audit/operands.h"
#include "kernels/mask.h"
#include "models/layers/model.h"
#include "tests/batches.h"
#include "tests/records.h"
#include "tests/refusals.h"
#include "tests/tapes.h"
#include "tests/test.h"

/* The two numbers of a word, the lower half first. */
TEST(test_numbers)
{
    uint64_t key = rng_key(3, "site"), word = rng_bits(key, 20);
    assert_true(rng_half(key, 40) == (uint32_t)word && rng_half(key, 41) == word >> 32);
    struct mask m = mask_of(key, 5, 0.25);
    assert_true(m.key == rng_bits(key, 5) && m.least == 1u << 30 && m.scale == 4 / 3.0);
    assert_true(mask_of(key, 5, 0.99).least == 4252017623u);
}

/* Of n entries, p n are dropped, give or take five standard deviations; also of those kept in another step.
 */
TEST(test_shares)
{
    enum { ENTRIES = 1 << 18 };
    static const double probabilities[] = {0, 0.01, 0.1, 0.5, 0.99};
    for (size_t i = 0; i < sizeof probabilities / sizeof *probabilities; i++) {
        double p = probabilities[i], kept = 0, twice = 0;
        struct mask m = mask_of(rng_key(1, "a"), 0, p), next = mask_of(rng_key(1, "a"), 1, p);
        for (int64_t n = 0; n < ENTRIES; n++) {
            kept += mask_keeps(m, n);
            twice += mask_keeps(m, n) && mask_keeps(next, n);
        }
        assert_true(fabs(kept - (1 - p) * ENTRIES) <= 5 * sqrt(p * (1 - p) * ENTRIES));
        double both = (1 - p) * (1 - p);
        assert_true(fabs(twice - both * ENTRIES) <= 5 * sqrt(both * (1 - both) * ENTRIES));
    }
}

/* Entry (i, k) of what an op wrote is that of the definition. */
static void assert_defined(const struct operands *o, struct mat y, struct mat x, struct mask m)
{
    for (int64_t i = 0; i < y.rows; i++)
        for (int64_t k = 0; k < y.cols; k++) {
            float want = mask_keeps(m, i * y.cols + k) ? (float)mat_get(x, i, k) * (float)m.scale : 0;
            if (mat_get(y, i, k) != (double)want)
                fail_msg("%s: entry (%d, %d) is %g, not %g", op_info(o->sample.op)->name, (int)i, (int)k,
                         mat_get(y, i, k), (double)want);
        }
}

static void check_kernel(const struct operands *inputs, const struct kernel *k, int threads)
{
    struct operands *o = operands_copy(inputs, F32, inputs->sample.pad);
    assert_true(operands_run(o, k, threads, 0, 0));
    const struct dropout_args *a = &o->args.dropout;
    const struct dropout_backward_args *b = &o->args.dropout_backward;
    if (k->op == OP_dropout)
        assert_defined(o, a->y, a->x, mask_of(a->key, mat_get(a->schedule, 0, 0), a->p));
    else
        assert_defined(o, b->dx, b->dy, mask_of(b->key, mat_get(b->schedule, 0, 0), b->p));
    operands_free(o);
}

/* Rows that begin at odd entries, and matrices of several runs and pieces, packed and padded. */
TEST(test_bits)
{
    static const int64_t shapes[][2] = {{1, 1}, {3, 5}, {7, 1025}, {131, 257}, {2, 5001}, {9000, 1}};
    for (enum op op = OP_dropout; op <= OP_dropout_backward; op++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (int64_t pad = 0; pad <= 3; pad += 3) {
                struct sample s = {.op = op, .dims = {1, 2, shapes[i][0], shapes[i][1], 1, 1, 1}, .pad = pad};
                struct operands *inputs = operands_new(&s, F32);
                assert_non_null(inputs);
                check_kernel(inputs, backend_kernel(&backend_ref, op, F32, NULL), 1);
                for (const struct backend *const *b = backend_cpu_all(); *b; b++)
                    for (int threads = 1; threads <= 3; threads++)
                        check_kernel(inputs, backend_kernel(*b, op, F32, NULL), threads);
                operands_free(inputs);
            }
}

/* --- programs */

static const struct model_config config = {.layers = 2,
                                           .hidden = 12,
                                           .heads = 3,
                                           .ffn = 20,
                                           .act = ACT_GELU,
                                           .attention = ATTENTION_UNFUSED,
                                           .mpnn = MPNN_GIN,
                                           .dropout = 0.3,
                                           .attention_dropout = 0.2};

static struct recording recorded(enum program_kind kind, const struct model_config *c, const struct batch *b)
{
    struct tape_config t = {.backend = backend_cpu(), .dtype = F32, .threads = 2, .seed = 7};
    return program_record(kind, c, b, NULL, t);
}

static int count_of(const struct tape *t, enum op op)
{
    int count = 0;
    for (int e = 0; e < tape_entry_count(t); e++)
        count += tape_entry(t, e)->op == op;
    return count;
}

/* After GIN, attention, its probabilities and both linear layers of the FFN, each with a key of its own. */
TEST(test_sites)
{
    static const char *const sites[] = {"layer1.dropout_local", "layer1.attention.dropout",
                                        "layer1.dropout_attention", "layer1.ffn.dropout_up",
                                        "layer1.ffn.dropout_down"};
    enum { SITES = sizeof sites / sizeof *sites };
    struct batch b = batch_awkward();
    struct recording r = recorded(PROGRAM_STEP, &config, &b), f = recorded(PROGRAM_FORWARD, &config, &b);
    assert_int_equal(count_of(r.tape, OP_dropout), 2 * SITES);
    assert_int_equal(count_of(r.tape, OP_dropout_backward), 2 * SITES);
    assert_int_equal(count_of(f.tape, OP_dropout), 0);
    for (int e = 0, site = 0; site < SITES; e++) {
        const struct dropout_args *a = tape_entry(r.tape, e)->args;
        if (tape_entry(r.tape, e)->op != OP_dropout)
            continue;
        assert_string_equal(tape_entry(r.tape, e)->span, sites[site]);
        assert_true(a->key == rng_key(7, sites[site]));
        assert_true(a->p == (site == 1 ? config.attention_dropout : config.dropout));
        site++;
    }
    tape_free(r.tape);
    tape_free(f.tape);
    batch_free(&b);
}

/* Each step has masks of its own, and the first again after another initialisation. */
TEST(test_steps)
{
    enum { STEPS = 3 };
    struct batch b = batch_awkward();
    struct recording r = recorded(PROGRAM_STEP, &config, &b);
    float *masks[STEPS];
    int site = 0;
    while (tape_entry(r.tape, site)->op != OP_dropout)
        site++;
    const struct dropout_args *a = tape_entry(r.tape, site)->args;
    tape_keep(r.tape, a->y);
    assert_true(tape_layout(r.tape));
    for (int step = 0; step < STEPS; step++) {
        if (step == 0 || step == STEPS - 1)
            tape_init(r.tape);
        tape_run(r.tape);
        masks[step] = malloc((size_t)mat_bytes(a->y));
        assert_non_null(masks[step]);
        memcpy(masks[step], tape_view(r.tape, a->y).data, (size_t)mat_bytes(a->y));
    }
    int64_t different = 0, n = mat_size(a->y);
    for (int64_t i = 0; i < n; i++)
        different += (masks[0][i] == 0) != (masks[1][i] == 0);
    assert_true(different > n / 5); /* 2 p (1 - p) = 0.42 of the entries */
    assert_memory_equal(masks[0], masks[2], (size_t)mat_bytes(a->y));
    for (int step = 0; step < STEPS; step++)
        free(masks[step]);
    tape_free(r.tape);
    batch_free(&b);
}

/* --- rows */

#define TINY "--nodes 50 --hidden 16 --heads 2 --layers 2 --runs 2 --warmup 0 --threads 1 --output x.json "

TEST(test_rows)
{
    struct record *record = run_json(*state, TINY "--dropout 0,0.2 --attention-dropout 0,0.1", 0);
    const struct row *none = row_at(record, 0);
    assert_int_equal(row_count(record), 4);
    for (size_t i = 1; i < 4; i++) {
        const struct row *row = row_at(record, i);
        assert_true(real_at(row, "dropout") == (i > 1 ? 0.2 : 0));
        assert_true(real_at(row, "attention_dropout") == (i % 2 ? 0.1 : 0));
        assert_string_equal(text_at(row, "checked"), "whole");
        assert_true(real_at(row, "loss") != real_at(none, "loss"));
        assert_int_equal(count_at(row, "forward.flops.analytic"), count_at(none, "forward.flops.analytic"));
        assert_true(count_at(row, "step.flops.analytic") > count_at(none, "step.flops.analytic"));
        assert_int_equal(count_at(row, "step.flops.counted"), count_at(row, "step.flops.analytic"));
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(text_at(row, "work"), text_at(row_at(record, j), "work"));
    }
    record_free(record);
}

TEST(test_refusals)
{
    static const char *const bad[] = {"1", "-0.1", "1.5", "half", "nan"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char names[64];
        snprintf(names, sizeof names, "--dropout %s", bad[i]);
        refuses(*state, "", MORE("--dropout", bad[i]), names, "0.99");
    }
    refuses(*state, "--phase forward --dropout 0,0.1", NULL, "--dropout: ", "--phase step");
    refuses(*state, "--model gin --attention-dropout 0.1", NULL, "--attention none", "needs attention");
}

GROUP("tests", house_setup, house_teardown)
