/*
 * Sampling while a GPU throttles, and its energy, tested on the host: a program that counts its runs is
 * sampled with an NVML that plays given answers.
 */
#include <math.h>

#include "bench/machine/nvml.h"
#include "bench/time/apart.h"
#include "bench/time/sample.h"
#include "tests/nvml.h"
#include "tests/test.h"

enum { IDLE = 0x01, POWER_CAP = 0x04, SLOWDOWN = 0x08, THERMAL = 0x20, HOT = 0x40, BRAKE = 0x80 };

TEST(test_judge)
{
    static const struct {
        uint64_t reasons;
        int discards;
        bool time_left;
        enum fate fate;
    } cases[] = {
        {0, 0, true, FATE_KEPT},
        {IDLE, 0, true, FATE_KEPT},
        {0x02, 0, true, FATE_KEPT},
        {POWER_CAP, 0, true, FATE_KEPT},
        {0x10, 0, true, FATE_KEPT},
        {0x100, 0, true, FATE_KEPT},
        {SLOWDOWN, 0, true, FATE_DISCARDED},
        {THERMAL, 0, true, FATE_DISCARDED},
        {HOT, 0, true, FATE_DISCARDED},
        {BRAKE, 0, true, FATE_DISCARDED},
        {IDLE | POWER_CAP | THERMAL, 0, true, FATE_DISCARDED},
        {THERMAL, DISCARDS_MAX - 1, true, FATE_DISCARDED},
        {THERMAL, DISCARDS_MAX, true, FATE_KEPT_THROTTLED},
        {THERMAL, 0, false, FATE_KEPT_THROTTLED},
        {POWER_CAP, DISCARDS_MAX, false, FATE_KEPT},
        {UINT64_C(1) << 40, 0, true, FATE_KEPT}, /* from a driver newer than this code */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(throttle_judge(cases[i].reasons, cases[i].discards, cases[i].time_left),
                         cases[i].fate);
}

TEST(test_names)
{
    char text[THROTTLE_TEXT];
    throttle_text(IDLE, text);
    assert_string_equal(text, "none");
    throttle_text(POWER_CAP | HOT, text);
    assert_string_equal(text, "power cap, hardware thermal slowdown");
    throttle_text(UINT64_MAX, text); /* all of them fit the buffer */
    assert_non_null(strstr(text, "power brake, display clocks"));
    assert_true(strlen(text) + 1 < sizeof text);
}

/* The program: it counts its runs, and each consumes some energy. */
static int64_t runs;
static unsigned long long millijoules; /* per run */
static struct played *meter;           /* whose counter they advance; null: none */

static void counted_fill(const void *args)
{
    const struct fill_args *a = args;
    *(float *)a->y.data = (float)++runs;
    if (meter)
        meter->energy += millijoules;
}

static const struct kernel kernels[] = {{OP_fill, "counted", TYPE_f32, counted_fill, NULL, NULL, NULL}};
static const struct backend counting = {
    .name = "counting", .doc = "counts its runs", .kernels = kernels, .count = 1, .base = &backend_ref};

/* With an NVML that has no answers yet. */
struct throttle_fixture {
    struct player player;
    struct nvml *nvml;
    struct tape *tape;
    struct sampling rule;
};

static struct throttle_fixture fixture_open(const char *kind)
{
    const char *why;
    struct throttle_fixture b = {.player = player_open(kind)};
    struct tape_config c = {.backend = &counting, .dtype = F32, .threads = 1};
    b.nvml = nvml_open(b.player.path, "0000:65:00.0", &why);
    assert_non_null(b.nvml);
    b.tape = tape_new(&c);
    struct mat y = state(b.tape, "y", 1, 1, 0);
    op(b.tape, fill, .y = y, .value = 0);
    assert_true(tape_layout(b.tape));
    tape_init(b.tape);
    b.rule = (struct sampling){.nvml = b.nvml, .watch = y, .batch = 1};
    runs = 0;
    meter = NULL;
    return b;
}

static void fixture_close(struct throttle_fixture *b)
{
    tape_free(b->tape);
    nvml_close(b->nvml);
    player_close(&b->player);
}

#define PLAY(...)                                                                                            \
    ((struct played_answers){.answers = {__VA_ARGS__}, .count = sizeof((int[]){__VA_ARGS__}) / sizeof(int)})

/* The second and third of six runs are spoiled. */
TEST(test_spoiled_samples_are_taken_again)
{
    struct throttle_fixture b = fixture_open("whole");
    b.player.played->reasons = PLAY(0, THERMAL, POWER_CAP | SLOWDOWN, POWER_CAP, IDLE, 0);
    b.player.played->clock = PLAY(1000, 1100, 1200, 1300, 1400, 1500);
    b.player.played->temperature = 85;
    b.rule.runs = 4;
    struct samples s = sample_tape(b.tape, &b.rule);
    assert_int_equal(s.n, 4);
    assert_int_equal(runs, 6);
    assert_int_equal(s.seen.discarded, 2);
    assert_int_equal(s.seen.throttled, 0);
    assert_true(s.seen.told);
    assert_int_equal(s.seen.reasons, THERMAL | POWER_CAP | SLOWDOWN | IDLE);
    assert_true(s.seen.temperature == 85);
    static const double clocks[] = {1000e6, 1300e6, 1400e6, 1500e6};
    for (int i = 0; i < 4; i++)
        assert_true(s.clock[i] == clocks[i] && s.seconds[i] >= 0);
    samples_free(&s);
    fixture_close(&b);
}

/* The watched value is that of the first run, even if its sample is discarded. */
TEST(test_first_run)
{
    struct throttle_fixture b = fixture_open("whole");
    b.player.played->reasons = PLAY(HOT, 0);
    b.rule.runs = 1;
    struct samples s = sample_tape(b.tape, &b.rule);
    assert_int_equal(s.seen.discarded, 1);
    assert_true(s.first == 1);
    samples_free(&s);
    fixture_close(&b);
}

/* Samples between two polls are kept or discarded together. */
TEST(test_samples_wait_for_a_look)
{
    struct throttle_fixture b = fixture_open("whole");
    b.player.played->reasons = PLAY(BRAKE, 0);
    b.rule.runs = 5;
    b.rule.look = 1e6;
    struct samples s = sample_tape(b.tape, &b.rule);
    assert_int_equal(s.n, 5);
    assert_int_equal(s.seen.discarded, 5);
    assert_int_equal(b.player.played->reasons.asked, 2);
    samples_free(&s);
    fixture_close(&b);
}

/* If discards do not end, samples are kept after a while, with a message. */
TEST(test_discards_end)
{
    struct throttle_fixture b = fixture_open("old");
    b.player.played->reasons = PLAY(THERMAL);
    b.rule.runs = 3;
    struct samples s = sample_tape(b.tape, &b.rule);
    assert_int_equal(s.n, 3);
    assert_int_equal(s.seen.discarded, DISCARDS_MAX);
    assert_int_equal(s.seen.throttled, 3);
    samples_free(&s);
    fixture_close(&b);
}

TEST(test_no_time_to_discard)
{
    struct throttle_fixture b = fixture_open("whole");
    b.player.played->reasons = PLAY(THERMAL);
    b.rule.most = 10;
    struct samples s = sample_tape(b.tape, &b.rule);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.seen.discarded, 0);
    assert_int_equal(s.seen.throttled, 1);
    samples_free(&s);
    fixture_close(&b);
}

TEST(test_what_is_not_told)
{
    struct throttle_fixture b = fixture_open("whole");
    b.player.played->error = 3;
    b.rule.runs = 2;
    struct samples s = sample_tape(b.tape, &b.rule);
    assert_int_equal(s.n, 2);
    assert_false(s.seen.told);
    assert_true(isnan(s.seen.temperature) && isnan(s.clock[0]) && isnan(s.clock[1]));
    samples_free(&s);
    b.rule.nvml = NULL;
    s = sample_tape(b.tape, &b.rule);
    assert_false(s.seen.told);
    assert_int_equal(s.seen.discarded, 0);
    samples_free(&s);
    fixture_close(&b);
}

TEST(test_turns_are_joined)
{
    struct throttle_fixture b = fixture_open("whole");
    b.player.played->reasons = PLAY(THERMAL, 0, 0, POWER_CAP, BRAKE, 0);
    b.player.played->clock = PLAY(1, 2, 3, 4, 5, 6);
    b.player.played->temperature = 60;
    b.rule.runs = 2;
    struct samples all = sample_tape(b.tape, &b.rule);
    b.player.played->temperature = 50;
    struct samples turn = sample_tape(b.tape, &b.rule);
    samples_join(&all, &turn);
    assert_int_equal(all.n, 4);
    assert_int_equal(all.seen.discarded, 2);
    assert_int_equal(all.seen.reasons, THERMAL | POWER_CAP | BRAKE);
    assert_true(all.seen.temperature == 60 && all.seen.told);
    static const double clocks[] = {2e6, 3e6, 4e6, 6e6};
    for (int i = 0; i < 4; i++)
        assert_true(all.clock[i] == clocks[i]);
    samples_free(&all);
    fixture_close(&b);
}

TEST(test_doubts_of_energy)
{
    assert_null(energy_doubt(&(struct ticks){.looks = 500, .ticks = 20}));
    assert_non_null(strstr(energy_doubt(&(struct ticks){.looks = 500, .ticks = 19}), "too seldom"));
    assert_null(energy_doubt(&(struct ticks){.looks = 1, .ticks = 1})); /* one long run */
    assert_non_null(strstr(energy_doubt(&(struct ticks){.looks = 2, .ticks = 1}), "too seldom"));
    assert_non_null(strstr(energy_doubt(&(struct ticks){.looks = 500}), "does not change"));
}

/* A counter that advances with every run gives each run its energy. */
TEST(test_energy_of_a_run)
{
    struct throttle_fixture b = fixture_open("whole");
    b.player.played->energy = 5000000;
    b.player.played->kernels_busy = 98;
    b.player.played->memory_busy = 40;
    meter = b.player.played;
    millijoules = 250;
    struct row *row = row_new();
    energy_measure(b.tape, b.nvml, 0.02, 2, row, &row->forward);
    assert_int_equal(row->reason_count, 0);
    assert_true(fabs(row->forward.gpu.energy_per_graph - 0.125) < 1e-9);
    assert_true(row->forward.gpu.energy_span > 0 && row->forward.gpu.power > 0);
    assert_true(row->forward.gpu.power * row->forward.gpu.energy_span < 0.25 * (double)runs);
    assert_true(fabs(row->forward.gpu.busy - 0.98) < 1e-12);
    assert_true(fabs(row->forward.gpu.memory_busy - 0.4) < 1e-12);
    row_free(row);
    fixture_close(&b);
}

/* The pass ends with the 20th tick after the first, and at once where their rate says that they come too
 * late. */
TEST(test_energy_takes_no_longer)
{
    static const struct {
        int every, asked; /* readings of the counter: one before all */
    } cases[] = {{1, 22}, {2, 42}};
    for (int i = 0; i < 2; i++) {
        struct throttle_fixture b = fixture_open("whole");
        b.player.played->energy_every = cases[i].every;
        b.player.played->energy_step = 250;
        struct row *row = row_new();
        energy_measure(b.tape, b.nvml, 3600, 1, row, &row->forward);
        assert_true(row_has(row, "forward.gpu.energy_per_graph"));
        assert_int_equal(b.player.played->energy_asked, cases[i].asked);
        row_free(row);
        fixture_close(&b);
    }
    assert_true(energy_lacks_ticks(&(struct ticks){.looks = 90, .ticks = 10, .seconds = 1}, 1.01));
    assert_false(energy_lacks_ticks(&(struct ticks){.looks = 90, .ticks = 10, .seconds = 1}, 0.99));
    assert_true(
        energy_lacks_ticks(&(struct ticks){.looks = 10, .ticks = 10, .seconds = 1}, 0.99)); /* long runs */
    assert_false(energy_lacks_ticks(&(struct ticks){.looks = 90, .ticks = 20, .seconds = 1}, 9));
}

/* Why the energy, and how busy the GPU was, are unknown; null: they are known. */
static void assert_no_energy(const char *kind, struct played p, const char *missing, const char *not_busy)
{
    struct throttle_fixture b = fixture_open(kind);
    p.started = b.player.played->started;
    *b.player.played = p;
    struct row *row = row_new();
    energy_measure(b.tape, b.nvml, 0.02, 1, row, &row->forward);
    const char *const groups[] = {"energy_per_graph", "power", "energy_span", "busy", "memory_busy"};
    for (int i = 0; i < 5; i++) {
        char path[SCHEMA_PATH];
        const char *expected = i < 3 ? missing : not_busy;
        snprintf(path, sizeof path, "forward.gpu.%s", groups[i]);
        assert_int_equal(row_has(row, path), !expected);
        if (expected)
            assert_string_equal(row_reason(row, path), expected);
    }
    row_free(row);
    fixture_close(&b);
}

TEST(test_energy_that_is_none)
{
    static const char still[] = "the energy counter does not change",
                      none[] = "the GPU has no energy counter", unknown[] = "unknown to NVML";
    assert_no_energy("whole", (struct played){.energy = 1000}, still, NULL);
    assert_no_energy("old", (struct played){.energy = 1000}, none, unknown);
    assert_no_energy("whole", (struct played){.error = 3}, none, unknown);
    assert_no_energy("whole", (struct played){.divided = 1, .energy_every = 1, .energy_step = 1000},
                     "the GPU is divided (MIG), so its energy is not that of this program alone", NULL);
}
