/*
 * Faults that no comparison of a program with the oracle shows, planted in kernels and solvers: in random
 * walks, in AdamW, in the initialisation, and in what eigenpairs an encoding has. The row must say `wrong`
 * and what is wrong, and without them `ok`, over families of graphs, encodings, and both ways of checking.
 *
 * Like test_faults.c, this program has its own cpu backend, which wraps the real one's kernels.
 */
#include <math.h>
#include <unistd.h>

#include "bench/sweep/harness.h"
#include "models/encodings/compute.h"
#include "models/encodings/heat.h"
#include "models/encodings/lappe.h"
#include "models/encodings/rwse.h"
#include "tests/encodings.h"
#include "tests/planted.h"
#include "tests/test.h"

/* The kernels for any machine, which isa.c would not select here. */
extern const struct backend cpu_base_backend;

enum planted_fault {
    NONE,
    ODD_POWERS,    /* 1 % too large, of half powers */
    FOURTH_POWER,  /* the same of full powers */
    NO_CORRECTION, /* of AdamW's moments for their bias */
    LATE_TIME,     /* the third time of the heat kernel 1 % too large */
    LAST_ENTRIES,  /* AdamW leaves the last 3 as they are */
    NO_DECAY,
    STALE_STEP,   /* the step does not advance after the first */
    WIDER,        /* random numbers 1 % too large */
    NOT_ONE,      /* 1 is filled in as 0.99 */
    SKIPPED_PAIR, /* an encoding has all but its second pair of the smallest, and one more */
};

static enum planted_fault planted;

static void run_real(enum op op, const void *args)
{
    backend_kernel(&cpu_base_backend, op, F32, NULL)->run(args);
}

static int64_t scratch_real(enum op op, const void *args)
{
    const struct kernel *k = backend_kernel(&cpu_base_backend, op, F32, NULL);
    return k->scratch ? k->scratch(args) : 0;
}

static void scale(struct mat m, int64_t first, int64_t every, double factor)
{
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = first; k < m.cols; k += every)
            mat_set(m, i, k, factor * mat_get(m, i, k));
}

static void walk_returns_half(const void *args)
{
    run_real(OP_walk_returns_half, args);
    if (planted == ODD_POWERS)
        scale(((const struct walk_returns_half_args *)args)->p, 0, 2, 1.01);
}

static int64_t walk_returns_half_scratch(const void *args)
{
    return scratch_real(OP_walk_returns_half, args);
}

static void walk_returns(const void *args)
{
    run_real(OP_walk_returns, args);
    if (planted == FOURTH_POWER)
        scale(((const struct walk_returns_args *)args)->p, 3, 1000, 1.01);
}

static int64_t walk_returns_scratch(const void *args)
{
    return scratch_real(OP_walk_returns, args);
}

static void heat_diagonal(const void *args)
{
    run_real(OP_heat_diagonal, args);
    if (planted == LATE_TIME)
        scale(((const struct heat_diagonal_args *)args)->h, 2, 1000, 1.01);
}

static int64_t heat_diagonal_scratch(const void *args)
{
    return scratch_real(OP_heat_diagonal, args);
}

static void adamw(const void *args)
{
    struct adamw_args a = *(const struct adamw_args *)args;
    double schedule[2] = {1e9, ((const double *)a.schedule.data)[1]};
    if (planted == NO_CORRECTION)
        a.schedule.data = schedule; /* 1 - b^t is 1 */
    if (planted == NO_DECAY)
        a.decay = 0;
    struct mat *moved[] = {&a.p, &a.m, &a.v, &a.g};
    for (int i = 0; i < 4 && planted == LAST_ENTRIES; i++)
        moved[i]->cols -= 3;
    run_real(OP_adamw, &a);
}

static void advance(const void *args)
{
    const double *schedule = ((const struct advance_args *)args)->schedule.data;
    if (planted != STALE_STEP || schedule[0] < 1)
        run_real(OP_advance, args);
}

static void uniform(const void *args)
{
    struct uniform_args a = *(const struct uniform_args *)args;
    if (planted == WIDER)
        a.bound *= 1.01;
    run_real(OP_uniform, &a);
}

static void fill(const void *args)
{
    struct fill_args a = *(const struct fill_args *)args;
    if (planted == NOT_ONE && a.value == 1 && mat_size(a.y) > 1) /* not the gradient of the loss */
        a.value = 0.99;
    run_real(OP_fill, &a);
}

const struct backend *backend_cpu(void)
{
    static const struct kernel kernels[] = {
        {OP_walk_returns_half, "planted", TYPE_f32, walk_returns_half, walk_returns_half_scratch, NULL, NULL},
        {OP_walk_returns, "planted", TYPE_f32, walk_returns, walk_returns_scratch, NULL, NULL},
        {OP_heat_diagonal, "planted", TYPE_f32, heat_diagonal, heat_diagonal_scratch, NULL, NULL},
        {OP_adamw, "planted", TYPE_f32, adamw, NULL, NULL, NULL},
        {OP_advance, "planted", TYPE_f32, advance, NULL, NULL, NULL},
        {OP_uniform, "planted", TYPE_f32, uniform, NULL, NULL, NULL},
        {OP_fill, "planted", TYPE_f32, fill, NULL, NULL, NULL},
    };
    static const struct backend faulty = {.name = "faulty",
                                          .doc = "kernels with planted faults",
                                          .kernels = kernels,
                                          .count = sizeof kernels / sizeof *kernels,
                                          .base = &cpu_base_backend};
    return &faulty;
}

const struct backend *const *backend_cpu_all(void)
{
    static const struct backend *const all[] = {&cpu_base_backend, NULL};
    return all;
}

/* Instead of models/encodings/compute.c. */
bool encoding_compute(const struct encoding_config *c, const struct batch *b,
                      const struct encoding_options *with, struct encoding *out, char *error,
                      size_t error_size)
{
    if (c->kind == ENCODING_RWSE)
        return rwse_compute(c, b, with, out, error, error_size);
    if (c->kind == ENCODING_HEAT)
        return heat_compute(c, b, with, out, error, error_size);
    if (planted != SKIPPED_PAIR)
        return lappe_compute(c, b, with, out, error, error_size);
    struct encoding_config more = *c;
    struct encoding all;
    more.k++;
    assert_true(lappe_compute(&more, b, with, &all, error, error_size));
    *out = encoding_without(&all, b, 1);
    encoding_free(&all);
    return true;
}

static const struct bench bench = {
    .name = "bench_planted", .doc = "planted faults", .axis = AXIS_NODES, .values = "100"};

static int run_bench(int argc, char **argv)
{
    return bench_main(&bench, argc, argv);
}

static struct planted_row run(enum planted_fault fault, const char *graph, const char *pe, const char *more)
{
    char words[512];
    snprintf(words, sizeof words,
             "%s --hidden 32 --heads 2 --layers 1 --runs 1 --warmup 0 --threads 2 --graph %s --pe %s %s",
             strncmp(graph, "file:", 5) == 0 ? "" : "--nodes 90", graph, pe, more);
    planted = fault;
    struct planted_row row = planted_run(run_bench, words);
    planted = NONE;
    return row;
}

static void expect_ok(const char *graph, const char *pe, const char *more)
{
    struct planted_row row = run(NONE, graph, pe, more);
    if (row.exit != 0 || strcmp(row.status, "ok") != 0)
        fail_msg("%s, %s, %s: %s: %s", graph, pe, more, row.status, row.reason);
}

static void expect_wrong(enum planted_fault fault, const char *graph, const char *pe, const char *more,
                         const char *where)
{
    struct planted_row row = run(fault, graph, pe, more);
    if (row.exit != 1 || strcmp(row.status, "wrong") != 0 || !strstr(row.reason, where))
        fail_msg("%s, %s, %s: %s, and not for %s: %s", graph, pe, more, row.status, where, row.reason);
}

static const char *const families[] = {"er", "grid", "ba", "rmat", "er:giant"};

static int family_count(void)
{
    return env_set("GTMARK_SMALL") ? 2 : sizeof families / sizeof *families;
}

/* As a whole, and by rows. */
static const char *const ways[] = {"--check-budget 60", "--check-budget 0"};

static const char *spectral(const char *pe)
{
    return dense_available() ? pe : "none";
}

TEST(test_sound_rows_are_ok)
{
    for (int f = 0; f < family_count(); f++)
        for (int w = 0; w < 2; w++) {
            expect_ok(families[f], "none", ways[w]);
            expect_ok(families[f], "rwse:7", ways[w]);
            expect_ok(families[f], "heat:4", ways[w]);
            expect_ok(families[f], spectral("lap:5"), ways[w]);
            expect_ok(families[f], spectral("lap-pyg:5"), ways[w]);
        }
    expect_ok("er", "rwse:9", "--batch 6 --norm batch");
    expect_ok("er", "heat:9", "--batch 6 --norm batch");
    expect_ok("er", spectral("lap:9"), "--batch 6 --task node --norm graph");
}

TEST(test_walks)
{
    for (int f = 0; f < family_count(); f++) {
        bool odd_cycles = strcmp(families[f], "grid") != 0; /* else odd powers are 0 */
        for (int w = 0; w < 2 && odd_cycles; w++)
            expect_wrong(ODD_POWERS, families[f], "rwse:7", ways[w], "rwse: node ");
    }
    expect_wrong(ODD_POWERS, "er", "rwse:5", "--phase none", "rwse: node ");
    expect_wrong(LATE_TIME, "er", "heat:4", "--phase none", "heat: node ");
    struct planted_row row = run(NONE, "ba", "rwse:5", "--phase none");
    assert_string_equal(row.encoding, "64 nodes by full powers in double");
    assert_string_equal(run(ODD_POWERS, "er", "rwse:5", "--no-check").status, "ok");
}

/* On a directed graph, by full powers. */
TEST(test_full_powers)
{
    char path[] = "/tmp/gtmark-planted-edges-XXXXXX", graph[64];
    int file = mkstemp(path);
    FILE *out = fdopen(file, "w");
    assert_non_null(out);
    for (int i = 0; i < 200; i++)
        fprintf(out, "%d %d\n%d %d\n", i, (i + 1) % 200, i, (i * 7 + 3) % 200);
    assert_int_equal(fclose(out), 0);
    snprintf(graph, sizeof graph, "file:%s", path);
    expect_ok(graph, "rwse:6", "");
    expect_wrong(FOURTH_POWER, graph, "rwse:6", "", "step 4: ");
    assert_int_equal(unlink(path), 0);
}

TEST(test_adamw)
{
    for (int f = 0; f < family_count(); f++)
        for (int w = 0; w < 2; w++) {
            const char *pe = f % 2 ? "rwse:4" : f ? spectral("lap:4") : "none";
            expect_wrong(NO_CORRECTION, families[f], pe, ways[w], "adamw");
            expect_wrong(LAST_ENTRIES, families[f], pe, ways[w], "adamw");
        }
    for (int w = 0; w < 2; w++) {
        expect_wrong(NO_DECAY, "er", "none", ways[w], "adamw");
        expect_wrong(STALE_STEP, "er", "none", ways[w], "adamw: after step 1 ");
    }
    expect_wrong(LAST_ENTRIES, "er", "none", ways[0], "adamw: p of entry 30 of head.weight is ");
}

TEST(test_initialisation)
{
    for (int f = 0; f < family_count(); f++)
        for (int w = 0; w < 2; w++) {
            const char *pe = f % 2 ? "rwse:4" : f ? spectral("lap:4") : "none";
            expect_wrong(WIDER, families[f], pe, ways[w], "initialisation: the largest of the ");
        }
    expect_wrong(WIDER, "er", "none", "--phase forward", "initialisation: the largest of the ");
    for (int w = 0; w < 2; w++)
        expect_wrong(NOT_ONE, "er", "none", ways[w],
                     "initialisation: the values of layer1.norm_local.weight");
}

/* test_lappe_check.c plants more of them. */
TEST(test_skipped_pairs)
{
    static const char *const connected[] = {"grid", "ba", "er:giant", "rmat:giant"};
    needs_lapack();
    for (int f = 0; f < (env_set("GTMARK_SMALL") ? 2 : 4); f++) {
        expect_wrong(SKIPPED_PAIR, connected[f], "lap:8", "", "lap: pairs were left out: graph 0 ");
        expect_wrong(SKIPPED_PAIR, connected[f], "lap-pyg:8", "", "lap: pairs were left out: graph 0 ");
        struct planted_row row = run(NONE, connected[f], "lap:8", "--phase none");
        assert_string_equal(row.encoding,
                            "residuals in double; complete: orthonormal, and no smaller pair found");
    }
    assert_string_equal(run(NONE, "er", "lap:8", "--no-check").encoding,
                        "residuals in double; completeness unchecked: --no-check");
}
