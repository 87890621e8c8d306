/*
 * Executed FLOPs of programs and encodings under valgrind, whole and entry by entry. For these, this program
 * runs itself, with the words of a model or with captured calls.
 */
#include "bench/cli/command_line.h"
#include "bench/flops/captured.h"
#include "bench/row/workload.h"
#include "kernels/blas.h"
#include "models/encodings/compute.h"
#include "models/tape/tape.h"
#include "tests/encodings.h"
#include "tests/executed.h"
#include "tests/test.h"

static const struct bench bench = {
    .name = "test_executed_entries", .doc = "a test", .axis = AXIS_NODES, .values = "8"};

/* --- small models, as which this program runs itself */

struct small {
    char *words; /* the options refer to them */
    struct options options;
    struct workload work;
    struct encoding encoding;
    struct recording program;
};

/* Scores of attention beyond what is computed in one pass. */
static void enlarge_scores(struct tape *t)
{
    for (int i = 0; i < tape_parameter_count(t); i++) {
        const char *name;
        struct mat w = tape_view(t, tape_parameter(t, i, &name));
        for (int64_t k = 0; k < mat_size(w) && strstr(name, "qkv.weight"); k++)
            ((float *)w.data)[k] *= 100;
    }
}

/*
 * Opens what a text of these words describes: a program ("forward", "step", or "encoding"), "large" for large
 * scores, and flags.
 */
static void model_open(struct small *m, const char *text, int threads)
{
    static const char *const defaults[] = {"--layers=2", "--hidden=32", "--heads=2", "--nodes=30"};
    char *words[16] = {"test"};
    int count = 1;
    struct message error;
    m->words = strdup(text);
    for (char *word = strtok(m->words, " "); word; word = strtok(NULL, " "))
        if (*word == '-')
            words[count++] = word;
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (!memmem(text, strlen(text), defaults[i], strcspn(defaults[i], "=")))
            words[count++] = (char *)defaults[i];
    if (!options_parse(&bench, NULL, count, words, &m->options, &error))
        fail_msg("%s", error.text);
    struct config c = m->options.plan.list[0];
    c.threads = threads;
    assert_true(workload_generate(&m->work, &m->options, &c, &error));
    m->encoding = (struct encoding){0};
    m->program = (struct recording){0};
    if (strstr(text, "encoding"))
        return;
    m->program = workload_record(&m->work, strstr(text, "step") ? PROGRAM_STEP : PROGRAM_FORWARD);
    assert_true(tape_layout(m->program.tape));
    tape_init(m->program.tape);
    if (strstr(text, "large"))
        enlarge_scores(m->program.tape);
}

static void model_close(struct small *m)
{
    if (m->program.tape)
        tape_free(m->program.tape);
    workload_close(&m->work);
    options_free(&m->options);
    free(m->words);
}

__attribute__((noinline)) void toy_program(struct tape *t)
{
    tape_run(t);
    __asm__ volatile("");
}

__attribute__((noinline)) void toy_encoding(const struct small *m)
{
    char error[256];
    struct encoding e;
    struct encoding_options with = {.threads = 1};
    if (!encoding_compute(&m->work.config.parts.pe, &m->work.batch, &with, &e, error, sizeof error))
        exit(4);
    encoding_free(&e);
}

static int play_model(const char *text)
{
    struct small m;
    model_open(&m, text, 1);
    if (m.program.tape)
        toy_program(m.program.tape);
    else
        toy_encoding(&m);
    model_close(&m);
    return 0;
}

/* --- entries */

/* The FLOPs of a whole program or encoding, run in one call. */
static struct executed_flops whole(const char *text, bool base)
{
    const char *const arguments[] = {"model", text, NULL};
    const char *function = strstr(text, "encoding") ? "toy_encoding" : "toy_program";
    struct executed_flops flops;
    struct message error;
    if (!count_calls((struct valgrind_run){arguments, function, 1, NULL, 300, base}, &flops, &error))
        fail_msg("%s: %s", text, error.text);
    return flops;
}

static struct executed_request request_of(enum count_mode mode, struct counted_entries *entries, int threads)
{
    return (struct executed_request){.mode = mode,
                                     .seconds = executed_seconds_max,
                                     .no_counters = "no hardware counters: switched off for a test",
                                     .entries = entries,
                                     .backend = backend_cpu(),
                                     .threads = threads};
}

/* The same by its entries. */
static struct executed by_entries(const char *text, enum count_mode mode, struct counted_entries *entries,
                                  int threads)
{
    struct small m;
    struct executed e;
    struct message error;
    model_open(&m, text, threads);
    struct executed_request how = request_of(mode, entries, threads);
    bool good = m.program.tape
                    ? executed_by_tape(&how, m.program.tape, &e, &error)
                    : executed_by_encoding(&how, &m.work.config.parts.pe, &m.work.batch, 1000, &e, &error);
    if (!good)
        fail_msg("%s: %s", text, error.text);
    model_close(&m);
    return e;
}

/* The sum is that of the whole program; the long test tries every model, and inference of each. */
static void test_sum_of_entries(void **state)
{
    (void)state;
    static const char *const models[] = {"gps",
                                         "gps_sparse --norm=batch",
                                         "graph_transformer --attention=unfused --act=relu",
                                         "sparse_transformer --batch=3 --norm=graph",
                                         "gin --degree=9",
                                         "gps --impl=linear=blas --impl=linear_backward=blas",
                                         "gps large",
                                         "gps_sparse large --nodes=50",
                                         "gin --device=ref"};
    needs_valgrind();
    bool soak = getenv("GTMARK_SOAK");
    for (size_t i = 0; i < sizeof models / sizeof *models; i += soak ? 1 : 3)
        for (int step = i > 0 && !soak; step < 2; step++) {
            char text[128];
            struct counted_entries entries = {0};
            snprintf(text, sizeof text, "%s --model=%s", step ? "step" : "forward", models[i]);
            int64_t wanted = whole(text, true).flops;
            for (int threads = 1; threads <= 2; threads++)
                if (by_entries(text, COUNT_BASE, &entries, threads).flops != wanted)
                    fail_msg("%s: not %lld", text, (long long)wanted);
            counted_entries_free(&entries);
        }
}

/* With the instruction set closest to the timed one. */
static void test_closest_set(void **state)
{
    (void)state;
    static const char text[] = "step --model=gps --nodes=13";
    needs_valgrind();
    struct counted_entries entries = {0};
    struct executed e = by_entries(text, COUNT_VALGRIND, &entries, 1);
    assert_int_equal(e.flops, whole(text, false).flops);
    bool avx2 = strcmp(backend_cpu()->name, "cpu-base") != 0;
    assert_string_equal(e.isa, avx2 ? "avx2" : "base");
    assert_int_equal(e.threads, 1);
    if (!strstr(backend_cpu()->doc, "avx512"))
        assert_string_equal(e.differences, "");
    counted_entries_free(&entries);
}

/* What a sweep has counted is not counted again. */
static void test_entries_are_shared(void **state)
{
    (void)state;
    needs_valgrind();
    struct counted_entries entries = {0};
    struct executed two = by_entries("step --model=gps", COUNT_BASE, &entries, 1);
    int known = entries.count;
    assert_true(known > 20);
    assert_int_equal(by_entries("step --model=gps", COUNT_BASE, &entries, 2).flops, two.flops);
    assert_int_equal(entries.count, known);
    struct executed four = by_entries("step --model=gps --layers=4", COUNT_BASE, &entries, 1);
    assert_int_equal(entries.count, known + 1); /* adamw, of all parameters at once */
    assert_true(four.flops > two.flops);
    by_entries("step --model=gps --seed=7", COUNT_BASE, &entries, 1);
    assert_true(entries.count > known + 1); /* another graph */
    assert_true(entries.count < 2 * known);
    counted_entries_free(&entries);
}

static void test_encodings(void **state)
{
    (void)state;
    static const char *const encodings[] = {
        "encoding --pe=rwse:8 --nodes=200", "encoding --pe=lap:4",
        "encoding --pe=lap:4 --graph=grid --nodes=100 --solver=iterative"};
    needs_valgrind();
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        if (strstr(encodings[i], "lap"))
            needs_lapack();
        struct executed e = by_entries(encodings[i], COUNT_AUTO, NULL, 2);
        assert_true(e.flops > 1000);
        assert_int_equal(e.flops, whole(encodings[i], true).flops);
        assert_string_equal(e.isa, "base");
    }
}

static void expect_reason(enum count_mode mode, struct small *m, const char *reason)
{
    struct counted_entries entries = {0};
    struct executed_request how = request_of(mode, &entries, 2);
    struct executed e;
    struct message error;
    assert_false(executed_by_tape(&how, m->program.tape, &e, &error));
    assert_string_equal(error.text, reason);
    assert_int_equal(entries.count, 0);
    assert_false(executed_by_encoding(&how, &m->work.config.parts.pe, &m->work.batch,
                                      executed_base_flops_max + 1, &e, &error));
    assert_string_equal(error.text, reason);
    counted_entries_free(&entries);
}

static void test_reasons(void **state)
{
    (void)state;
    struct small m;
    model_open(&m, "forward --nodes=300 --hidden=512 --layers=1 --ffn=8192", 2);
    expect_reason(COUNT_OFF, &m, "switched off (--count off)");
    expect_reason(COUNT_COUNTERS, &m, "no hardware counters: switched off for a test");
    expect_reason(COUNT_VALGRIND, &m, "more than 3e+09 analytic FLOPs: too slow under valgrind");
    model_close(&m);
}

/* The reference does little more than the formulas count: exponentials and roots are more than one FLOP. */
static void test_reference(void **state)
{
    (void)state;
    struct small m;
    struct executed e;
    struct message error;
    struct counted_entries entries = {0};
    needs_valgrind();
    model_open(&m, "step --device=ref --act=relu", 2);
    double analytic = (double)tape_total(m.program.tape).flops;
    struct executed_request how = request_of(COUNT_AUTO, &entries, 2);
    how.backend = &backend_ref;
    if (!executed_by_tape(&how, m.program.tape, &e, &error))
        fail_msg("%s", error.text);
    model_close(&m);
    counted_entries_free(&entries);
    assert_string_equal(e.source, "callgrind: base, 1 thread (timed: base, 2)");
    assert_string_equal(e.isa, "base");
    assert_string_equal(e.differences, "threads");
    assert_true((double)e.flops > 0.95 * analytic && (double)e.flops < 1.5 * analytic);
}

int main(int argc, char **argv)
{
    char unopened[256];
    if (argc == 3) { /* as capture_run does: the opening is not counted */
        blas_open(1, unopened, sizeof unopened);
        return strcmp(argv[1], capture_word) == 0 ? capture_run(argv[2]) : play_model(argv[2]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum_of_entries),
        cmocka_unit_test(test_closest_set),
        cmocka_unit_test(test_entries_are_shared),
        cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
