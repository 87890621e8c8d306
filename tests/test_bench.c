/*
 * Units of the harness: the product of a sweep, the sampling rule, and the paths of
 * results. The syntax of axes is tested in test_axes.c.
 */
#include <math.h>
#include <omp.h>
#include <unistd.h>

#include "bench/base/paths.h"
#include "bench/row/encode.h"
#include "bench/time/sample.h"
#include "tests/sweeps.h"
#include "tests/test.h"

/* A clock that goes on by `pass` at every look, and shows multiples of `step`; with pass 0 the real one. */
static struct {
    double pass, step;
    int64_t looks;
} simulated;
double __real_clock_now(void);
double __wrap_clock_now(void)
{
    if (simulated.pass == 0)
        return __real_clock_now();
    double now = (double)++simulated.looks * simulated.pass;
    return simulated.step > 0 ? floor(now / simulated.step) * simulated.step : now;
}

static const struct bench bench = {.name = "bench_test", .axis = AXIS_NODES, .values = "100,200"};

/* Numbers without a unit are seconds. */
TEST(test_seconds)
{
    static const struct {
        const char *words;
        double budget;
    } list[] = {{"--budget 5", 5},      {"--budget 1e2", 100}, {"--budget 10s", 10},
                {"--budget 2min", 120}, {"--budget 0.5", 0.5}, {"--budget 250ms", 0.25}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        struct options o = options_of(&bench, list[i].words);
        assert_true(fabs(o.sampling.budget - list[i].budget) <= 1e-12 * list[i].budget);
        options_free(&o);
    }
}

TEST(test_cartesian_product)
{
    struct options o =
        options_of(&bench, "--nodes 10,20,30 --heads 1,2 --act relu,gelu --ffn 24 --threads 3");
    assert_int_equal(o.plan.count, 12);
    for (int i = 0; i < 12; i++) { /* nodes vary fastest, being the last axis */
        struct config c = o.plan.list[i];
        assert_int_equal(c.graph.nodes, 10 * (1 + i % 3));
        assert_int_equal(c.parts.act, i / 3 % 2 ? ACT_GELU : ACT_RELU);
        assert_int_equal(c.parts.heads, 1 + i / 6);
        assert_int_equal(c.parts.ffn, 24);
        assert_int_equal(c.parts.layers, 6);
        assert_int_equal(c.threads, 3);
        assert_string_equal(c.model, "gps");
    }
    options_free(&o);
    o = options_of(&bench, "--hidden 40 --heads 5");
    struct config c = o.plan.list[1];
    assert_int_equal(c.graph.nodes, 200); /* the benchmark's own axis */
    assert_int_equal(c.parts.ffn, 80);    /* twice the width unless given */
    assert_true(c.threads >= 1);
    options_free(&o);
}

TEST(test_impossible_combinations)
{
    refused(&bench, "--hidden 16,24 --heads 1,2,6", "--heads 6 --hidden 16: "); /* 24 can have 6 heads */
    struct options o = options_of(&bench, "--hidden 12,24 --heads 1,2,6");
    options_free(&o);
    refused(&bench, "--nodes 1-1000+1 --layers 1-1000+1 --ffn 1-1000+1 --threads 1-1000+1",
            "more than 100000 combinations"); /* whose number does not overflow */
}

/* Graphs of a batch are small unless their size is given. */
TEST(test_nodes_of_batches)
{
    static const struct {
        const char *words;
        int64_t nodes;
    } cases[] = {
        {"", 100}, {"--batch 1", 100}, {"--batch 8", 32}, {"--batch 1,8", 32}, {"--batch 8 --nodes 7", 7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct options o = options_of(&bench, cases[i].words);
        assert_int_equal(o.plan.list[0].graph.nodes, cases[i].nodes);
        options_free(&o);
    }
}

/* A step of a tiny model: the smallest tape with every phase. */
struct program_fixture {
    struct batch batch;
    struct recording recording;
};

static int program_setup(void **state)
{
    static struct program_fixture p;
    struct graph_config g = {.family = "er", .nodes = 4, .degree = 2, .graphs = 1, .seed = 1};
    struct model_config c = {.layers = 2,
                             .hidden = 4,
                             .heads = 1,
                             .ffn = 4,
                             .act = ACT_RELU,
                             .attention = ATTENTION_DENSE,
                             .checkpoint = "layer"};
    struct tape_config t = {.backend = &backend_ref, .dtype = F32, .threads = 1, .seed = 1};
    char error[256];
    assert_true(batch_generate(&p.batch, &g, error, sizeof error));
    p.recording = program_record(PROGRAM_STEP, &c, &p.batch, NULL, t);
    assert_true(tape_layout(p.recording.tape));
    tape_init(p.recording.tape);
    *state = &p;
    return 0;
}

static int program_teardown(void **state)
{
    struct program_fixture *p = *state;
    tape_free(p->recording.tape);
    batch_free(&p->batch);
    return 0;
}

/* The number of samples that a rule takes. */
static int sampled(struct tape *t, struct sampling rule, int warmup)
{
    struct samples s = sample_tape(t, &rule);
    int n = s.n;
    assert_int_equal(s.warmup, warmup);
    samples_free(&s);
    return n;
}

TEST(test_block)
{
    struct tape *t = ((struct program_fixture *)*state)->recording.tape;
    struct sampling rule = {.warmup = 1, .most = 10, .budget = 1e6};
    assert_int_equal(sampled(t, rule, 1), 10);
    rule.budget = 0;
    assert_int_equal(sampled(t, rule, 1), 1); /* the budget is used up at once */
    rule.warmup = 0;
    rule.runs = 7;
    assert_int_equal(sampled(t, rule, 0), 7);
}

/* A block is one turn, between two probes of the threads that measure. */
TEST(test_probes_around_a_block)
{
    struct tape *t = ((struct program_fixture *)*state)->recording.tape;
    struct sampling rule = {.runs = 3, .probed = true, .peak = peak_of(backend_cpu()), .threads = 2};
    struct samples s = sample_tape(t, &rule);
    assert_int_equal(s.turns, 1);
    assert_int_equal(s.turn[0].samples, 3);
    const double *before = s.turn[0].before.seconds, *after = s.turn[0].after.seconds;
    assert_true(before[PROBE_FMA] > 0 && after[PROBE_FMA] > 0);
    if (omp_get_num_procs() > 1)
        for (int part = 0; part < PROBE_PARTS; part++)
            assert_true(before[part] > 0 && after[part] > 0 && after[part] <= PROBE_LIMIT);
    assert_true(s.spent >= s.elapsed);
    samples_free(&s);
    struct probe alone = probe_take(rule.peak, 1), crowd = probe_take(NULL, omp_get_num_procs() + 1);
    assert_true(isnan(alone.seconds[PROBE_PING]) && isnan(alone.seconds[PROBE_SHARING]) &&
                alone.seconds[PROBE_FMA] > 0);
    assert_true(isnan(crowd.seconds[PROBE_PING]) && isnan(crowd.seconds[PROBE_FMA]) &&
                isnan(crowd.seconds[PROBE_SHARING]));
}

TEST(test_warm_up_by_time)
{
    struct sampling rule = {.warmup = -1, .warm_seconds = 0.01, .runs = 1};
    struct samples s = sample_tape(((struct program_fixture *)*state)->recording.tape, &rule);
    assert_true(s.warmup >= 1);
    samples_free(&s);
}

/* Looks at the clock in a run, after the first. */
static int looks_of(const struct tape *t)
{
    int looks = 1;
    for (int e = 1; e < tape_entry_count(t); e++)
        looks += tape_entry(t, e)->phase != tape_entry(t, e - 1)->phase;
    return looks;
}

/* Where the clock is coarse, samples are as long as 1000 of its ticks, and the mean of their runs. */
TEST(test_coarse_clock)
{
    static const struct {
        double pass, step, tick;
        int batch; /* given */
    } clocks[] = {{7e-6, 10e-6, 10e-6, 0},
                  {41e-9, 42e-9, 42e-9, 0},
                  {7e-6, 0, 0.7e-6, 0}, /* finer than a look */
                  {7e-6, 10e-6, 10e-6, 3}};
    struct tape *t = ((struct program_fixture *)*state)->recording.tape;
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        double run = looks_of(t) * clocks[i].pass;
        int batch = clocks[i].batch ? clocks[i].batch : 1;
        while (!clocks[i].batch && batch * run < 1000 * clocks[i].tick)
            batch *= 2;
        simulated.pass = clocks[i].pass;
        simulated.step = clocks[i].step;
        struct sampling rule = {.warmup = 1, .runs = 2, .batch = clocks[i].batch};
        struct samples s = sample_tape(t, &rule);
        simulated.pass = 0;
        assert_int_equal(s.batch, batch);
        assert_int_equal(s.warmup, clocks[i].batch ? 1 : batch);
        assert_int_equal(s.n, 2);
        for (int k = 0; k < s.n; k++) {
            double sum = 0;
            for (int p = 0; p < PHASES; p++)
                sum += s.phase[p][k];
            assert_true(fabs(s.seconds[k] - run) <= 1.01 * clocks[i].tick / batch);
            assert_true(fabs(sum - s.seconds[k]) < 1e-9 * run);
        }
        samples_free(&s);
    }
}

static float loss_after_one_run(const struct recording *r)
{
    tape_init(r->tape);
    tape_run(r->tape);
    return *(float *)tape_view(r->tape, r->loss).data;
}

/* The watched value is that of the first run, even if it is a warm-up run. */
TEST(test_watched_value)
{
    const struct recording *r = &((struct program_fixture *)*state)->recording;
    float loss = loss_after_one_run(r);
    for (int warmup = 0; warmup < 3; warmup++) {
        tape_init(r->tape);
        struct sampling rule = {.warmup = warmup, .runs = 3, .watch = r->loss};
        struct samples s = sample_tape(r->tape, &rule);
        assert_true(s.first == loss);
        assert_true(*(float *)tape_view(r->tape, r->loss).data != loss); /* the steps had an effect */
        samples_free(&s);
    }
    struct sampling rule = {.runs = 1};
    struct samples s = sample_tape(r->tape, &rule);
    assert_true(isnan(s.first));
    samples_free(&s);
}

static void count_samples(void *context, int samples, double seconds)
{
    int *count = context;
    assert_int_equal(samples, ++*count);
    assert_true(seconds >= 0);
}

/* A sample is the sum of its phases, up to rounding; progress is reported for each sample. */
TEST(test_phases_and_progress)
{
    struct tape *t = ((struct program_fixture *)*state)->recording.tape;
    int heard = 0;
    struct sampling rule = {.warmup = 2, .runs = 5, .progress = count_samples, .context = &heard};
    struct samples s = sample_tape(t, &rule);
    assert_int_equal(heard, 5);
    for (int i = 0; i < s.n; i++) {
        double sum = 0;
        for (int p = 0; p < PHASES; p++) {
            assert_true(s.phase[p][i] >= 0);
            sum += s.phase[p][i];
        }
        assert_true(fabs(sum - s.seconds[i]) < 1e-9);
    }
    samples_free(&s);
    assert_null(s.seconds);
}

TEST(test_joined_turns)
{
    struct tape *t = ((struct program_fixture *)*state)->recording.tape;
    struct sampling two = {.warmup = 1, .runs = 2}, three = {.warmup = 2, .runs = 3};
    struct samples all = {0}, first = sample_tape(t, &two), second = sample_tape(t, &three);
    double seconds[5], backward[5];
    memcpy(seconds, first.seconds, 2 * sizeof *seconds);
    memcpy(seconds + 2, second.seconds, 3 * sizeof *seconds);
    memcpy(backward, first.phase[PHASE_BACKWARD], 2 * sizeof *backward);
    memcpy(backward + 2, second.phase[PHASE_BACKWARD], 3 * sizeof *backward);
    first.first = 0.5;
    second.first = 0.25;
    samples_join(&all, &first);
    samples_join(&all, &second);
    assert_int_equal(all.n, 5);
    assert_int_equal(all.warmup, 3);
    assert_true(all.first == 0.5);
    assert_memory_equal(all.seconds, seconds, sizeof seconds);
    assert_memory_equal(all.phase[PHASE_BACKWARD], backward, sizeof backward);
    assert_true(!first.seconds && !second.seconds);
    assert_int_equal(all.turns, 2);
    assert_true(all.turn[0].samples == 2 && all.turn[1].samples == 3);
    samples_free(&all);
}

/* A turn may be cancelled before its first sample; earlier samples are not lost. */
TEST(test_joined_empty_turns)
{
    struct tape *t = ((struct program_fixture *)*state)->recording.tape;
    struct sampling late = {.runs = 2, .deadline = 1e-9}, two = {.runs = 2};
    struct samples all = {0};
    for (int i = 0; i < 2; i++) {
        struct samples none = sample_tape(t, &late);
        assert_int_equal(none.n, 0);
        samples_join(&all, &none);
    }
    struct samples some = sample_tape(t, &two);
    samples_join(&all, &some);
    assert_int_equal(all.n, 2);
    samples_free(&all);
}

/* An encoding that a later turn has no time for is not lost, nor are its samples; the first one leaves none.
 */
TEST(test_encoding_without_time)
{
    const struct batch *b = &((struct program_fixture *)*state)->batch;
    struct config c = {.parts.pe = {.kind = ENCODING_RWSE, .k = 4, .width = 4}, .threads = 1};
    struct sampling two = {.runs = 2}, late = {.runs = 2, .deadline = 1e-9};
    struct encoded e = {0};
    assert_false(encode(&e, &c, b, &late));
    assert_true(e.cancelled && !e.computed);
    assert_true(encode(&e, &c, b, &two));
    assert_true(e.computed && e.samples.turns == 1);
    assert_false(encode(&e, &c, b, &late));
    assert_true(e.computed && e.samples.n == 2 && e.samples.turns == 1);
    assert_true(mat_present(e.encoding.values));
    encoded_free(&e);
    assert_false(e.computed);
}

TEST(test_place)
{
    char prefix[PATH_MAX], path[PATH_MAX], self[PATH_MAX];
    static const char *const prefixes[][2] = {
        {"x.json", "x"}, {"a/b.c.json", "a/b.c"}, {"x", "x"}, {".json", ".json"}, {"x.json.gz", "x.json.gz"},
    };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        paths_prefix(prefixes[i][0], prefix);
        assert_string_equal(prefix, prefixes[i][1]);
    }
    struct message error = {""};
    assert_true(paths_default("no_such_bench.jsonl", path, &error));
    char *end = strstr(path, "/results/local/no_such_bench.jsonl");
    assert_true(end && strlen(end) == strlen("/results/local/no_such_bench.jsonl"));
    assert_int_equal(access(path, F_OK), -1); /* a path, not yet a file */
    ssize_t length = readlink("/proc/self/exe", self, sizeof self);
    assert_true(length > end - path && strncmp(self, path, (size_t)(end - path)) == 0);
    *strrchr(path, '/') = '\0';
    assert_int_equal(access(path, W_OK), 0);
}

GROUP("tests", program_setup, program_teardown)
