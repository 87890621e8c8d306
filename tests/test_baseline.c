/* An older file as a baseline: drift, margins, verdicts, and exit statuses. */
#include "analysis/record/result_file.h"
#include "bench/sweep/gates.h"
#include "kernels/rng.h"
#include "tests/files.h"
#include "tests/records.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

#define TINY "--nodes 8,16 --hidden 16 --heads 2 --layers 1 --runs 10 --threads 1 "

enum { SAMPLES = 30 };

/* A row whose samples have this many percent of noise, and drift linearly by a share of their middle. */
static struct row *row_of(double middle, double percent, double drift, uint64_t key)
{
    double samples[SAMPLES];
    struct row *row = good_row(500);
    for (int i = 0; i < SAMPLES; i++) {
        double u = (double)(rng_bits(key, (uint64_t)i) >> 11) * 0x1p-53;
        samples[i] = middle * (1 + percent / 100 * (2 * u - 1) + drift * ((double)i / SAMPLES - 0.5));
    }
    row_set_samples(row, "forward.time", samples, SAMPLES);
    return row;
}

static int judged_as(struct lenience how, struct row *base, struct row *now, char **text)
{
    static const bool forward[PROGRAMS] = {true};
    size_t size;
    struct rows *old = rows_of(base, NULL, NULL), *new = rows_of(now, NULL, NULL);
    FILE *out = open_memstream(text, &size);
    int misses = baseline_judge(old, new, forward, how, out);
    fclose(out);
    rows_free(old);
    rows_free(new);
    return misses;
}

static int judged(struct row *base, struct row *now, char **text)
{
    return judged_as((struct lenience){0}, base, now, text);
}

TEST(test_verdicts)
{
    int alarms = 0, caught = 0;
    char *text;
    for (uint64_t key = 0; key < 100; key++) {
        alarms += judged(row_of(1, 4, 0, key), row_of(1, 4, 0, key + 1000), &text);
        free(text);
        caught += judged(row_of(1, 4, 0, key), row_of(1.2, 4, 0, key + 1000), &text);
        free(text);
    }
    assert_int_equal(alarms, 0);
    assert_int_equal(caught, 100);
    /* 10 % slower, but this run or the older one drifted more */
    assert_int_equal(judged(row_of(1, 0.5, 0, 1), row_of(1.1, 0.5, 0, 2), &text), 1);
    assert_non_null(strstr(text, "]  slower"));
    free(text);
    assert_int_equal(judged(row_of(1, 0.5, 0, 1), row_of(1.1, 0.5, 0.25, 2), &text), 0);
    free(text);
    assert_int_equal(judged(row_of(1, 0.5, 0.25, 1), row_of(1.1, 0.5, 0, 2), &text), 0);
    free(text);
}

/* Row i's samples are 1 - half, 1 and 1 + half in turn, times a factor: the interval is that wide. */
static struct row *wide(double factor, double half)
{
    double samples[SAMPLES];
    struct row *row = good_row(500);
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = factor * (1 + half * (i % 3 - 1));
    row_set_samples(row, "forward.time", samples, SAMPLES);
    return row;
}

/* The range's end decides, not the ratio: 8 % slower with a range that reaches to 3 % is within 5 %. */
TEST(test_whole_interval)
{
    static const struct lenience strict = {.strict = true};
    char *text;
    assert_int_equal(judged(wide(1, 0.01), wide(1.08, 0.01), &text), 1);
    assert_non_null(strstr(text, "missed: 1 slower\n"));
    free(text);
    assert_int_equal(judged(wide(1, 0.03), wide(1.08, 0.03), &text), 0);
    assert_non_null(strstr(text, " [0.9"));
    assert_non_null(strstr(text, "note: 1 inconclusive; --gate strict makes this a miss\n"));
    free(text);
    assert_int_equal(judged_as(strict, wide(1, 0.03), wide(1.08, 0.03), &text), 1);
    assert_non_null(strstr(text, "missed: 1 inconclusive (--gate strict)\n"));
    free(text);
    assert_int_equal(judged_as(strict, wide(1, 0.03), wide(0.88, 0.03), &text), 0);
    assert_non_null(strstr(text, "faster"));
    assert_null(strstr(text, "1 inconclusive; --gate"));
    free(text);
    assert_int_equal(judged_as(strict, wide(1, 0.01), wide(1, 0.01), &text), 0);
    assert_non_null(strstr(text, "same"));
    free(text);
}

/* A few turns that are far apart are inconclusive; with --gate strict that is a miss. */
TEST(test_few_turns)
{
    static const struct lenience strict = {.strict = true};
    for (int i = 0; i < 2; i++) {
        char *text;
        struct row *base = good_row(500), *now = good_row(500);
        row_set_samples(base, "forward.time", (const double[]){1, 1.01, 1.02}, 3);
        row_set_samples(now, "forward.time",
                        i ? (const double[]){0.5, 0.51, 0.52} : (const double[]){2, 2.1, 2.2}, 3);
        assert_int_equal(judged(row_copy(base), row_copy(now), &text), 0);
        assert_non_null(strstr(text, "\ninconclusive: 3 and 3 repetitions are too few"));
        assert_non_null(strstr(text, "note: 1 inconclusive"));
        free(text);
        assert_int_equal(judged_as(strict, base, now, &text), 1);
        free(text);
    }
}

/* What was not compared is a miss unless it is allowed; if nothing was judged, in any case. */
TEST(test_uncompared)
{
    static const struct lenience allowed = {.allow_uncompared = true};
    static const bool forward[PROGRAMS] = {true};
    for (int allow = 0; allow < 2; allow++) {
        struct row *new = good_row(1000), *few = wide(1, 0.01);
        row_set_text(new, "work", "fedcba9876543210");
        row_set_text(few, "work", "fedcba9876543211");
        struct rows *old = rows_of(wide(1, 0.01), row_copy(few), NULL);
        row_omit(few, "forward", "it ran out of time");
        struct rows *now = rows_of(wide(1, 0.01), few, new);
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_int_equal(baseline_judge(old, now, forward, allow ? allowed : (struct lenience){0}, out),
                         allow ? 0 : 2);
        fclose(out);
        char *joined = unwrapped(text);
        assert_non_null(strstr(joined, "it ran out of time"));
        free(joined);
        assert_non_null(strstr(text, "not in A"));
        assert_non_null(strstr(text, allow
                                         ? "note: 2 not compared (--gate allow-uncompared)\n"
                                         : "missed: 2 not compared; --gate allow-uncompared accepts this\n"));
        free(text);
        rows_free(old);
        rows_free(now);
    }
}

/* A wide range tolerates a difference, but does not make the verdict "same". */
TEST(test_same_is_narrow)
{
    char *text;
    assert_int_equal(judged(row_of(1, 0.5, 0.9, 1), row_of(1.2, 0.5, 0, 2), &text), 0);
    assert_non_null(strstr(text, "  inconclusive\n"));
    free(text);
    assert_int_equal(judged(row_of(1, 0.5, 0, 1), row_of(1, 0.5, 0, 2), &text), 0);
    assert_non_null(strstr(text, "same"));
    free(text);
}

TEST(test_other_threads_are_noted)
{
    char *text;
    struct row *now = row_of(1, 0.5, 0, 2);
    judged(row_of(1, 0.5, 0, 1), row_copy(now), &text);
    assert_null(strstr(text, "note"));
    free(text);
    int64_t threads = count_at(now, "threads");
    row_set_count(now, "threads", threads + 1);
    judged(row_of(1, 0.5, 0, 1), now, &text);
    char note[64];
    snprintf(note, sizeof note, "note: threads %d, in the baseline %d", (int)threads + 1, (int)threads);
    assert_non_null(strstr(text, note));
    free(text);
}

static struct row *encoded(double factor, uint64_t key)
{
    double samples[SAMPLES];
    struct row *row = row_of(1, 0.5, 0, key);
    const struct items forward = row->forward.time.samples;
    assert_true(forward.count > 0 && forward.count <= SAMPLES);
    for (size_t i = 0; i < forward.count; i++)
        samples[i] = factor * forward.reals[i];
    row_set_samples(row, "encoding.time", samples, forward.count);
    return row;
}

TEST(test_encodings)
{
    char *text;
    assert_int_equal(judged(encoded(1, 1), encoded(1, 2), &text), 0);
    assert_non_null(strstr(text, "encoding"));
    free(text);
    assert_int_equal(judged(encoded(1, 1), encoded(1.2, 2), &text), 1);
    free(text);
    assert_int_equal(judged(row_of(1, 0.5, 0, 1), row_of(1, 0.5, 0, 2), &text), 0);
    assert_null(strstr(text, "encoding"));
    free(text);
    for (int left_out = 0; left_out < 2; left_out++) { /* in this run, in the baseline */
        assert_int_equal(judged(left_out ? row_of(1, 0.5, 0, 1) : encoded(1, 1),
                                left_out ? encoded(1, 2) : row_of(1, 0.5, 0, 2), &text),
                         1);
        assert_non_null(strstr(text, "missed: 1 not compared"));
        free(text);
    }
}

TEST(test_no_partner)
{
    char *text;
    struct row *other = good_row(1000);
    row_set_text(other, "work", "fedcba9876543210");
    assert_int_equal(judged_as((struct lenience){.allow_uncompared = true}, other, good_row(500), &text), 1);
    assert_non_null(strstr(text, "not in A"));
    assert_non_null(strstr(text, "nothing could be compared"));
    free(text);
}

/* A baseline with this run's times, multiplied by a factor. */
static void plant(const struct house *h, double factor)
{
    struct record *record = run_json(h, TINY "--output plant.json", 0);
    for (size_t r = 0; r < row_count(record); r++) {
        struct row *row = row_at(record, r);
        for (enum program_kind p = 0; p < MODEL_PROGRAMS; p++) {
            char path[SCHEMA_PATH];
            double samples[10];
            const struct items measured = row_timed(row, p)->samples;
            assert_true(measured.count > 0 && measured.count <= 10);
            for (size_t i = 0; i < measured.count; i++)
                samples[i] = factor * measured.reals[i];
            snprintf(path, sizeof path, "%s.time", program_name(p));
            row_set_samples(row, path, samples, measured.count);
            row_timed(row, p)->lost = 0; /* also where the machine's load is the test's */
        }
    }
    char path[160], error[MESSAGE_SIZE];
    snprintf(path, sizeof path, "%s/base.json", h->work);
    assert_true(record_save(record, path, error));
    record_free(record);
}

TEST(test_runs)
{
    static const char *const line = TINY "--output x.json --baseline base.json";
    plant(*state, 1e-6);
    struct ended e = run_words(*state, TINY "--output x.json --baseline base.json --gate strict", 1);
    assert_true(strstr(e.err, "slower") || strstr(e.err, "inconclusive")); /* as noisy as the machine */
    ended_free(&e);
    plant(*state, 1e6);
    e = run_words(*state, line, 0);
    assert_null(strstr(e.err, "slower"));
    ended_free(&e);
}

GROUP("tests", house_setup, house_teardown)
