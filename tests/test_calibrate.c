/*
 * The loops of the ceilings compute what they claim; calibrations are positive, stored in a file and reused
 * only under the same conditions; the roofline for synthetic numbers. Rates are not compared with each other,
 * because the machine may be busy.
 */
#include "bench/machine/calibration.h"
#include "bench/machine/roofline.h"

#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* 1000 GFLOP/s; 400, 100 and 20 GB/s at 2 MiB, 32 MiB and beyond. */
static struct calibration constructed(int threads)
{
    struct calibration c = {.cpu = "family 1, a processor",
                            .isa = "avx2",
                            .threads = threads,
                            .memory = INT64_C(1) << 40,
                            .load = 0.25,
                            .time = "2000-01-01T00:00:00Z",
                            .peak = 1000};
    c.level[MEMORY_L2] = (struct bandwidth){2 << 20, 1 << 20, 400, 300, 350};
    c.level[MEMORY_LLC] = (struct bandwidth){32 << 20, 10 << 20, 90, 80, 100};
    c.level[MEMORY_DRAM] = (struct bandwidth){c.memory, 128 << 20, 20, 10, 15};
    return c;
}

static void assert_close(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void assert_same(const struct calibration *a, const struct calibration *b)
{
    assert_string_equal(a->cpu, b->cpu);
    assert_string_equal(a->isa, b->isa);
    assert_string_equal(a->time, b->time);
    assert_int_equal(a->threads, b->threads);
    assert_int_equal(a->memory, b->memory);
    assert_close(a->peak, b->peak);
    for (int l = 0; l < MEMORY_LEVELS; l++) {
        assert_int_equal(a->level[l].capacity, b->level[l].capacity);
        assert_int_equal(a->level[l].working_set, b->level[l].working_set);
        assert_close(a->level[l].read, b->level[l].read);
        assert_close(a->level[l].write, b->level[l].write);
        assert_close(a->level[l].triad, b->level[l].triad);
    }
}

static const struct peak *best_peak(void)
{
    return peak_of(*backend_cpu_all());
}

/* A quick calibration. */
static bool get(const char *path, bool refresh, int threads, struct calibration *c, struct message *message)
{
    struct calibration_request r = {best_peak(), threads, path, refresh, 0.01};
    return calibration_get(&r, c, message);
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

/* The file's calibrations. */
static struct value *calibrations_in(const char *path)
{
    char error[MESSAGE_SIZE];
    struct value *file = value_load(path, error);
    assert_non_null(file);
    struct value *all = value_copy(value_get(file, "calibrations"));
    value_free(file);
    return all;
}

static void write_calibrations(const char *path, const struct calibration *c, int count)
{
    char error[MESSAGE_SIZE];
    struct value *file = value_new_object(), *all = value_new_array();
    for (int i = 0; i < count; i++)
        value_append(all, calibration_json(&c[i]));
    value_set(file, "calibrations", all);
    assert_true(value_save(file, path, 1, error));
    value_free(file);
}

static void test_loops_compute(void **state)
{
    (void)state;
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
            for (int i = 0; i < n; i++)
                assert_true(x[i + 1] == 3);
            assert_true(x[0] == -1 && x[n + 1] == -1);
        }
    }
    assert_null(peak_of(&backend_ref));
}

static void test_calibrates(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        struct calibration c;
        struct message error;
        cpu_set_t before, after;
        sched_getaffinity(0, sizeof before, &before);
        assert_true(calibrate(best_peak(), threads, 0.02, &c, &error));
        assert_int_equal(c.threads, threads);
        assert_string_equal(c.isa, best_peak()->isa);
        assert_true(c.memory > 0 && *c.cpu && c.load >= 0 &&
                    strlen(c.time) == strlen("2000-01-01T00:00:00Z"));
        assert_true(c.peak > 0 && isfinite(c.peak));
        assert_true(c.level[MEMORY_DRAM].capacity == c.memory);
        for (int l = 0; l < MEMORY_LEVELS; l++) {
            const struct bandwidth *b = &c.level[l];
            if (!b->capacity)
                continue;
            assert_true(b->working_set > 0 && b->working_set < b->capacity);
            assert_true(b->read > 0 && isfinite(b->read));
            assert_true(b->write > 0 && isfinite(b->write));
            assert_true(b->triad > 0 && isfinite(b->triad));
        }
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

static void test_json_round_trip(void **state)
{
    (void)state;
    struct calibration c = constructed(2), back;
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
    value_remove(value_get(json, "bandwidth"), "DRAM");
    assert_false(calibration_read(json, &back));
    value_remove(json, "bandwidth");
    assert_false(calibration_read(json, &back));
    value_free(json);
    assert_false(calibration_read(NULL, &back));
}

/* Gets a calibration from a file with only this one; returns whether it was the one in the file. */
static bool given_back(const char *path, const struct calibration *held, int threads, bool refresh)
{
    struct calibration c;
    struct message message;
    write_calibrations(path, held, 1);
    assert_true(get(path, refresh, threads, &c, &message));
    assert_string_equal(message.text, "");
    assert_int_equal(c.threads, threads);
    return c.peak == held->peak;
}

static void test_file_is_valid_where_conditions_agree(void **state)
{
    (void)state;
    struct calibration_directory p = directory_new();
    struct calibration held = constructed(2), other;
    struct calibration now = calibration_conditions(best_peak(), 2);
    memcpy(held.cpu, now.cpu, sizeof held.cpu);
    memcpy(held.isa, now.isa, sizeof held.isa);
    held.memory = now.memory;
    held.peak = 12345;
    assert_true(given_back(p.file, &held, 2, false));
    assert_false(given_back(p.file, &held, 1, false));
    assert_false(given_back(p.file, &held, 2, true));
    other = held, other.memory++;
    assert_false(given_back(p.file, &other, 2, false));
    other = held, strcpy(other.isa, "other");
    assert_false(given_back(p.file, &other, 2, false));
    other = held, other.cpu[0]++;
    assert_false(given_back(p.file, &other, 2, false));
    directory_free(&p);
}

/*
 * A new calibration is added to the file: those of other machines are kept, its own predecessor is replaced.
 */
static void test_file_is_kept(void **state)
{
    (void)state;
    struct calibration_directory p = directory_new();
    struct calibration foreign = constructed(2), first, second;
    struct message message;
    write_calibrations(p.file, &foreign, 1);
    assert_true(get(p.file, false, 1, &first, &message));
    assert_true(get(p.file, false, 1, &second, &message));
    assert_same(&first, &second);
    assert_true(get(p.file, true, 1, &first, &message));
    struct value *all = calibrations_in(p.file);
    assert_int_equal(value_size(all), 2);
    assert_true(calibration_read(value_at(all, 0), &second));
    assert_same(&foreign, &second);
    assert_true(calibration_read(value_at(all, 1), &second));
    assert_same(&first, &second);
    value_free(all);
    directory_free(&p);
}

static void test_file_that_cannot_be_used(void **state)
{
    (void)state;
    struct calibration_directory p = directory_new();
    struct calibration c;
    struct message message;
    write_file(p.file, "{\"calibrations\": [1, {}, ");
    assert_true(get(p.file, false, 1, &c, &message));
    assert_string_equal(message.text, "");
    struct value *all = calibrations_in(p.file);
    assert_int_equal(value_size(all), 1);
    value_free(all);
    assert_true(get("/nowhere/calibration.json", false, 1, &c, &message));
    assert_true(c.peak > 0);
    assert_non_null(strstr(message.text, "/nowhere/calibration.json"));
    directory_free(&p);
}

static void test_roofline_levels(void **state)
{
    (void)state;
    struct calibration c = constructed(2);
    const int64_t mib = 1 << 20;
    assert_int_equal(roofline_place(&c, 1, 1, 1, 1).level, MEMORY_L2);
    assert_int_equal(roofline_place(&c, 1, 1, 1, 2 * mib).level, MEMORY_L2);
    assert_int_equal(roofline_place(&c, 1, 1, 1, 2 * mib + 1).level, MEMORY_LLC);
    assert_int_equal(roofline_place(&c, 1, 1, 1, 32 * mib).level, MEMORY_LLC);
    assert_int_equal(roofline_place(&c, 1, 1, 1, 33 * mib).level, MEMORY_DRAM);
    c.level[MEMORY_LLC] = (struct bandwidth){0};
    assert_int_equal(roofline_place(&c, 1, 1, 1, 2 * mib + 1).level, MEMORY_DRAM);
    assert_string_equal(memory_level_name(MEMORY_LLC), "LLC");
}

static void test_roofline_bounds(void **state)
{
    (void)state;
    struct calibration c = constructed(2);
    /* 2 FLOP/B at 100 GB/s: 200 GFLOP/s; 1e9 FLOPs in 10 ms are 100. */
    struct roofline r = roofline_place(&c, 1000000000, 500000000, 0.01, 16 << 20);
    assert_int_equal(r.level, MEMORY_LLC);
    assert_int_equal(r.bound, BOUND_MEMORY);
    assert_close(r.attainable, 200);
    assert_close(r.percent, 50);
    /* The same from the second level, at 400 GB/s: 800. */
    r = roofline_place(&c, 1000000000, 500000000, 0.01, 1 << 20);
    assert_close(r.attainable, 800);
    /* 10 FLOP/B there: the peak is lower. */
    r = roofline_place(&c, 1000000000, 100000000, 0.01, 1 << 20);
    assert_int_equal(r.bound, BOUND_COMPUTE);
    assert_string_equal(bound_name(r.bound), "compute");
    assert_close(r.attainable, 1000);
    assert_close(r.percent, 10);
    /* Only copying: 1 GB in 100 ms is half of 20 GB/s. */
    r = roofline_place(&c, 0, 1000000000, 0.1, INT64_C(1) << 33);
    assert_int_equal(r.bound, BOUND_MEMORY);
    assert_string_equal(bound_name(r.bound), "memory");
    assert_true(r.attainable == 0);
    assert_close(r.percent, 50);
}

static void test_roofline_fault(void **state)
{
    (void)state;
    struct calibration c = constructed(3);
    struct message text;
    struct roofline at = roofline_place(&c, 1000000000, 1, 0.001, 1);
    assert_close(at.percent, 100);
    at.percent = 100;
    assert_false(roofline_fault(&at, &c, &text));
    assert_string_equal(text.text, "");
    struct roofline over = roofline_place(&c, 1000000000, 1, 0.0008, 1);
    assert_close(over.percent, 125);
    assert_true(roofline_fault(&over, &c, &text));
    assert_non_null(strstr(text.text, "calibration fault: 125 % of the compute ceiling"));
    assert_non_null(strstr(text.text, "3 threads"));
    assert_non_null(strstr(text.text, "--calibrate"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops_compute),   cmocka_unit_test(test_calibrates),
        cmocka_unit_test(test_json_round_trip), cmocka_unit_test(test_file_is_valid_where_conditions_agree),
        cmocka_unit_test(test_file_is_kept),    cmocka_unit_test(test_file_that_cannot_be_used),
        cmocka_unit_test(test_roofline_levels), cmocka_unit_test(test_roofline_bounds),
        cmocka_unit_test(test_roofline_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
