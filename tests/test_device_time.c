/*
 * Measurements other than samples: runs with cold caches, launches, transfers; on a fake device and on the
 * host. All memory is freed, runs start on an idle device, and values are null if memory is short. Times are
 * not compared.
 */
#include <math.h>

#include "analysis/record/record.h"
#include "analysis/record/row.h"
#include "analysis/statistics/statistics.h"
#include "bench/machine/caches.h"
#include "bench/machine/calibration.h"
#include "bench/machine/device.h"
#include "bench/machine/machine.h"
#include "bench/time/apart.h"
#include "bench/time/sample.h"
#include "models/layers/model.h"
#include "tests/batches.h"
#include "tests/fake_device.h"
#include "tests/records.h"
#include "tests/test.h"
#include "tests/values.h"

static struct device_choice on_fake(struct fake *f)
{
    return (struct device_choice){.name = "fake", .given = "fake", .backend = &backend_fake, .context = f};
}

/* Twice the size of the caches, with every line written by every flush; or a message if out of memory. */
TEST(test_flush_on_the_host)
{
    struct device_choice host = {.name = "cpu", .given = "cpu", .backend = backend_cpu()};
    struct caches caches = caches_find(NULL, 2);
    struct flush f;
    struct message why;
    if (!flush_open(&f, &host, 2, &why)) {
        assert_true(caches.l2 + caches.llc == 0 || 2 * (caches.l2 + caches.llc) > machine_memory_free() / 4);
        assert_true(*why.text);
        skip();
    }
    assert_int_equal(f.bytes, 2 * (caches.l2 + caches.llc));
    flush_run(&f);
    for (int64_t i = 0; i < f.bytes; i += 64)
        if (f.buffer[i] != 2) /* one write was on opening */
            fail_msg("byte %lld of %lld was written %d times", (long long)i, (long long)f.bytes, f.buffer[i]);
    flush_close(&f);
}

TEST(test_flush_on_a_device)
{
    static struct fake fake;
    struct device_choice d = on_fake(&fake);
    struct flush f;
    struct message why;
    assert_true(flush_open(&f, &d, 1, &why));
    assert_int_equal(fake.clears, 1);
    flush_run(&f);
    assert_int_equal(fake.clears, 2);
    assert_int_equal(fake.cleared, 2 * FAKE_L2);
    assert_false(fake.pending);
    flush_close(&f);
    assert_int_equal(fake.allocated, 0);
}

TEST(test_no_flush)
{
    static struct fake fake;
    struct device_choice d = on_fake(&fake);
    struct flush f;
    struct message why;
    fake.allocated = FAKE_MEMORY - 2 * FAKE_L2 + 1;
    assert_false(flush_open(&f, &d, 1, &why));
    assert_non_null(strstr(why.text, "no memory for the 196608 bytes"));
    d.index = 1; /* an unknown device */
    assert_false(flush_open(&f, &d, 1, &why));
    assert_non_null(strstr(why.text, "unknown"));
    assert_int_equal(fake.clears, 0);
}

static struct recording step_record(const struct batch *b, struct fake *f)
{
    struct model_config c = {.layers = 2,
                             .hidden = 8,
                             .heads = 2,
                             .ffn = 16,
                             .act = ACT_GELU,
                             .mpnn = MPNN_GIN,
                             .checkpoint = "layer"};
    struct tape_config t = {.backend = &backend_fake, .context = f, .dtype = F32, .threads = 1, .seed = 1};
    struct recording r = program_record(PROGRAM_STEP, &c, b, NULL, t);
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    tape_run(r.tape);
    return r;
}

TEST(test_cold)
{
    static struct fake fake;
    static const struct {
        int runs;
        double seconds;
        int n;
    } cases[] = {{7, INFINITY, 7}, {1, INFINITY, 1}, {50, 0, COLD_MIN}, {2, 0, 2}};
    struct batch b = batch_er(10, 1);
    struct recording r = step_record(&b, &fake);
    struct device_choice d = on_fake(&fake);
    struct flush f;
    struct message why;
    assert_true(flush_open(&f, &d, 1, &why));
    for (int i = 0; i < 4; i++) {
        fake.clears = 0;
        struct row_program p;
        cold_measure(r.tape, &f, cases[i].runs, cases[i].seconds, &p);
        assert_int_equal(p.cold.n, cases[i].n);
        assert_int_equal(fake.clears, p.cold.n);
        assert_int_equal(p.cold.flushed, 2 * FAKE_L2);
        assert_true(p.cold.min > 0 && p.cold.min <= p.cold.median);
    }
    assert_int_equal(fake.busy_marks, 0);
    flush_close(&f);
    tape_free(r.tape);
    batch_free(&b);
    assert_int_equal(fake.allocated, 0);
}

TEST(test_launching)
{
    static struct fake fake;
    struct batch b = batch_er(10, 1);
    struct recording r = step_record(&b, &fake);
    struct row_program p;
    launching_measure(r.tape, &p);
    assert_true(p.launch.n >= 3 && p.launch.median > 0);
    assert_int_equal(p.launch.entries, tape_entry_count(r.tape));
    assert_int_equal(fake.launches, 0);
    tape_capture(r.tape);
    launching_measure(r.tape, &p);
    assert_int_equal(fake.launches, p.launch.n); /* of the graph, each waited for */
    assert_false(fake.pending);
    tape_free(r.tape);
    batch_free(&b);
}

/* Runs of single launches beside a captured graph, which they leave alone. */
TEST(test_launched)
{
    static struct fake fake;
    struct batch b = batch_er(10, 1);
    struct recording r = step_record(&b, &fake);
    tape_capture(r.tape);
    struct row_program to;
    double seconds[PHASES][EAGER_MAX];
    eager_measure(r.tape, 0, &to, seconds);
    assert_int_equal(to.eager.n, EAGER_MIN);
    assert_int_equal(fake.launches, 0);
    assert_true(to.eager.host > 0 && to.eager.min > 0 && to.eager.min <= to.eager.median);
    for (enum phase p = 0; p < PHASES; p++) {
        double median = summarize(seconds[p], EAGER_MIN).median;
        assert_true(median > 0 && median <= to.eager.median);
    }
    tape_free(r.tape);
    batch_free(&b);
}

static double number_at(const struct value *json, const char *way, const char *field)
{
    return real_in(value_get(json, way), field);
}

static void check_way(const struct value *json, const char *way, bool pinned)
{
    assert_true(number_at(json, way, "pageable") > 0);
    assert_true(number_at(json, way, "latency") > 0);
    assert_int_equal(number_at(json, way, "pinned") > 0, pinned);
    assert_int_equal(is_null_in(value_get(json, way), "pinned"), !pinned);
}

TEST(test_transfers)
{
    static struct fake fake;
    struct device_choice d = on_fake(&fake);
    for (int pinned = 0; pinned < 2; pinned++) {
        fake.no_pinned = !pinned;
        fake.reads = fake.writes = 0;
        struct value *json = transfer_json(&d);
        check_way(json, "to_device", pinned);
        check_way(json, "from_device", pinned);
        assert_int_equal(value_get(json, "missing") == NULL, pinned);
        assert_true(fake.reads > 0 && fake.reads == fake.writes);
        value_free(json);
    }
    fake.allocated = FAKE_MEMORY;
    struct value *json = transfer_json(&d);
    assert_true(is_null_in(json, "to_device"));
    assert_string_equal(text_in(json, "missing"), "no memory for the blocks");
    value_free(json);
    assert_int_equal(fake.allocated - FAKE_MEMORY + fake.pinned, 0);
}

#define TINY "--nodes 8 --hidden 16 --heads 2 --layers 1 --runs 3 --warmup 1 --phase step "

/* On the host, cold samples are taken if requested, also for programs sampled in turns. */
TEST(test_rows)
{
    static const char *const flags[] = {TINY "--cold 2", TINY "--cold 2 --repetitions 2"};
    for (int i = 0; i < 2; i++) {
        struct record *record = run_json(*state, flags[i], 0);
        const struct row *row = row_at(record, 0);
        double median;
        if (row_get_real(row, "step.cold.median", &median)) {
            assert_int_equal(count_at(row, "step.cold.n"), 2);
            assert_true(count_at(row, "step.cold.flushed") > 0);
            assert_true(real_at(row, "step.cold.min") <= real_at(row, "step.cold.median"));
        } else {
            assert_null_because(row, "step.cold.median", "cache");
        }
        assert_absent(row, "step.launch.median");
        record_free(record);
    }
    struct record *record = run_json(*state, TINY, 0);
    assert_absent(row_at(record, 0), "step.cold.n");
    record_free(record);
}

GROUP("tests", house_setup, house_teardown)

static int noted[DTYPES];

/* Operands of the products by which a GPU's peak rates are measured are neither constant nor of one sign. */
static void note_product(const void *args)
{
    const struct linear_args *a = args;
    const struct mat operands[] = {a->x, a->w};
    enum { LOOKED_AT = 64 };
    for (int o = 0; o < 2; o++) {
        int repeated = 0, negative = 0;
        for (int64_t k = 1; k <= LOOKED_AT; k++) {
            double value = mat_get(operands[o], operands[o].rows - 1, k);
            repeated += value == mat_get(operands[o], operands[o].rows - 1, k - 1);
            negative += value < 0;
        }
        assert_true(repeated < LOOKED_AT / 8);
        assert_true(negative > LOOKED_AT / 8 && negative < LOOKED_AT * 7 / 8);
    }
    noted[a->x.dtype]++;
}

/* `uniform` in bf16, for which the CPU has no kernel without scratch. */
static void draw(const void *args)
{
    const struct uniform_args *a = args;
    for (int64_t i = 0; i < mat_size(a->y); i++)
        mat_set(a->y, 0, i, a->bound * ((double)(i * 7919 % 1009) / 504 - 1));
}

TEST(test_products_of_peak_rates)
{
    static const struct kernel rows[] = {{.op = OP_linear, .dtype = F32, .bits = 24, .run = note_product},
                                         {.op = OP_linear, .dtype = F32, .bits = 11, .run = note_product},
                                         {.op = OP_linear, .dtype = BF16, .bits = 8, .run = note_product},
                                         {.op = OP_uniform, .dtype = BF16, .bits = 8, .run = draw}};
    static struct fake fake = {.allocated = FAKE_MEMORY - (16 << 20)};
    struct backend b = backend_fake;
    b.kernels = rows;
    b.count = sizeof rows / sizeof *rows;
    b.base = backend_cpu();
    struct device_choice d = on_fake(&fake);
    struct calibration c;
    struct message error;
    d.backend = &b;
    assert_true(calibrate_device(&d, 1, &c, &error));
    assert_true(c.peak > 0 && c.tf32 > 0 && c.bf16 > 0);
    assert_true(noted[F32] > 0 && noted[BF16] > 0);
}
