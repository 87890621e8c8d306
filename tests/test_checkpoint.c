/*
 * Activation checkpoints: a step with them has the bits of one without, in every model and with numbers of
 * segments that do not divide the layers; less memory, all of it planned; and FLOPs that add up. Rows,
 * refusals and --find are tested as a user sees them.
 */
#include <math.h>

#include "models/layers/model.h"
#include "models/tape/count.h"
#include "models/tape/tape_internal.h"
#include "tests/batches.h"
#include "tests/encodings.h"
#include "tests/records.h"
#include "tests/refusals.h"
#include "tests/tapes.h"
#include "tests/test.h"

static const struct model_config subjects[] = {
    {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN},
    {.attention = ATTENTION_SPARSE, .mpnn = MPNN_GIN, .norm = NORM_NONE, .pool = POOL_MAX},
    {.attention = ATTENTION_UNFUSED, .norm = NORM_GRAPH, .pool = POOL_SUM},
    {.attention = ATTENTION_SPARSE, .norm = NORM_BATCH, .task = TASK_NODE},
    {.mpnn = MPNN_GIN, .norm = NORM_BATCH, .dropout = 0.2},
    {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .dropout = 0.3, .attention_dropout = 0.1},
    {.mpnn = MPNN_GATEDGCN, .dropout = 0.2},
    {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .pe = {.kind = ENCODING_RWSE, .k = 5, .width = 6}},
    {.mpnn = MPNN_GIN, .pe = {.kind = ENCODING_LAP, .k = 4, .width = 6}},
};

enum { LAYERS = 5, STEPS = 2 };

/* A step that has run. */
static struct recording ran(const struct model_config *c, const struct batch *b, struct tape_config t)
{
    struct encoding e = encoding_sample(&c->pe, b);
    struct recording r = program_record(PROGRAM_STEP, c, b, &e, t);
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    for (int i = 0; i < STEPS; i++)
        tape_run(r.tape);
    encoding_free(&e);
    return r;
}

static void assert_same_bits(const struct tape *a, const struct tape *b, struct mat x, struct mat y)
{
    x = tape_view(a, x);
    y = tape_view(b, y);
    assert_true(x.rows == y.rows && x.cols == y.cols && mat_bytes(x) > 0);
    assert_memory_equal(x.data, y.data, (size_t)mat_bytes(x));
}

/* Of the running statistics, which both tapes declare in the same order; returns how many there are. */
static int assert_same_state(const struct tape *a, const struct tape *b)
{
    int count = 0, j = 0;
    for (int i = 1; i < a->storage_count; i++) {
        const struct storage *s = &a->storages[i], *other = NULL;
        if (s->category != MEMORY_STATE)
            continue;
        while (!other)
            other = b->storages[++j].category == MEMORY_STATE ? &b->storages[j] : NULL;
        assert_string_equal(s->name, other->name);
        assert_memory_equal((char *)a->arena + s->offset, (char *)b->arena + other->offset, (size_t)s->bytes);
        count++;
    }
    return count;
}

static void assert_same_step(const struct recording *kept, const struct recording *r)
{
    assert_same_bits(kept->tape, r->tape, kept->loss, r->loss);
    assert_same_bits(kept->tape, r->tape, kept->output, r->output);
    for (int p = 0; p < tape_parameter_count(kept->tape); p++) {
        struct mat x = tape_parameter(kept->tape, p, NULL), y = tape_parameter(r->tape, p, NULL);
        assert_same_bits(kept->tape, r->tape, x, y);
        assert_same_bits(kept->tape, r->tape, tape_gradient(kept->tape, x), tape_gradient(r->tape, y));
    }
}

static void assert_flops_add_up(const struct tape *kept, const struct tape *t)
{
    int64_t again = tape_cost(t, PHASE_RECOMPUTE).flops, forward = tape_cost(kept, PHASE_FORWARD).flops;
    assert_between(again, 1, forward);
    assert_int_equal(tape_total(t).flops, tape_total(kept).flops + again);
    assert_int_equal(tape_cost(t, PHASE_FORWARD).flops, forward);
    assert_int_equal(tape_cost(t, PHASE_BACKWARD).flops, tape_cost(kept, PHASE_BACKWARD).flops);
    assert_int_equal(tape_count(t, INT64_MAX), tape_total(t).flops);
    assert_int_equal(tape_cost(kept, PHASE_RECOMPUTE).bytes, 0);
}

TEST(test_steps_have_the_same_bits)
{
    static const char *const values[] = {"2", "3", "4", "layer"};
    const struct tape_config backends[] = {
        {.backend = backend_cpu(), .dtype = F32, .threads = 2, .seed = 7},
        {.backend = &backend_oracle, .dtype = F64, .threads = 1, .seed = 7}};
    struct batch b = batch_awkward();
    for (size_t s = 0; s < sizeof subjects / sizeof *subjects; s++)
        for (size_t t = 0; t < sizeof backends / sizeof *backends; t++) {
            struct model_config c = subjects[s];
            c.layers = LAYERS;
            c.hidden = 12;
            c.heads = 3;
            c.ffn = 20;
            c.act = ACT_GELU;
            struct recording kept = ran(&c, &b, backends[t]);
            for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
                c.checkpoint = values[v];
                struct recording r = ran(&c, &b, backends[t]);
                assert_same_step(&kept, &r);
                assert_flops_add_up(kept.tape, r.tape);
                assert_int_equal(assert_same_state(kept.tape, r.tape) > 0, c.norm == NORM_BATCH ||
                                                                               c.pe.kind == ENCODING_RWSE ||
                                                                               c.mpnn == MPNN_GATEDGCN);
                tape_free(r.tape);
            }
            tape_free(kept.tape);
        }
    batch_free(&b);
}

/* A segment that fills a matrix in column ranges: its gradient is found as without the segment. */
TEST(test_gradient_of_an_activation)
{
    struct mat gradient[2];
    struct tape *t[2];
    for (int i = 0; i < 2; i++) {
        t[i] = tape_new_in_double();
        struct mat in = input_uniform(t[i], "in", all_rows(5), 6);
        if (i)
            tape_segment_begin(t[i]);
        struct mat x = tape_matrix(t[i], 5, 6);
        linear_to(t[i], "a", mat_cols(x, 0, 4), in, ACT_GELU);
        linear_to(t[i], "b", mat_cols(x, 4, 2), in, ACT_NONE);
        struct mat y = op(t[i], add, .a = x, .b = linear(t[i], "c", x, 6, ACT_RELU))->y;
        if (i)
            tape_segment_end(t[i]);
        tape_backward(t[i],
                      mean_squared_error(t[i], "loss", y, input_uniform(t[i], "target", all_rows(5), 6)));
        gradient[i] = tape_gradient(t[i], x);
        tape_keep(t[i], gradient[i]);
        assert_true(tape_layout(t[i]));
        tape_init(t[i]);
        tape_run(t[i]);
    }
    assert_true(tape_cost(t[1], PHASE_RECOMPUTE).flops > 0);
    assert_same_bits(t[0], t[1], gradient[0], gradient[1]);
    tape_free(t[0]);
    tape_free(t[1]);
}

/* The plan of a step of the canonical layers at 2000 nodes, which is not run. */
static struct plan planned(const char *checkpoint, int64_t layers)
{
    struct graph_config g = {.family = "er", .nodes = 2000, .degree = 5, .graphs = 1, .seed = 42};
    struct model_config c = subjects[0];
    struct batch b;
    char error[256];
    c.layers = layers;
    c.hidden = 256;
    c.heads = 8;
    c.ffn = 512;
    c.act = ACT_GELU;
    c.checkpoint = checkpoint;
    assert_true(batch_shape(&b, &g, error, sizeof error));
    struct tape_config t = {.backend = backend_cpu(), .dtype = F32, .threads = 2};
    struct recording r = program_record(PROGRAM_STEP, &c, &b, NULL, t);
    struct plan p = *tape_plan(r.tape);
    tape_free(r.tape);
    batch_free(&b);
    return p;
}

TEST(test_memory)
{
    struct plan none = planned(NULL, 16), four = planned("4", 16), layer = planned("layer", 16);
    assert_true(5 * layer.at_peak[MEMORY_ACTIVATIONS] <= none.at_peak[MEMORY_ACTIVATIONS]);
    assert_true(layer.arena < four.arena && four.arena < none.arena);
    assert_int_equal(planned("layer", 1).arena, planned("none", 1).arena); /* the last is not recomputed */
}

#define TINY "--nodes 60 --hidden 16 --heads 2 --layers 4 --runs 2 --warmup 0 --threads 1 --output x.json "

TEST(test_rows)
{
    struct record *record = run_json(*state, TINY "--profile --checkpoint none,layer,4,3", 0);
    const struct row *none = row_at(record, 0);
    int64_t flops = count_at(none, "step.flops.analytic");
    assert_absent(none, "step.recompute");
    for (size_t i = 1; i < row_count(record); i++) {
        const struct row *row = row_at(record, i);
        int64_t again = count_at(row, "step.recompute.flops"), total = count_at(row, "step.flops.analytic");
        assert_string_equal(text_at(row, "checked"), "whole");
        assert_true(real_at(row, "loss") == real_at(none, "loss"));
        assert_true(again > 0 && total == flops + again && real_at(row, "step.recompute.time.median") > 0);
        assert_int_equal(count_at(row, "step.flops.counted"), total);
        double share = real_at(row, "step.model_gflops") / real_at(row, "step.gflops");
        assert_true(fabs(share * (double)total / (double)flops - 1) < 1e-9);
        assert_int_equal(count_at(row, "forward.flops.analytic"), count_at(none, "forward.flops.analytic"));
    }
    assert_string_equal(text_at(row_at(record, 1), "work"), text_at(row_at(record, 2), "work"));
    assert_string_not_equal(text_at(none, "work"), text_at(row_at(record, 1), "work"));
    record_free(record);
}

TEST(test_resident_is_planned)
{
    expect_resident_step(*state,
                         "--model gin --nodes 8000 --hidden 128 --heads 2 --layers 4 --checkpoint layer");
}

static int64_t most_layers(const struct house *h, const char *checkpoint)
{
    char words[256];
    snprintf(words, sizeof words,
             "--device meta --phase step --nodes 500 --hidden 32 --heads 4 --find layers=memory:16MiB "
             "--checkpoint %s",
             checkpoint);
    struct record *record = run_json(h, words, 0);
    int64_t layers = count_at(row_at(record, 0), "layers");
    record_free(record);
    return layers;
}

TEST(test_more_layers_fit)
{
    int64_t none = most_layers(*state, "none");
    assert_true(none > 4);
    assert_true(most_layers(*state, "layer") > 3 * none);
    assert_true(most_layers(*state, "4") > none);
}

TEST(test_refusals)
{
    static const char *const bad[] = {"0", "1", "-1", "04", "+4", "1.5", "4k", "1001", "layers", "none,,4"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char names[64];
        snprintf(names, sizeof names, "--checkpoint %s", bad[i]);
        refuses(*state, "", MORE("--checkpoint", bad[i]), names, "as in none, layer, 4");
    }
    refuses(*state, "--layers 4,5 --checkpoint 5", NULL, "--checkpoint 5 --layers 4", "more segments");
    refuses(*state, "--phase forward --checkpoint none,4", NULL, "--checkpoint: ", "--phase step");
}

GROUP("tests", house_setup, house_teardown)
