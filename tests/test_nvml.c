/* Queries to NVML, with a library that plays given answers: units, missing functions, errors, and closing. */
#include <math.h>

#include "tests/nvml.h"
#include "tests/test.h"
#include "tests/values.h"

static const char bus[] = "0000:65:00.0";

static struct nvml *open_played(const struct player *p)
{
    const char *why;
    struct nvml *n = nvml_open(p->path, bus, &why);
    if (!n)
        fail_msg("%s: %s", p->path, why);
    return n;
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * fabs(b)))
        fail_msg("%.15g is not %.15g", a, b);
}

static void play_all(struct played *p)
{
    p->bus = bus;
    p->clock = (struct played_answers){.answers = {1980, 1755}, .count = 2};
    p->memory_clock = 2619;
    p->temperature = 41;
    p->power = 123456;
    p->energy = 98765432109;
    p->kernels_busy = 97;
    p->memory_busy = 31;
    p->power_limit = 350000;
    p->ecc = 1;
    p->compute_mode = 3;
    p->processes = 2;
    p->reasons = (struct played_answers){.answers = {0x25, 0}, .count = 2};
}

TEST(test_units)
{
    struct player p = player_open("whole");
    play_all(p.played);
    struct nvml *n = open_played(&p);
    double kernels, memory;
    uint64_t reasons;
    assert_near(nvml_clock(n), 1980e6);
    assert_near(nvml_clock(n), 1755e6);
    assert_near(nvml_clock(n), 1755e6);
    assert_near(nvml_memory_clock(n), 2619e6);
    assert_near(nvml_temperature(n), 41);
    assert_near(nvml_power(n), 123.456);
    assert_near(nvml_energy(n), 98765432.109);
    assert_true(nvml_busy(n, &kernels, &memory));
    assert_near(kernels, 0.97);
    assert_near(memory, 0.31);
    assert_true(nvml_reasons(n, &reasons));
    assert_int_equal(reasons, 0x25);
    assert_false(nvml_divided(n));
    p.played->divided = 1;
    assert_true(nvml_divided(n));
    assert_int_equal(p.played->started, 1);
    nvml_close(n);
    nvml_close(NULL);
    player_close(&p);
}

/* No query has an answer. */
static void assert_silent(const struct nvml *n)
{
    double kernels, memory;
    uint64_t reasons;
    assert_true(isnan(nvml_clock(n)) && isnan(nvml_memory_clock(n)) && isnan(nvml_temperature(n)));
    assert_true(isnan(nvml_power(n)) && isnan(nvml_energy(n)));
    assert_false(nvml_busy(n, &kernels, &memory));
    assert_false(nvml_reasons(n, &reasons));
    assert_false(nvml_divided(n));
}

TEST(test_errors_are_no_values)
{
    struct player p = player_open("whole");
    play_all(p.played);
    p.played->divided = 1;
    p.played->error = 3; /* not supported */
    struct nvml *n = open_played(&p);
    assert_silent(n);
    nvml_close(n);
    player_close(&p);
}

/* The reasons have their old name; energy and utilisation are missing. */
TEST(test_an_old_driver)
{
    struct player p = player_open("old");
    play_all(p.played);
    struct nvml *n = open_played(&p);
    double kernels, memory;
    uint64_t reasons;
    assert_near(nvml_clock(n), 1980e6);
    assert_near(nvml_power(n), 123.456);
    assert_true(nvml_reasons(n, &reasons));
    assert_int_equal(reasons, 0x25);
    assert_true(isnan(nvml_energy(n)));
    assert_false(nvml_busy(n, &kernels, &memory));
    assert_false(nvml_divided(n));
    nvml_close(n);
    player_close(&p);
}

static void refuses(const char *library, const char *where, const char *says)
{
    const char *why = "";
    struct nvml *n = nvml_open(library, where, &why);
    assert_null(n);
    if (!strstr(why, says))
        fail_msg("%s: %s", library, why);
}

TEST(test_what_cannot_be_opened)
{
    refuses("/nowhere/libnvidia-ml.so.1", bus, "NVML is not installed");
    struct player part = player_open("part");
    refuses(part.path, bus, "has no functions");
    player_close(&part);
    struct player whole = player_open("whole");
    whole.played->bus = bus;
    refuses(whole.path, "0000:17:00.0", "does not know this GPU");
    whole.played->init_error = 9; /* the driver is not loaded */
    refuses(whole.path, bus, "cannot be initialised");
    whole.played->init_error = 18; /* the driver was updated */
    refuses(whole.path, bus, "differ in their versions");
    player_close(&whole);
}

static const char *name_at(const struct value *array, size_t i)
{
    const char *text = NULL;
    assert_true(value_read_text(value_at(array, i), &text));
    return text;
}

TEST(test_state_in_the_record)
{
    struct player p = player_open("whole");
    play_all(p.played);
    struct nvml *n = open_played(&p);
    struct value *told = nvml_json(n, NULL);
    assert_near(real_in(told, "clock"), 1980e6);
    assert_near(real_in(told, "power"), 123.456);
    const struct value *reasons = value_get(told, "throttle");
    assert_int_equal(value_size(reasons), 2); /* idle, 0x01, is not counted */
    assert_string_equal(name_at(reasons, 0), "power cap");
    assert_string_equal(name_at(reasons, 1), "thermal");
    int64_t processes = 0;
    assert_near(real_in(told, "power_limit"), 350);
    assert_string_equal(text_in(told, "ecc"), "on");
    assert_string_equal(text_in(told, "compute_mode"), "exclusive process");
    assert_true(value_read_count(value_get(told, "processes"), &processes));
    assert_int_equal(processes, 2);
    p.played->error = 999;
    struct value *untold = nvml_json(n, NULL);
    assert_true(is_null_in(untold, "clock") && is_null_in(untold, "throttle"));
    assert_true(is_null_in(untold, "ecc") && is_null_in(untold, "processes"));
    struct value *missing = nvml_json(NULL, "for a test");
    assert_true(is_null_in(missing, "energy"));
    assert_string_equal(text_in(missing, "missing"), "for a test");
    value_free(told);
    value_free(untold);
    value_free(missing);
    nvml_close(n);
    player_close(&p);
}
