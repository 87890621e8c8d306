/*
 * The loops of the ceilings compute what they claim; calibrations are positive, stored in a file and reused
 * only under the same conditions and in the same state of the machine; the roofline for synthetic numbers.
 * Rates are not compared with each other, because the machine may be busy.
 */
#include "bench/base/clock.h"
#include "bench/base/members.h"
#include "bench/machine/peaks.h"
#include "bench/machine/roofline.h"
#include "tests/test.h"

#include <math.h>
#include <sched.h>
#include <unistd.h>

/* 1000 GFLOP/s; 400, 100 and 20 GB/s at 2 MiB, 32 MiB and beyond, whatever the pattern; in the state of these
 * seconds from thread to thread. */
static struct calibration constructed(int threads, double ping)
{
    static const struct bandwidth levels[MEMORY_LEVELS] = {{2 << 20, 1 << 20, 400, 400, 400, 400},
                                                           {32 << 20, 10 << 20, 100, 100, 100, 100},
                                                           {INT64_C(1) << 40, 128 << 20, 20, 20, 20, 20}};
    struct calibration c = {.cpu = "family 1, a processor",
                            .isa = "avx2",
                            .threads = threads,
                            .memory = INT64_C(1) << 40,
                            .load = 0.25,
                            .time = "2000-01-01T00:00:00Z",
                            .peak = 1000,
                            .points = MEMORY_LEVELS,
                            .turns = CALIBRATION_TURNS,
                            .exceeded = 101.5};
    for (int l = 0; l < MEMORY_LEVELS; l++) {
        c.level[l] = c.sweep[l] = levels[l];
        c.sweep[l].capacity = 0;
    }
    for (int i = 0; i < CALIBRATION_TURNS; i++)
        c.turn[i] = (struct turn){0, {{ping * (1 + 0.01 * i), 1e-5}}, {{ping, 1e-5}}};
    return c;
}

static void assert_close(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void assert_same_rates(const struct bandwidth *a, const struct bandwidth *b)
{
    assert_int_equal(a->capacity, b->capacity);
    assert_int_equal(a->working_set, b->working_set);
    assert_close(a->read, b->read);
    assert_close(a->write, b->write);
    assert_close(a->update, b->update);
    assert_close(a->triad, b->triad);
}

static void assert_same(const struct calibration *a, const struct calibration *b)
{
    assert_string_equal(a->cpu, b->cpu);
    assert_string_equal(a->isa, b->isa);
    assert_string_equal(a->time, b->time);
    assert_int_equal(a->threads, b->threads);
    assert_int_equal(a->memory, b->memory);
    assert_close(a->peak, b->peak);
    assert_close(a->exceeded, b->exceeded);
    for (int l = 0; l < MEMORY_LEVELS; l++)
        assert_same_rates(&a->level[l], &b->level[l]);
    assert_int_equal(a->points, b->points);
    for (int i = 0; i < a->points; i++)
        assert_same_rates(&a->sweep[i], &b->sweep[i]);
    assert_int_equal(a->turns, b->turns);
    for (int i = 0; i < a->turns; i++) {
        assert_close(a->turn[i].before.seconds[PROBE_PING], b->turn[i].before.seconds[PROBE_PING]);
        assert_close(a->turn[i].after.seconds[PROBE_FMA], b->turn[i].after.seconds[PROBE_FMA]);
    }
}

static const struct peak *best_peak(void)
{
    return peak_of(*backend_cpu_all());
}

/* A temporary directory and a path in it. */
struct calibration_directory {
    char directory[64], file[96];
};

static struct calibration_directory directory_new(void)
{
    struct calibration_directory p = {.directory = "/tmp/gtmark-calibrate-XXXXXX"};
    assert_non_null(mkdtemp(p.directory));
    snprintf(p.file, sizeof p.file, "%s/calibration.json", p.directory);
    return p;
}

static void directory_free(const struct calibration_directory *p)
{
    unlink(p->file);
    assert_int_equal(rmdir(p->directory), 0); /* no other files were left */
}

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

TEST(test_loops_compute)
{
    enum { N = 1003, ALL = N + 64 };
    float x[ALL], y[ALL], z[ALL];
    for (const struct backend *const *b = backend_cpu_all(); *b; b++) {
        const struct peak *p = peak_of(*b);
        assert_non_null(p);
        assert_true(p->flops > 0 && isfinite(p->multiply_add(100)) && p->multiply_add(100) != 0);
        assert_true(p->multiply_add(100) != p->multiply_add(101)); /* no repetition is skipped */
        for (int n = 0; n < N; n += n < 300 ? 1 : 50) {
            for (int i = 0; i < ALL; i++)
                x[i] = -1, y[i] = (float)i, z[i] = (float)(i % 8);
            assert_true(p->read(n, y + 1) == (float)(n * (n + 1) / 2)); /* below 2^24: exact in any order */
            p->triad(n, x + 1, y, z, 0.5f);
            for (int i = 0; i < n; i++)
                assert_true(x[i + 1] == y[i] + 0.5f * z[i]);
            assert_true(x[0] == -1 && x[n + 1] == -1);
            p->write(n, x + 1, 3);
            p->update(n, x + 1, 0.5f);
            for (int i = 0; i < n; i++)
                assert_true(x[i + 1] == 2.5f);
            assert_true(x[0] == -1 && x[n + 1] == -1);
        }
    }
    assert_null(peak_of(&backend_ref));
    struct backend above_others = **backend_cpu_all(); /* as above the rows of a plug-in */
    assert_ptr_equal(peak_of(&above_others), best_peak());
}

TEST(test_calibrates)
{
    for (int threads = 1; threads <= 2; threads++) {
        struct calibration c;
        struct message error;
        cpu_set_t before, after;
        sched_getaffinity(0, sizeof before, &before);
        bool good = false; /* with many other programs a calibration can fail */
        for (int i = 0; i < 10 && !good; i++)
            good = calibrate(best_peak(), threads, 0.02, &c, &error);
        if (!good && threads > 1 && strstr(error.text, "the machine was disturbed"))
            continue; /* its threads never ran at the same time */
        assert_true(good);
        assert_int_equal(c.threads, threads);
        assert_string_equal(c.isa, best_peak()->isa);
        assert_true(c.memory > 0 && *c.cpu && c.load >= 0 &&
                    strlen(c.time) == strlen("2000-01-01T00:00:00Z"));
        assert_true(c.peak > 0 && isfinite(c.peak));
        assert_true(c.level[MEMORY_DRAM].capacity == c.memory);
        for (int i = 0; i < c.points; i++) {
            const struct bandwidth *b = &c.sweep[i];
            assert_true(b->working_set > (i > 0 ? b[-1].working_set : 0));
            assert_true(b->read > 0 && isfinite(b->read));
            assert_true(b->write > 0 && isfinite(b->write));
            assert_true(b->update > 0 && isfinite(b->update));
            assert_true(b->triad > 0 && isfinite(b->triad));
        }
        assert_true(c.turns > 0 && c.turns % BURST == 0);
        assert_true(calibration_state(&c).seconds[PROBE_FMA] > 0);
        /* Threads are bound during the calibration, and no longer bound in a later parallel region. */
        bool free_again = true;
#pragma omp parallel num_threads(threads) private(after) reduction(&& : free_again)
        {
            sched_getaffinity(0, sizeof after, &after);
            free_again = CPU_EQUAL(&before, &after);
        }
        assert_true(free_again);
    }
}

/* A clock that test_moved_bytes plays: a peak that moves 2 GB/s, whatever the pattern, and computes at 3
 * GFLOP/s. */
static double played;
static bool playing;

double __real_clock_now(void);
double __wrap_clock_now(void);
double __wrap_clock_now(void)
{
    return playing ? played : __real_clock_now();
}

static float play_arithmetic(int64_t repetitions)
{
    played += (double)repetitions * 6 / 3e9;
    return 0;
}

static void play_bytes(int64_t n, int arrays)
{
    played += (double)n * arrays * (double)sizeof(float) / 2e9;
}

static float play_read(int64_t n, const float *x)
{
    (void)x;
    play_bytes(n, 1);
    return 0;
}

static void play_write(int64_t n, float *x, float value)
{
    (void)x, (void)value;
    play_bytes(n, 1);
}

/* Read and written. */
static void play_update(int64_t n, float *x, float factor)
{
    (void)x, (void)factor;
    play_bytes(n, 2);
}

static void play_triad(int64_t n, float *x, const float *y, const float *z, float factor)
{
    (void)x, (void)y, (void)z, (void)factor;
    play_bytes(n, 3);
}

/* Rates are of all bytes that a pattern moves. */
TEST(test_moved_bytes)
{
    const struct peak peak = {.isa = "played",
                              .flops = 6,
                              .multiply_add = play_arithmetic,
                              .read = play_read,
                              .write = play_write,
                              .update = play_update,
                              .triad = play_triad};
    struct calibration c;
    struct message error;
    playing = true;
    bool good = calibrate(&peak, 1, 0.1, &c, &error);
    playing = false;
    assert_true(good);
    assert_close(c.peak, 3);
    for (int i = 0; i < c.points; i++)
        assert_same_rates(&c.sweep[i],
                          &(struct bandwidth){c.sweep[i].capacity, c.sweep[i].working_set, 2, 2, 2, 2});
}

TEST(test_json_round_trip)
{
    struct calibration c = constructed(2, 1e-7), back;
    c.level[MEMORY_LLC] = (struct bandwidth){0};
    struct value *json = calibration_json(&c);
    assert_true(calibration_read(json, &back));
    assert_same(&c, &back);
    value_set_real(json, "peak", -1);
    assert_false(calibration_read(json, &back));
    value_set_text(json, "peak", "fast");
    assert_false(calibration_read(json, &back));
    value_set_real(json, "peak", 1);
    assert_true(calibration_read(json, &back));
    struct value *probes = value_copy(value_get(json, "probes"));
    value_remove(json, "probes"); /* as in files of earlier versions */
    assert_false(calibration_read(json, &back));
    value_set(json, "probes", probes);
    assert_true(calibration_read(json, &back));
    value_append(value_get(probes, "fma"), value_new_real(1));
    assert_false(calibration_read(json, &back));
    value_set(json, "probes", value_new_object());
    assert_false(calibration_read(json, &back));
    value_remove(value_get(json, "bandwidth"), "DRAM");
    assert_false(calibration_read(json, &back));
    value_remove(json, "bandwidth");
    assert_false(calibration_read(json, &back));
    value_free(json);
    assert_false(calibration_read(NULL, &back));
}

/* A probe that was not measured stays so: the ping of one thread. */
TEST(test_probes_that_were_not_measured)
{
    struct calibration c = constructed(1, NAN), back;
    struct value *json = calibration_json(&c);
    assert_true(calibration_read(json, &back));
    assert_true(isnan(calibration_state(&back).seconds[PROBE_PING]));
    assert_close(calibration_state(&back).seconds[PROBE_FMA], 1e-5);
    value_remove(value_get(json, "probes"), "sharing"); /* as in files of earlier versions */
    assert_true(calibration_read(json, &back));
    assert_true(isnan(calibration_state(&back).seconds[PROBE_SHARING]));
    assert_close(calibration_state(&back).seconds[PROBE_FMA], 1e-5);
    value_free(json);
}

/* The table by which a struct is written as JSON reads it back, and nothing else. */
TEST(test_members)
{
    struct sample {
        char name[4];
        int threads;
        int64_t bytes, most;
        double load, peak, bf16;
    };
    static const struct member members[] = {{MEMBER(sample, TEXT, name)},
                                            {MEMBER(sample, INT, threads)},
                                            {MEMBER(sample, COUNT, bytes)},
                                            {MEMBER(sample, COUNT, most), .may_lack = true},
                                            {MEMBER(sample, REAL, load)},
                                            {MEMBER(sample, RATE, peak)},
                                            {MEMBER(sample, RATE, bf16), .may_lack = true},
                                            {.name = NULL}};
    static const char whole[] =
        "{\"name\":\"abc\",\"threads\":2,\"bytes\":4611686018427387905,\"load\":0.0,\"peak\":2.5}";
    static const char *const others[] = {
        "{\"name\":\"abcd\",\"threads\":2,\"bytes\":1,\"load\":0.0,\"peak\":2.5}",
        "{\"name\":\"abc\",\"threads\":2147483648,\"bytes\":1,\"load\":0.0,\"peak\":2.5}",
        "{\"name\":\"abc\",\"threads\":2,\"bytes\":0,\"load\":0.0,\"peak\":2.5}",
        "{\"name\":\"abc\",\"threads\":2,\"bytes\":1,\"peak\":2.5}",
        "{\"name\":\"abc\",\"threads\":2,\"bytes\":1,\"load\":0.0,\"peak\":0.0}",
        "{\"name\":\"abc\",\"threads\":2,\"bytes\":1,\"load\":0.0,\"peak\":2.5,\"bf16\":-1.0}",
        "{\"name\":\"abc\",\"threads\":2,\"bytes\":1,\"load\":0.0,\"peak\":2.5,\"most\":1.5}",
    };
    struct sample s = {"abc", 2, (INT64_C(1) << 62) + 1, 0, 0, 2.5, 0}, back = {0};
    struct value *json = value_new_object();
    char error[MESSAGE_SIZE];
    members_write(members, &s, json);
    char *text = value_print(json);
    assert_string_equal(text, whole);
    assert_true(members_read(members, json, &back));
    assert_string_equal(back.name, "abc");
    assert_true(back.threads == 2 && back.bytes == s.bytes && back.peak == 2.5 && back.bf16 == 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct value *other = value_parse(others[i], error);
        assert_non_null(other);
        if (members_read(members, other, &back))
            fail_msg("%s is read", others[i]);
        value_free(other);
    }
    free(text);
    value_free(json);
}

TEST(test_file_is_valid_where_conditions_agree)
{
    struct calibration_directory p = directory_new();
    struct calibration held = constructed(2, 1e-7), other = held, list[CALIBRATION_STATES];
    struct message message;
    assert_true(calibration_save(p.file, &held, 1, &message));
    assert_int_equal(calibration_load(p.file, &held, list), 1);
    assert_same(&held, &list[0]);
    other = held, other.memory++;
    assert_int_equal(calibration_load(p.file, &other, list), 0);
    other = held, strcpy(other.isa, "other");
    assert_int_equal(calibration_load(p.file, &other, list), 0);
    other = held, other.clock = INT64_C(3000000000);
    assert_int_equal(calibration_load(p.file, &other, list), 0);
    assert_true(calibration_save(p.file, &other, 1, &message));
    assert_int_equal(calibration_load(p.file, &other, list), 1);
    assert_int_equal(list[0].clock, other.clock);
    assert_int_equal(calibration_load(p.file, &held, list), 1);
    assert_int_equal(list[0].clock, 0);
    other = held, other.cpu[0]++;
    assert_int_equal(calibration_load(p.file, &other, list), 0);
    other = held, other.threads++;
    assert_int_equal(calibration_load(p.file, &other, list), 0);
    directory_free(&p);
}

/* Calibrations are added to those of other machines, and replace their predecessors. */
TEST(test_file_is_kept)
{
    struct calibration_directory p = directory_new();
    struct calibration foreign = constructed(3, 1e-7), list[CALIBRATION_STATES];
    struct calibration own[] = {constructed(2, 1e-7), constructed(2, 5e-7)};
    struct message message;
    assert_true(calibration_save(p.file, &foreign, 1, &message));
    assert_true(calibration_save(p.file, own, 2, &message));
    assert_int_equal(calibration_load(p.file, &own[0], list), 2);
    assert_same(&own[1], &list[1]);
    assert_true(calibration_save(p.file, own, 1, &message));
    assert_int_equal(calibration_load(p.file, &own[0], list), 1);
    assert_int_equal(calibration_load(p.file, &foreign, list), 1);
    assert_same(&foreign, &list[0]);
    directory_free(&p);
}

TEST(test_file_that_cannot_be_used)
{
    struct calibration_directory p = directory_new();
    struct calibration c = constructed(2, 1e-7), list[CALIBRATION_STATES];
    struct message message;
    write_file(p.file, "{\"calibrations\": [1, {}, ");
    assert_int_equal(calibration_load(p.file, &c, list), 0);
    assert_true(calibration_save(p.file, &c, 1, &message));
    assert_int_equal(calibration_load(p.file, &c, list), 1);
    assert_false(calibration_save("/nowhere/calibration.json", &c, 1, &message));
    assert_non_null(strstr(message.text, "/nowhere/calibration.json"));
    directory_free(&p);
}

/* Ceilings with these calibrations, in the order of the file. */
static struct peaks ceilings_of(struct calibration *list, int count)
{
    struct peaks c = {.no_peaks = "none at all"};
    for (int i = 0; i < count; i++)
        peaks_add(&c, &list[i]);
    return c;
}

/* The ceilings for a program whose turns had this ping, with a scatter of 3 %. */
static const struct calibration *found(const struct peaks *c, int threads, double ping, size_t turns,
                                       const char **missing)
{
    struct turn list[10];
    for (size_t i = 0; i < turns; i++)
        list[i] = (struct turn){1, {{ping * (1 + 0.01 * (double)(i % 4)), 1e-5}}, {{ping, 1e-5}}};
    struct probe probe = states_median(list, turns, NULL);
    return peaks_in(c, threads, list, turns, &probe, missing);
}

/* Ceilings are those of the state that the program is reported in, or none. */
TEST(test_ceilings_of_the_state)
{
    struct calibration list[] = {constructed(2, 1.4e-7), constructed(1, NAN)};
    struct peaks c = ceilings_of(list, 2);
    const char *missing;
    assert_ptr_equal(found(&c, 2, 1.4e-7, 10, &missing), &c.list[0]);
    assert_ptr_equal(found(&c, 2, 1.5e-7, 10, &missing), &c.list[0]);
    assert_null(found(&c, 2, 5.7e-7, 10, &missing));
    assert_string_equal(missing, "the peak rates were measured in another state of the machine");
    assert_ptr_equal(found(&c, 1, NAN, 10, &missing), &c.list[1]);
    assert_null(found(&c, 3, 1.4e-7, 10, &missing));
    assert_string_equal(missing, "none at all");
    assert_null(found(&c, 2, NAN, 10, &missing)); /* two threads on one processor */
    /* Two probes are too few for a state of their own. */
    assert_ptr_equal(found(&c, 2, 5.7e-7, 1, &missing), &c.list[0]);
    struct calibration other = constructed(2, 5.7e-7);
    peaks_add(&c, &other);
    assert_ptr_equal(found(&c, 2, 1.4e-7, 10, &missing), &c.list[0]);
    assert_ptr_equal(found(&c, 2, 5.7e-7, 10, &missing), &c.list[2]);
    assert_ptr_equal(peaks_for(&c, 2), &c.list[2]);
    peaks_free(&c);
}

/* A second calibration of a state keeps the higher rates; of many states, the oldest goes. */
TEST(test_ceilings_are_replaced)
{
    struct calibration first = constructed(2, 1e-8), again = first;
    struct peaks c = ceilings_of(&first, 1);
    again.peak = 900;
    again.exceeded = 0;
    again.sweep[MEMORY_DRAM].update = 30;
    peaks_add(&c, &again);
    const struct calibration *now = peaks_for(&c, 2);
    assert_close(now->peak, 1000);
    assert_close(now->level[MEMORY_DRAM].update, 30);
    assert_close(now->level[MEMORY_DRAM].read, 20);
    assert_true(c.list[0].replaced && !now->replaced && now->exceeded == 0);
    struct value *json = peaks_json(&c);
    assert_int_equal(value_size(json), 2); /* rows of this run may refer to both */
    value_free(json);
    for (int i = 1; i <= CALIBRATION_STATES; i++) {
        struct calibration other = constructed(2, 1e-8 * pow(3, i));
        assert_false(c.list[1].replaced);
        peaks_add(&c, &other);
    }
    assert_true(c.list[1].replaced);
    peaks_free(&c);
}

/* For traffic that is written alone, so that every pattern is as fast. */
static struct roofline placed(const struct calibration *c, int64_t flops, int64_t bytes, double seconds,
                              int64_t working_set)
{
    struct cost cost = {.flops = flops, .bytes = bytes, .written = bytes};
    return roofline_place(c, &cost, seconds, working_set);
}

TEST(test_roofline_levels)
{
    struct calibration c = constructed(2, 1e-7);
    const int64_t mib = 1 << 20;
    assert_int_equal(placed(&c, 1, 1, 1, 1).level, MEMORY_L2);
    assert_int_equal(placed(&c, 1, 1, 1, 2 * mib).level, MEMORY_L2);
    assert_int_equal(placed(&c, 1, 1, 1, 10 * mib).level, MEMORY_LLC);
    assert_int_equal(placed(&c, 1, 1, 1, 32 * mib).level, MEMORY_LLC);
    assert_int_equal(placed(&c, 1, 1, 1, 64 * mib).level, MEMORY_DRAM);
    c.level[MEMORY_LLC] = (struct bandwidth){0};
    assert_int_equal(placed(&c, 1, 1, 1, 10 * mib).level, MEMORY_DRAM);
    assert_string_equal(memory_level_name(MEMORY_LLC), "LLC");
}

TEST(test_roofline_bounds)
{
    struct calibration c = constructed(2, 1e-7);
    /* 2 FLOP/B at 100 GB/s, of which the second level serves an eighth; 1e9 FLOPs in 10 ms are 100 GFLOP/s.
     */
    struct roofline r = placed(&c, 1000000000, 500000000, 0.01, 16 << 20);
    assert_int_equal(r.level, MEMORY_LLC);
    assert_int_equal(r.bound, BOUND_MEMORY);
    assert_close(r.attainable, 200 / (7 / 8.0));
    assert_close(r.percent, 50 * (7 / 8.0));
    /* The same from the second level, at 400 GB/s: 800. */
    r = placed(&c, 1000000000, 500000000, 0.01, 1 << 20);
    assert_close(r.attainable, 800);
    /* 10 FLOP/B there: the peak is lower. */
    r = placed(&c, 1000000000, 100000000, 0.01, 1 << 20);
    assert_int_equal(r.bound, BOUND_COMPUTE);
    assert_string_equal(bound_name(r.bound), "compute");
    assert_close(r.attainable, 1000);
    assert_close(r.percent, 10);
    /* Of products in bf16 the half at ten times the peak: 1e9 FLOPs in 0.55 ms. In tf32 none is faster. */
    struct cost cost = {.flops = 1000000000, .bf16 = 500000000, .tf32 = 500000000, .bytes = 1, .written = 1};
    assert_close(roofline_place(&c, &cost, 0.01, 1 << 20).attainable, 1000);
    c.bf16 = 10000;
    assert_close(roofline_place(&c, &cost, 0.01, 1 << 20).attainable, 1 / 0.55e-3);
    assert_close(roofline_bound(&c, &cost), 0.55e-3 / BOUND_ARITHMETIC);
    /* Only copying: 1 GB in 100 ms is half of 20 GB/s. */
    r = placed(&c, 0, 1000000000, 0.1, INT64_MAX);
    assert_int_equal(r.bound, BOUND_MEMORY);
    assert_string_equal(bound_name(r.bound), "memory");
    assert_true(r.attainable == 0);
    assert_true(fabs(r.percent - 50) < 1e-6);
}

TEST(test_roofline_fault)
{
    struct calibration c = constructed(3, 1e-7);
    struct message text;
    struct roofline at = placed(&c, 1000000000, 1, 0.001, 1);
    assert_close(at.percent, 100);
    at.percent = 100;
    assert_false(roofline_fault(&at, &c, &text));
    assert_string_equal(text.text, "");
    struct roofline over = placed(&c, 1000000000, 1, 0.0008, 1);
    assert_close(over.percent, 125);
    assert_true(roofline_fault(&over, &c, &text));
    assert_non_null(strstr(text.text, "above the peak of arithmetic (3 threads, "));
    assert_non_null(strstr(text.text, "--peaks measure"));
    over = placed(&c, 0, 1000000000, 0.01, INT64_MAX);
    assert_true(roofline_fault(&over, &c, &text));
    assert_non_null(strstr(text.text, "above the bandwidth of DRAM (3 threads, "));
}
