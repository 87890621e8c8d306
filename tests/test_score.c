/* The score of a machine: what it is, and each reason for which there is none. */
#include "analysis/compare/score.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

static const struct {
    int class;
    const char *hash;
    double forward, step;
} works[] = {
#define CLASS(id, name)
#define WORK(class_id, name, hash, forward, step) {SCORE_##class_id, hash, forward, step},
#include "analysis/compare/score.def"
};
enum { WORKS = sizeof works / sizeof *works, TURNS = 10 };

/* Times of ten turns; those of a training step with this spread. */
static void set_times(struct row *row, const char *group, double seconds, double spread)
{
    double samples[TURNS];
    for (int i = 0; i < TURNS; i++)
        samples[i] = seconds * (1 + spread * ((i + 0.5) / TURNS - 0.5));
    row_set_samples(row, group, samples, TURNS);
}

/* What a machine measures that is `faster` than that of the constants in one class. */
static struct record *measured(int class, double faster, double spread)
{
    struct value *head = value_new_object();
    value_set_text(head, "commit", "0123456789ab");
    struct record *record = record_new("bench_node_scaling", "bench_node_scaling", head);
    for (int w = 0; w < WORKS; w++) {
        struct row *row = good_row(100);
        double factor = works[w].class == class ? faster : 1;
        row_set_text(row, "work", works[w].hash);
        row_set_real(row, "noise.lost", 0.01);
        set_times(row, "forward.time", works[w].forward / factor, 0.01);
        set_times(row, "step.time", works[w].step / factor, spread);
        add_row(record, row);
    }
    return record;
}

static struct score score_and_free(struct record *record)
{
    struct score s = score_of(&record, 1);
    record_free(record);
    return s;
}

TEST(test_constants_are_100)
{
    struct score s = score_and_free(measured(-1, 1, 0.01));
    assert_string_equal(s.why, "");
    assert_true(fabs(s.all - 100) < 0.01);
    for (int c = 0; c < SCORE_CLASSES; c++)
        assert_true(fabs(s.of[c] - 100) < 0.01);
}

TEST(test_mean_of_classes)
{
    for (int c = 0; c < SCORE_CLASSES; c++) {
        struct score s = score_and_free(measured(c, 8, 0.01));
        assert_true(fabs(s.all - 200) < 0.02);
        for (int k = 0; k < SCORE_CLASSES; k++)
            assert_true(fabs(s.of[k] - (k == c ? 800 : 100)) < 0.1);
    }
}

static void assert_no_score(struct record *record, const char *why)
{
    struct score s = score_and_free(record);
    if (!strstr(s.why, why))
        fail_msg("'%s', not '%s'", s.why, why);
    assert_true(isnan(s.all));
}

/* A record in which the last row has been changed. */
#define CHANGED(statement)                                                                                   \
    struct record *record = measured(-1, 1, 0.01);                                                           \
    struct row *row = rows_at(record_rows(record), WORKS - 1);                                               \
    statement

TEST(test_rows_that_are_not_sound)
{
    {
        CHANGED(row_set_text(row, "work", "0000000000000000"));
        assert_no_score(record, "no row of 100,000 nodes");
    }
    {
        CHANGED(row_set_text(row, "status", "oom"); row_set_text(row, "reason", "no memory"));
        assert_no_score(record, "100,000 nodes is oom: no memory");
    }
    {
        CHANGED(uncheck(row, "--no-check"));
        assert_no_score(record, "was not checked: --no-check");
    }
    {
        CHANGED(row_set_text(row, "dtype", "f64"));
        assert_no_score(record, "not in f32");
    }
    {
        CHANGED(row_omit(row, "step", "not asked for"));
        assert_no_score(record, "step was not timed");
    }
    {
        CHANGED(row->step.time.lost = 1);
        assert_no_score(record, "all of the time may have been lost to other programs");
    }
    {
        CHANGED(row_set_count(row, "threads", 3));
        assert_no_score(record, "of cpu with 2 threads and of cpu with 3");
    }
    {
        CHANGED(row_set_text(row, "device", "cuda:0"));
        assert_no_score(record, "of cpu with 2 threads and of cuda:0 with 2");
    }
}

/* The score's range: of the longest and of the shortest times. */
TEST(test_range)
{
    struct score narrow = score_and_free(measured(-1, 1, 0.01)), wide = score_and_free(measured(-1, 1, 0.5));
    assert_true(narrow.low > 97 && narrow.low < 100 && narrow.high > 100 && narrow.high < 103);
    assert_true(wide.low < 91 && wide.low > 80 && wide.high > 110 && wide.high < 120 &&
                fabs(wide.all - 100) < 0.01);
}

TEST(test_builds_that_are_not_sound)
{
    struct value *impl = value_new_object(), *settings = value_new_object();
    struct record *record = measured(-1, 1, 0.01);
    value_set_text(record_head(record), "commit", "0123456789ab-dirty");
    assert_no_score(record, "no commit");
    record = measured(-1, 1, 0.01);
    value_set_text(impl, "linear", "simd");
    value_set(settings, "impl", impl);
    value_set(record_head(record), "settings", settings);
    assert_no_score(record, "--impl");
    struct record *two[] = {measured(-1, 1, 0.01), measured(-1, 1, 0.01)};
    value_set_text(record_head(two[1]), "commit", "ba9876543210");
    assert_non_null(strstr(score_of(two, 2).why, "differ in commit: 0123456789ab and ba9876543210"));
    record_free(two[0]);
    record_free(two[1]);
}

GROUP("score", NULL, NULL)
