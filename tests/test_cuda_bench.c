/*
 * The benchmark on a GPU, from the command line to the record: samples, cold runs and launches, results
 * within the error limits, as single launches and as a captured graph, on every GPU, including variants that
 * call libraries. Skipped without a GPU.
 */
#include <unistd.h>

#include "analysis/record/record.h"
#include "analysis/record/value.h"
#include "kernels/backend.h"
#include "models/layers/config.h"
#include "tests/records.h"
#include "tests/refusals.h"
#include "tests/test.h"

/* A calibration takes longer than all else. */
#define TINY  "--hidden 16 --heads 2 --layers 1 --runs 3 --warmup 1 --budget 5 --output x.json "
#define SMALL TINY "--peaks peak=1TFLOP/s,dram=1TB/s "

static int gpus(void)
{
    char why[256];
    const struct backend *b = backend_cuda(why, sizeof why);
    return b ? b->device->count(why, sizeof why) : 0;
}

/* Every row was measured on `device`, as a graph and beside it by launches, with correct results. */
static void expect_row(const struct row *row, const char *device)
{
    static const char *const programs[] = {"forward", "step"};
    assert_string_equal(text_at(row, "status"), "ok");
    assert_string_equal(text_at(row, "device"), device);
    for (int i = 0; i < 2; i++) {
        char field[64];
        snprintf(field, sizeof field, "%s.time.median", programs[i]);
        assert_true(real_at(row, field) > 0);
        snprintf(field, sizeof field, "%s.cold.median", programs[i]);
        assert_true(real_at(row, field) > 0);
        snprintf(field, sizeof field, "%s.launch.median", programs[i]);
        assert_true(real_at(row, field) > 0);
        snprintf(field, sizeof field, "%s.eager.median", programs[i]);
        assert_true(real_at(row, field) > 0);
    }
    assert_true(real_at(row, "step.backward.time.median") > 0);
}

static void expect_rows(const struct house *h, const char *words, size_t count)
{
    struct record *record = run_json(h, words, 0);
    assert_int_equal(row_count(record), count);
    for (size_t i = 0; i < count; i++)
        expect_row(row_at(record, i), "cuda:0");
    record_free(record);
}

TEST(test_a_sweep)
{
    if (!gpus())
        skip();
    expect_rows(*state, SMALL "--device cuda --nodes 8,20 --attention dense,unfused", 4);
}

TEST(test_ragged_batches)
{
    if (!gpus())
        skip();
    expect_rows(*state, SMALL "--device cuda --nodes 12 --batch 3 --norm batch,graph", 2);
}

TEST(test_padded_batches)
{
    if (!gpus())
        skip();
    expect_rows(*state, SMALL "--device cuda --nodes 12 --batch 3 --batching padded --bias spd:3", 1);
}

/* With --no-cuda-graph the samples themselves are launched. */
TEST(test_launched)
{
    if (!gpus())
        skip();
    struct record *record = run_json(*state, SMALL "--device cuda --no-cuda-graph --nodes 20", 0);
    const struct row *row = row_at(record, 0);
    assert_string_equal(text_at(row, "status"), "ok");
    assert_true(real_at(row, "step.time.median") > 0 && real_at(row, "step.backward.time.median") > 0);
    assert_absent(row, "step.eager.median");
    record_free(record);
}

static bool emulated(void)
{
    char why[256];
    struct device_facts f = {0};
    const struct backend *b = backend_cuda(why, sizeof why);
    return b && b->device->facts(0, &f) && strstr(f.name, "Emulated");
}

#define PRODUCTS SMALL "--device cuda --model gin --phase step --no-charts --repetitions 1 "

static void expect_choices(const struct house *h, const char *says, bool said)
{
    struct record *record = run_json(h, PRODUCTS "--nodes 601", 0);
    const struct items choices = row_at(record, 0)->step.choices;
    bool found = false;
    assert_true(choices.count > 5);
    for (size_t i = 0; i < choices.count; i++)
        found = found || strstr(((const char *const *)choices.list)[i], says);
    if (found != said)
        fail_msg("%s: %s '%s' in %zu choices", said ? "no" : "there is",
                 ((const char *const *)choices.list)[0], says, choices.count);
    record_free(record);
}

static void calibration_path(const struct house *h, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/results/local/calibration.json", h->root);
}

/* How many choices of a run are of an earlier one, and how many it timed itself. */
static void expect_kept(const struct house *h, bool kept, bool timed)
{
    struct record *record = run_json(h, PRODUCTS "--nodes 601", 0);
    const struct items choices = row_at(record, 0)->step.choices;
    int of_before = 0, now = 0;
    for (size_t i = 0; i < choices.count; i++) {
        const char *text = ((const char *const *)choices.list)[i];
        of_before += strstr(text, " us, of an earlier run") != NULL;
        now += strstr(text, " us") && !strstr(text, ", of ");
    }
    if ((of_before > 5) != kept || (now > 5) != timed || (now > 0) != timed)
        fail_msg("%d choices of an earlier run, %d of this one", of_before, now);
    record_free(record);
}

/* Makes the choices of the calibration file those of another version of the library, or of no line. */
static void change_choices(const struct house *h, bool version)
{
    char path[PATH_MAX], error[256], other[1000];
    calibration_path(h, path);
    struct value *file = value_load(path, error), *lines = value_get(file, "choices"),
                 *changed = value_new_array();
    assert_true(value_size(lines) > 5);
    for (size_t i = 0; i < value_size(lines); i++) {
        const char *line, *digits;
        assert_true(value_read_text(value_at(lines, i), &line));
        assert_non_null(digits = strchr(line, ':'));
        snprintf(other, sizeof other, "%.*s%s%s", (int)(digits - line), line, version ? "1" : "",
                 version ? digits : ": 012");
        value_append(changed, value_new_text(other));
    }
    value_set(file, "choices", changed);
    assert_true(value_save(file, path, 1, error));
    value_free(file);
}

/* A second run times nothing, unless the library is another or the environment says what it may choose. */
TEST(test_choices_are_kept)
{
    char path[PATH_MAX];
    const struct house *h = *state;
    if (!emulated())
        skip();
    calibration_path(h, path);
    unlink(path);
    setenv("GTMARK_EMULATED_FASTEST", "2", 1);
    expect_kept(h, false, true);
    setenv("GTMARK_EMULATED_FASTEST", "9", 1);
    expect_kept(h, true, false);
    expect_choices(h, "algorithm 2: id 0, tile 0, stages 0, split 2, ", true);
    setenv("GTMARK_PRODUCT_ALGORITHMS", "8", 1);
    expect_kept(h, false, true);
    unsetenv("GTMARK_PRODUCT_ALGORITHMS");
    expect_kept(h, true, false);
    change_choices(h, false);
    expect_kept(h, false, true);
    expect_kept(h, true, false);
    change_choices(h, true);
    expect_kept(h, false, true);
    unsetenv("GTMARK_EMULATED_FASTEST");
    unlink(path);
}

/* Rows have the algorithm of each product and the times; two variables limit what there is to choose from. */
TEST(test_choices)
{
    char path[PATH_MAX];
    if (!emulated())
        skip();
    setenv("GTMARK_EMULATED_FASTEST", "2", 1);
    expect_choices(*state, ": algorithm 2: id 0, tile 0, stages 0, split 2, ", true);
    setenv("GTMARK_PRODUCT_WORKSPACE", "0", 1);
    expect_choices(*state, "split 2", false);
    unsetenv("GTMARK_PRODUCT_WORKSPACE");
    setenv("GTMARK_PRODUCT_ALGORITHMS", "1", 1);
    expect_choices(*state, " us", false);
    unsetenv("GTMARK_PRODUCT_ALGORITHMS");
    setenv("GTMARK_EMULATED_FASTEST", "9", 1);
    calibration_path(*state, path);
    unlink(path);
    expect_choices(*state, "16 x 16 x 601 tn f32: 2 parts, ", true);
    expect_choices(*state, "bias gradient of 601 x 16 f32: apart, ", true);
    unsetenv("GTMARK_EMULATED_FASTEST");
    setenv("GTMARK_PRODUCT_ALGORITHMS", "9", 1);
    refuses(*state, PRODUCTS "--nodes 8", NULL, "GTMARK_PRODUCT_ALGORITHMS=9", "a whole number from 1 to 8");
    setenv("GTMARK_PRODUCT_ALGORITHMS", "2x", 1);
    refuses(*state, PRODUCTS "--nodes 8", NULL, "GTMARK_PRODUCT_ALGORITHMS=2x", "from 1 to 8");
    unsetenv("GTMARK_PRODUCT_ALGORITHMS");
}

/*
 * An epilogue that the library calls an invalid value is left to a pass of ours, the same word for a product
 * without one is a fault. Status 7: CUBLAS_STATUS_INVALID_VALUE.
 */
TEST(test_invalid_values)
{
    static const char *const functions[] = {"cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmul"};
    if (!emulated())
        skip();
    setenv("GTMARK_PRODUCT_ALGORITHMS", "1", 1);
    for (int f = 0; f < 2; f++) {
        int left_to_us = 0, faults = 0;
        for (int call = 1; call < 10; call++) {
            char text[64];
            snprintf(text, sizeof text, "%s %d 7", functions[f], call);
            setenv("GTMARK_EMULATED_FAULT", text, 1);
            struct ended e = program_run(*state, PRODUCTS "--nodes 8", NULL);
            unsetenv("GTMARK_EMULATED_FAULT");
            struct record *record = record_in(*state, "work/x.json");
            const struct row *row = row_at(record, 0);
            const struct items choices = row->step.choices;
            bool refused = false;
            for (size_t i = 0; i < choices.count; i++)
                refused = refused || strstr(((const char *const *)choices.list)[i], "refused");
            left_to_us += e.status == 0 && refused;
            faults += e.status == 1 && strstr(row->reason, "an invalid value");
            ended_free(&e);
            record_free(record);
        }
        if (!left_to_us || !faults)
            fail_msg("%s: %d left to us, %d faults", functions[f], left_to_us, faults);
    }
    unsetenv("GTMARK_PRODUCT_ALGORITHMS");
}

/*
 * However little memory there is, a run ends with a message or a row, although the code of kernels and
 * libraries is loaded when they are first used, after the memory of the programs has been taken.
 */
TEST(test_little_memory)
{
    static const char words[] = SMALL "--device cuda --nodes 20 --phase step --mem-limit 1GiB";
    static const struct {
        const char *megabytes, *status, *reason;
    } cases[] = {
        {"97", "oom", "for the code of its kernels"},
        {"108", "oom", "for what its libraries need"},
        {"164", "ok", ""},
    };
    if (!emulated())
        skip();
    setenv("GTMARK_EMULATED_MEMORY", "20", 1);
    refuses(*state, words, NULL, "--device cuda: no usable GPU: out of memory", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("GTMARK_EMULATED_MEMORY", cases[i].megabytes, 1);
        struct record *record = run_json(*state, words, strcmp(cases[i].status, "ok") != 0);
        assert_string_equal(text_at(row_at(record, 0), "status"), cases[i].status);
        const char *reason = row_at(record, 0)->reason;
        assert_non_null(strstr(reason ? reason : "", cases[i].reason));
        record_free(record);
    }
    unsetenv("GTMARK_EMULATED_MEMORY");
}

/* Part of the free memory is not offered. */
TEST(test_reserve)
{
    if (!emulated())
        skip();
    setenv("GTMARK_EMULATED_MEMORY", "280", 1);
    struct record *record = run_json(*state, SMALL "--device cuda --nodes 20 --phase forward", 1);
    assert_non_null(strstr(text_at(row_at(record, 0), "reason"), "free memory is 0 B"));
    record_free(record);
    unsetenv("GTMARK_EMULATED_MEMORY");
}

TEST(test_cusparse)
{
    if (!gpus())
        skip();
    expect_rows(*state,
                SMALL "--device cuda --nodes 20 --model gin --impl spmm=cusparse "
                      "--impl spmm_backward=cusparse",
                1);
}

/* The kernels that the first entry of an op launched in the forward pass. */
static const char *launched_by(const struct row *row, const char *op)
{
    const struct items ops = row->forward.profile.op, texts = row->forward.profile.launched;
    assert_int_equal(ops.count, texts.count);
    for (size_t i = 0; i < ops.count; i++)
        if (strcmp(ops.texts[i], op) == 0)
            return texts.texts[i];
    fail_msg("no %s", op);
    return NULL;
}

/* CUPTI as tests/cupti plays it: each op has its kernels, and no other. */
TEST(test_kernels_of_ops)
{
    static const char words[] = SMALL "--device cuda --nodes 12 --phase forward --profile --no-check ";
    static const struct {
        const char *op, *kernels[3];
        int count; /* of kernels; library calls are not among them */
    } cases[] = {{"spmm", {"edge_shares<", "aggregate<"}, 1},
                 {"add_layer_norm", {"us normalise<4, 1, sum_of_rows<"}, 1},
                 {"attention", {"attend<"}, 1},
                 {"add", {"add_entries"}, 1}};
    char path[PATH_MAX];
    if (!emulated())
        skip();
    struct record *record = run_json(*state, words, 0);
    assert_null_because(row_at(record, 0), "forward.profile.launched", "CUPTI");
    record_free(record);
    program_path(path, "libcupti.so");
    setenv("LD_PRELOAD", path, 1);
    record = run_json(*state, words, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = launched_by(row_at(record, 0), cases[i].op);
        int times = 0;
        for (const char *at = text; (at = strstr(at, "1.50 us ")); at++)
            times++;
        for (size_t k = 0; k < 3 && cases[i].kernels[k]; k++)
            if (!strstr(text, cases[i].kernels[k]))
                fail_msg("%s launched %s", cases[i].op, text);
        assert_int_equal(times, cases[i].count);
    }
    record_free(record);
    setenv("PLAYED_CUPTI_VERSION", "1", 1);
    record = run_json(*state, words, 0);
    assert_null_because(row_at(record, 0), "forward.profile.launched", "another version");
    record_free(record);
    unsetenv("PLAYED_CUPTI_VERSION");
    unsetenv("LD_PRELOAD");
}

/* A row has its share of what the GPU reached in this run, of other rates if they are given, or none. */
TEST(test_ceilings)
{
    static const char run[] = TINY "--device cuda --nodes 20 --phase forward ";
    static const struct {
        const char *words, *calibrated; /* null: by this run */
        size_t calibrations;
    } cases[] = {
        {"--peaks measure", NULL, 1},
        {"--peaks H100", "published for H100", 0},
        {"--peaks peak=1TFLOP/s,dram=1TB/s", "given", 0},
    };
    if (!gpus())
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[256];
        snprintf(words, sizeof words, "%s%s", run, cases[i].words);
        struct record *record = run_json(*state, words, 0);
        const struct row *row = row_at(record, 0);
        const struct value *all = value_get(record_head(record), "calibrations");
        size_t count = 0;
        const char *time = "";
        for (struct walk w = value_walk(all); walk_next(&w); count++)
            assert_true(value_get_text(w.value, "time", &time));
        assert_int_equal(count, cases[i].calibrations);
        assert_true(real_at(row, "forward.roofline.percent") > 0);
        assert_true(real_at(row, "forward.bound.time") > 0);
        assert_string_equal(text_at(row, "forward.roofline.calibrated"),
                            cases[i].calibrated ? cases[i].calibrated : time);
        record_free(record);
    }
}

static void expect_ok(const struct house *h, const char *words, size_t count)
{
    struct record *record = run_json(h, words, 0);
    assert_int_equal(row_count(record), count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(text_at(row_at(record, i), "status"), "ok");
    record_free(record);
}

#define STEP "--device cuda --phase step --layers 1 --runs 1 --warmup 0 --budget 1 --output x.json "

/* Message passing of every kind, beside dense attention with dropout. */
TEST(test_message_passing)
{
    char words[512] = STEP "--hidden 16 --heads 2 --nodes 12 --attention-dropout 0.2 --mpnn ";
    if (!gpus())
        skip();
    for (enum mpnn_kind kind = MPNN_NONE + 1; kind < MPNN_KINDS; kind++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", kind > MPNN_NONE + 1 ? "," : "",
                 mpnn_name(kind));
    expect_ok(*state, words, MPNN_KINDS - MPNN_NONE - 1);
}

/* The published models with small graphs; all of them take minutes on the emulated device. */
TEST(test_presets)
{
    bool all = getenv("GTMARK_SOAK");
    char words[512];
    if (!gpus())
        skip();
    snprintf(words, sizeof words,
             STEP "--hidden 32 --heads 4 --graph er --nodes 12 --degree 3 --batch 2 --preset %s",
             all ? "all" : "zinc,pcqm-contact");
    expect_ok(*state, words, all ? 16 : 2);
}

TEST(test_every_gpu)
{
    int count = gpus();
    if (!count)
        skip();
    struct record *record = run_json(*state, SMALL "--device cuda:all --nodes 20", 0);
    assert_int_equal(row_count(record), (size_t)count);
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "cuda:%d", i);
        expect_row(row_at(record, (size_t)i), name);
    }
    record_free(record);
}

GROUP("tests", house_setup, house_teardown)
