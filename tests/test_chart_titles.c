/* Titles of charts: true of the data, left open where its intervals leave it open, and never too long. */
#include "analysis/charts/chart.h"
#include "analysis/charts/frame.h"
#include "analysis/charts/profile_chart.h"
#include "analysis/charts/style.h"
#include "analysis/charts/text_width.h"
#include "analysis/record/profile.h"
#include "tests/chart_directory.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

/* Draws a sweep of steps whose times follow N^1.5 with this spread, and the last of which takes `last` times
 * as long. The first `noisy` rows from the end are noisy. */
static void draw_times(const struct chart_directory *p, const int64_t *sizes, size_t count, double last,
                       double spread, size_t noisy)
{
    char message[MESSAGE_SIZE];
    struct record *record = empty_record();
    for (size_t i = 0; i < count; i++) {
        struct row *row = good_row(sizes[i]);
        set_time(row, "step.time", 1e-6 * pow((double)sizes[i], 1.5) * (i + 1 == count ? last : 1), spread);
        row_set_null(row, "step.flops.analytic", "not needed");
        if (i + noisy >= count)
            row_set_text(row, "step.time.noisy", "made up");
        assert_true(record_add(record, row, message));
    }
    chart_draw(record, schema_find("nodes"), p->prefix, message);
    record_free(record);
}

/* True, false and left open. */
static void test_titles_claim_what_is_known(void **state)
{
    static const int64_t sizes[] = {100, 400, 1600};
    static const struct {
        size_t count;
        double last, spread;
        size_t noisy;
        const char *title;
    } known[] = {
        {2, 1, 0, 0,
         "A training step takes 1.00 ms at 100 nodes and 8.00 ms at 400; between 100 and 400 it grows as "
         "N^{1.5}"},
        {3, 1, 0.02, 0,
         "A training step takes 1.00 ms at 100 nodes and 64.0 ms at 1600; between 400 and 1600 it grows as "
         "N^{1.5}"},
        {3, 0.125, 0.02, 0, /* the interval of the exponent lies around 0, but beyond what is flat */
         "A training step takes 1.00 ms at 100 nodes and 8.00 ms at 1600; between 400 and 1600 it hardly "
         "changes"},
        {3, 0.01, 0, 0,
         "A training step takes 1.00 ms at 100 nodes and 640 µs at 1600; between 400 and 1600 it falls as "
         "N^{-1.8}"},
        {3, 1, 0.5, 0, /* left open */
         "A training step takes 500 µs to 1.50 ms at 100 nodes and 32.0 ms to 96.0 ms at 1600"},
        {3, 1, 0, 1, /* the noisy row takes no part */
         "A training step takes 1.00 ms at 100 nodes and 8.00 ms at 400; between 100 and 400 it grows as "
         "N^{1.5}"},
        {3, 1, 0, 2, "A training step takes 1.00 ms at 100 nodes"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        draw_times(*state, sizes, known[i].count, known[i].last, known[i].spread, known[i].noisy);
        assert_title(*state, "_time.gp", known[i].title);
    }
    draw_times(*state, sizes, 3, 1, 0, 1);
    char *script = content(*state, "_time.gp");
    assert_in(script, "crosses: noisy times, in no curve and no finding");
    assert_in(script, "\n1600 0.064 0.064 0.064 1\n");
    free(script);
}

/* One size: bars. */
static void test_bars(void **state)
{
    static const int64_t sizes[] = {1};
    char message[MESSAGE_SIZE];
    const struct chart_directory *p = *state;
    struct record *record = empty_record();
    struct row *row = good_row(1); /* the singular */
    set_time(row, "step.time", 3e-3, 0);
    set_time(row, "forward.time", 1e-3, 0);
    assert_true(record_add(record, row, message));
    chart_draw(record, NULL, p->prefix, message);
    assert_title(p, "_time.gp", "A training step takes 3.00 ms and a forward pass 1.00 ms at 1 node");
    char *script = content(p, "_time.gp");
    assert_in(script, style_bars);
    assert_in(script, "set ytics (\"step\" 0, \"forward\" 1)");
    assert_in(script, "\n0 0.003 0.003 0.003 1 0 \"3.00 ms\"\n");
    free(script);
    draw_times(p, sizes, 1, 1, 0, 1);
    assert_title(p, "_time.gp", "A forward pass takes 115 µs at 1 node"); /* the step is noisy */
    script = content(p, "_time.gp");
    assert_in(script, " (noisy)\"\n");
    free(script);
    record_free(record);
}

/* Several combinations at one size: the extremes are named if their intervals are apart. */
static void test_bars_of_combinations(void **state)
{
    static const char *const acts[] = {"gelu", "relu", "gelu_tanh"};
    static const struct {
        double factor, spread;
        bool noisy; /* the last */
        const char *title;
    } known[] = {
        {2, 0.01, false, "A training step takes from 1.00 ms (gelu) to 4.00 ms (gelu\\\\_tanh) at 500 nodes"},
        {2, 0.01, true, "A training step takes from 1.00 ms (gelu) to 2.00 ms (relu) at 500 nodes"},
        {1.01, 0.2, false, "A training step takes from 1.00 ms to 1.02 ms at 500 nodes"},
        {1.1, 0.12, false,
         "A training step takes from 1.00 ms to 1.21 ms at 500 nodes"}, /* neighbours overlap */
        {1, 0, false, "A training step takes 1.00 ms in all 3 cases at 500 nodes"},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        char message[MESSAGE_SIZE];
        struct record *record = empty_record();
        for (int i = 0; i < 3; i++) {
            struct row *row = good_row(500);
            row_set_text(row, "act", acts[i]);
            set_time(row, "step.time", 1e-3 * pow(known[k].factor, i), known[k].spread);
            if (known[k].noisy && i == 2)
                row_set_text(row, "step.time.noisy", "made up");
            assert_true(record_add(record, row, message));
        }
        chart_draw(record, NULL, ((struct chart_directory *)*state)->prefix, message);
        assert_title(*state, "_time.gp", known[k].title);
        record_free(record);
    }
}

/* The longest names are shortened until the title fits two lines; what is not drawn is named. */
static void test_long_titles_and_many_series(void **state)
{
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE], name[AXES_TEXT];
    struct record *record = empty_record();
    for (int i = 0; i < 8; i++)
        for (int64_t nodes = 100; nodes <= 400; nodes *= 2) {
            struct row *row = good_row(nodes);
            memset(name, 'W', sizeof name);
            name[i == 0 ? 200 : i + 1] = '\0';
            row_set_text(row, "graph.family", name);
            assert_true(record_add(record, row, message));
        }
    chart_draw(record, NULL, p->prefix, message);
    char *script = content(p, "_time.gp"), *title;
    assert_in(script, "series = 6\n");
    assert_in(script, "not drawn: step, WWWWWWW graph; step, WWWWWWWW gr");
    assert_in(script, "; and 4 more\\n");
    assert_in(script, "titles = 2\n");
    title = title_of(script);
    assert_true(frame_fits(title));
    assert_in(title, "A training step (WWWW");
    assert_in(title, "...) takes ");
    assert_in(title, " at 100 nodes and ");
    free(title);
    free(script);
    record_free(record);
}

static void test_wrapping(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wrapped;
        double width;
        size_t lines, used;
    } cases[] = {
        {"", "", 10, 2, 0},
        {"one two", "one two", 10, 2, 1},
        {"one two three", "one two\nthree", 6, 2, 2},
        {"one two three four five", "one two\nthree...", 6, 2, 2},
        {"unbreakable", "unbrea\nkable", 4.2, 2, 2},
        {"unbreakable", "unbr...", 4, 1, 1},
        {"x µµµµ", "x...", 2.5, 1, 1},
        {"N^{1.72} y", "N^{1.72} y", 4.9, 1, 1}, /* markup has no width */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", cases[i].text);
        assert_int_equal(text_wrap(text, sizeof text, cases[i].width, cases[i].lines), cases[i].used);
        assert_string_equal(text, cases[i].wrapped);
    }
}

/* A chart of a profile names the op with the largest share, and has bars of its ops and of their ceilings. */
static void test_profile(void **state)
{
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE], span[] = "layer1";
    struct record *record = empty_record();
    struct row *row = good_row(500);
    struct profile_entry entries[] = {
        {"linear_backward", "simd", "backward", span, 3, 1, "compute", 1, 1, 1, {0}},
        {"add", "simd", "forward", span, 1, NAN, NULL, 1, 1, 1, {0}},
    };
    assert_true(record_add(record, row, message));
    assert_int_equal(profile_chart_draw(record, p->prefix, message), CHART_SKIPPED);
    assert_string_equal(message, "");
    profile_write(&(struct profile){10, 1, entries, ""}, row, "step");
    profile_chart_draw(record, p->prefix, message);
    assert_title(p, "_profile.gp", "A training step spends 100 % of its time in linear\\\\_backward");
    char *script = content(p, "_profile.gp");
    assert_in(script, "bars = 2");
    assert_in(script, "at the ceilings");
    free(script);
    profile_write(&(struct profile){10, 2, entries, ""}, row,
                  "step"); /* the ceilings of one op are not known */
    profile_chart_draw(record, p->prefix, message);
    assert_title(p, "_profile.gp", "A training step spends 75 % of its time in linear\\\\_backward");
    record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_titles_claim_what_is_known, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_bars, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_bars_of_combinations, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_long_titles_and_many_series, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_profile, make_directory, remove_directory),
        cmocka_unit_test(test_wrapping),
    };
    return cmocka_run_group_tests(tests, hide_gnuplot, NULL);
}
