/*
 * --dump: every file contains what the step of the configuration has in memory, and failures to write are one
 * line. The program is run as a user would run it; the same step is recorded here.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "bench/cli/command_line.h"
#include "bench/row/workload.h"
#include "bench/show/dump.h"
#include "tests/npy.h"
#include "tests/refusals.h"
#include "tests/test.h"
#include "tests/values.h"

#define SIZES                                                                                                \
    "--nodes 37 --degree 3 --hidden 12 --heads 3 --layers 2 --ffn 10 --act relu --seed 5 --threads 1 "
#define QUICK "--runs 1 --warmup 0 --output x.json "

/* The path of a file of the dump in this directory of the house. */
static const char *dumped(const struct house *h, const char *directory, const char *kind, const char *name)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s/%s%s.npy", h->work, directory, kind, name);
    return path;
}

static void assert_same(const char *path, const void *data, size_t bytes, int64_t rows, int64_t cols,
                        const char *type)
{
    struct array a = npy_read(path);
    if (strcmp(a.type, type) != 0 || a.rows != rows || a.cols != cols || memcmp(a.data, data, bytes) != 0)
        fail_msg("%s is %lld x %lld of %s, or holds something else", path, (long long)a.rows,
                 (long long)a.cols, a.type);
    free(a.data);
}

static void assert_matrix(const char *path, struct mat m)
{
    assert_int_equal(m.ld, m.cols);
    assert_same(path, m.data, (size_t)mat_bytes(m), m.rows, m.cols, m.dtype == F32 ? "f4" : "i8");
}

/* The program's step, recorded here. */
struct twin {
    struct options options;
    struct config config;
    struct batch batch;
    struct recording step;
};

static struct twin twin_of(const char *words)
{
    static const struct bench bench = {.name = "twin", .axis = AXIS_NODES, .values = "1"};
    char copy[256], *rest = copy, *argv[32] = {copy};
    struct twin w;
    struct workload work;
    struct message message;
    int argc = 1;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word; (word = strsep(&rest, " ")) != NULL;)
        if (*word)
            argv[argc++] = word;
    assert_true(options_parse(&bench, NULL, argc, argv, &w.options, &message));
    w.config = w.options.plan.list[0];
    assert_true(workload_generate(&work, &w.options, &w.config, &message));
    w.step = workload_record(&work, PROGRAM_STEP);
    w.batch = work.batch;
    assert_true(tape_layout(w.step.tape));
    tape_init(w.step.tape);
    return w;
}

static void twin_free(struct twin *w)
{
    tape_free(w->step.tape);
    batch_free(&w->batch);
    options_free(&w->options);
}

static void dump(const struct house *h, const char *words, const char *directory)
{
    struct ended e = program_run(h, words, MORE("--dump", directory));
    if (e.status != 0)
        fail_msg("%s%s", e.out, e.err);
    ended_free(&e);
}

/* Parameters before the optimizer ran; after sampling, the dump must restore them. */
TEST(test_arrays)
{
    const struct house *h = *state;
    dump(h, SIZES QUICK, "arrays");
    struct twin w = twin_of(SIZES);
    const struct tape *t = w.step.tape;
    for (int p = 0; p < tape_parameter_count(t); p++) {
        const char *name;
        struct mat m = tape_parameter(t, p, &name);
        assert_matrix(dumped(h, "arrays", "param.", name), m);
    }
    tape_run(w.step.tape);
    assert_matrix(dumped(h, "arrays", "output", ""), tape_view(t, w.step.output));
    assert_matrix(dumped(h, "arrays", "loss", ""), tape_view(t, w.step.loss));
    for (int p = 0; p < tape_parameter_count(t); p++) {
        const char *name;
        struct mat g = tape_gradient(t, tape_parameter(t, p, &name));
        assert_matrix(dumped(h, "arrays", "grad.", name), g);
    }
    twin_free(&w);
}

TEST(test_inputs_and_graph)
{
    const struct house *h = *state;
    dump(h, SIZES QUICK, "inputs");
    struct twin w = twin_of(SIZES);
    const struct csr *g = &w.batch.adj;
    assert_true(g->edges > 0);
    assert_same(dumped(h, "inputs", "graph.", "row_ptr"), g->row_ptr, (size_t)(g->nodes + 1) * 8, 38, 0,
                "i8");
    assert_same(dumped(h, "inputs", "graph.", "col"), g->col, (size_t)g->edges * 4, g->edges, 0, "i4");
    assert_same(dumped(h, "inputs", "input.", "graphs"), (int64_t[]){0, 37}, 16, 2, 1, "i8");
    const struct linear_args *first = NULL;
    const struct mean_error_args *last = NULL;
    for (int e = tape_entry_count(w.step.tape) - 1; e >= 0; e--) {
        const struct entry *entry = tape_entry(w.step.tape, e);
        first = entry->op == OP_linear ? entry->args : first;
        last = entry->op == OP_mean_error ? entry->args : last;
    }
    assert_int_equal(first->x.cols, FEATURES);
    assert_matrix(dumped(h, "inputs", "input.", "features"), first->x);
    assert_matrix(dumped(h, "inputs", "input.", "targets"), last->target);
    twin_free(&w);
}

TEST(test_config)
{
    const struct house *h = *state;
    dump(h, SIZES QUICK, "config");
    struct twin w = twin_of(SIZES);
    char path[PATH_MAX], work[17];
    config_work(&w.config, w.options.seed, work);
    snprintf(path, sizeof path, "%s/config/config.json", h->work);
    char error[MESSAGE_SIZE];
    struct value *config = value_load(path, error);
    assert_string_equal(text_in(config, "work"), work);
    assert_string_equal(text_in(config, "program"), "step");
    assert_string_equal(text_in(config, "model.name"), "gps");
    assert_string_equal(text_in(config, "model.act"), "relu");
    assert_string_equal(text_in(config, "dtype"), "f32");
    assert_int_equal(count_in(config, "seed"), 5);
    assert_int_equal(count_in(config, "model.layers"), 2);
    assert_int_equal(count_in(config, "model.hidden"), 12);
    assert_int_equal(count_in(config, "model.heads"), 3);
    assert_int_equal(count_in(config, "model.ffn"), 10);
    assert_int_equal(count_in(config, "model.parameters"), tape_parameter_elements(w.step.tape));
    assert_int_equal(count_in(config, "graph.nodes"), 37);
    assert_int_equal(count_in(config, "graph.edges"), w.batch.adj.edges);
    assert_true(real_in(config, "graph.degree") == 3 && real_in(config, "model.eps") == 1e-5);
    assert_true(real_in(config, "adamw.lr") == 1e-3 && real_in(config, "adamw.beta1") == 0.9);
    assert_true(real_in(config, "adamw.beta2") == 0.999 && real_in(config, "adamw.eps") == 1e-8);
    assert_true(real_in(config, "adamw.decay") == 0.01);
    value_free(config);
    twin_free(&w);
}

TEST(test_refused)
{
    const struct house *h = *state;
    char full[PATH_MAX];
    snprintf(full, sizeof full, "%s/build", h->root);
    refuses(h, QUICK "--nodes 8,9", MORE("--dump", "new"), "--dump",
            "needs one configuration, but the axes make several");
    refuses(h, QUICK "--nodes 8 --device meta", MORE("--dump", "new"), "--dump", "a step that runs");
    refuses(h, QUICK "--nodes 8 --phase forward", MORE("--dump", "new"), "--dump", "a step that runs");
    refuses(h, QUICK "--nodes 8", MORE("--dump", full), "--dump", "not empty");
    refuses(h, QUICK "--nodes 8", MORE("--dump", "no/such/place"), "--dump", strerror(ENOENT));
    refuses(h, QUICK "--nodes 8", MORE("--dump", "/dev/null"), "--dump", strerror(ENOTDIR));
    refuses(h, QUICK "--nodes 8", MORE("--dump", ""), "--dump", "name of a directory");
}

TEST(test_empty_directory)
{
    const struct house *h = *state;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/empty", h->work);
    assert_int_equal(mkdir(path, 0777), 0);
    dump(h, SIZES QUICK, "empty/");
    struct array loss = npy_read(dumped(h, "empty", "loss", ""));
    free(loss.data);
}

/* A matrix with padded rows is written without the padding. */
TEST(test_leading_dimension)
{
    const struct house *h = *state;
    double padded[3][5], dense[3][2];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 5; k++) {
            padded[i][k] = 10 * i + k;
            if (k >= 1 && k < 3)
                dense[i][k - 1] = padded[i][k];
        }
    struct npy a = npy_matrix(mat_cols((struct mat){padded, 3, 5, .ld = 5, .dtype = F64}, 1, 2));
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/padded.npy", h->work);
    struct message error;
    assert_true(npy_write(path, &a, &error));
    assert_same(path, dense, sizeof dense, 3, 2, "f8");
}

/* Files may not exceed a kilobyte, as if the disk were full. */
TEST(test_no_space)
{
    const struct house *h = *state;
    static const double zeros[1000];
    struct npy a = npy_matrix((struct mat){(void *)zeros, 1000, 1, .ld = 1, .dtype = F64});
    struct rlimit before, small;
    struct message error = {""};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/large.npy", h->work);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){.rlim_cur = 1024, .rlim_max = before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    bool written = npy_write(path, &a, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_false(written);
    assert_non_null(strstr(error.text, "large.npy: cannot be written"));
    assert_non_null(strstr(error.text, strerror(EFBIG)));
}

GROUP("tests", house_setup, house_teardown)
