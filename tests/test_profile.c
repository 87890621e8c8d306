/* The profile of a program: in a row, as sums, as comma-separated values, and against the program's totals.
 */
#include <math.h>

#include "analysis/compare/compare.h"
#include "analysis/tables/profile_table.h"
#include "bench/show/profile.h"
#include "tests/records.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

enum { ENTRIES = 4 };

static struct profile made_up(bool ceilings)
{
    static char spans[ENTRIES][16] = {"input", "layer1.ffn.up", "layer2.ffn.up", "head"};
    static struct profile_entry e[ENTRIES];
    for (int i = 0; i < ENTRIES; i++)
        e[i] = (struct profile_entry){.op = i == 3 ? "pool" : "linear",
                                      .variant = "ref",
                                      .phase = i < 2 ? "forward" : "backward",
                                      .span = spans[i],
                                      .seconds = 1 + i,
                                      .least = ceilings ? 0.5 : NAN,
                                      .bound = !ceilings ? NULL
                                               : i == 3  ? "memory"
                                                         : "compute",
                                      .flops = INT64_MAX / 8 + i,
                                      .bytes = 100 * i,
                                      .live = 7,
                                      .live_of = {4, 0, 0, 0, 0, 0, 3}};
    return (struct profile){.runs = 10, .count = ENTRIES, .entries = e, .ceilings = "100 GFLOP/s"};
}

static struct row *row_with(const struct profile *p)
{
    struct row *row = row_new();
    char error[MESSAGE_SIZE];
    row_set_text(row, "status", "ok");
    row_set_text(row, "reason", "");
    set_axes(row, 500);
    profile_write(p, row, TIMED_STEP);
    if (!row_validate(row, error))
        fail_msg("%s", error);
    return row;
}

TEST(test_row)
{
    for (int ceilings = 0; ceilings < 2; ceilings++) {
        struct profile in = made_up(ceilings), out, none;
        struct row *row = row_with(&in);
        assert_true(profile_read(&out, row, TIMED_STEP));
        assert_int_equal(out.runs, 10);
        assert_int_equal(out.count, ENTRIES);
        for (int i = 0; i < ENTRIES; i++) {
            assert_string_equal(out.entries[i].span, in.entries[i].span);
            assert_string_equal(out.entries[i].op, in.entries[i].op);
            assert_string_equal(out.entries[i].phase, in.entries[i].phase);
            assert_true(out.entries[i].seconds == in.entries[i].seconds);
            assert_int_equal(out.entries[i].flops, in.entries[i].flops); /* exactly */
            assert_int_equal(out.entries[i].live, 7);
            assert_int_equal(out.entries[i].live_of[6], 3);
            assert_true(ceilings ? out.entries[i].least == 0.5 : isnan(out.entries[i].least));
            assert_true(ceilings == (out.entries[i].bound != NULL));
        }
        assert_false(profile_read(&none, row, TIMED_FORWARD));
        assert_null(none.entries);
        profile_free(&out);
        row_free(row);
    }
}

/* Lists of different lengths, and a list that must not be null. */
TEST(test_malformed)
{
    struct profile in = made_up(true), out;
    struct row *row = row_with(&in);
    row->step.profile.least = row_keep_items(row, (double[]){1, 2}, 2, FIELD_REALS);
    assert_false(profile_read(&out, row, TIMED_STEP));
    row_omit(row, "step.profile.least", "made up");
    assert_true(profile_read(&out, row, TIMED_STEP));
    profile_free(&out);
    row_omit(row, "step.profile.span", "made up");
    assert_false(profile_read(&out, row, TIMED_STEP));
    assert_int_equal(out.count, 0);
    row_free(row);
}

TEST(test_groups)
{
    struct profile p = made_up(true);
    size_t n;
    struct profile_group total = profile_total(&p), *g = profile_groups(&p, PROFILE_OP, PROFILE_LONGEST, &n);
    assert_int_equal(n, 2);
    assert_string_equal(g[0].key, "linear"); /* 6 s before 4 */
    assert_int_equal(g[0].calls, 3);
    assert_true(g[0].seconds == 6 && g[0].least == 1.5 && g[0].memory == 0);
    assert_true(g[1].seconds == 4 && g[1].memory == 0.5);
    assert_int_equal(g[0].flops + g[1].flops, total.flops);
    assert_int_equal(total.bytes, 600);
    assert_true(total.seconds == 10);
    free(g);
    g = profile_groups(&p, PROFILE_PART, PROFILE_AS_RUN, &n);
    assert_int_equal(n, 3);
    assert_string_equal(g[1].key, "ffn.up linear");
    free(g);
    g = profile_groups(&p, PROFILE_LAYER, PROFILE_AS_RUN, &n);
    assert_int_equal(n, ENTRIES);
    assert_string_equal(g[1].key, "layer1");
    free(g);
    p.entries[0].span = (char[]){"layer3"}; /* of no part */
    g = profile_groups(&p, PROFILE_PART, PROFILE_AS_RUN, &n);
    assert_string_equal(g[0].key, "layer linear");
    free(g);
    p.entries[0].flops = INT64_MAX; /* the sum exceeds 63 bits */
    assert_int_equal(profile_total(&p).flops, -1);
    p.entries[0].least = NAN;
    assert_true(isnan(profile_total(&p).least));
}

TEST(test_csv)
{
    struct profile p = made_up(false);
    struct row *row = row_with(&p);
    char *text = NULL;
    size_t size, lines = 0;
    FILE *out = open_memstream(&text, &size);
    profile_csv(out, row);
    fclose(out);
    for (const char *c = text; (c = strchr(c, '\n')); c++)
        lines++;
    assert_int_equal(lines, ENTRIES);
    assert_non_null(strstr(
        text, ",step,1,layer1.ffn.up,linear,ref,forward,2.0,,,1152921504606846976,100,7,4,0,0,0,0,0,3,0\n"));
    free(text);
    row_free(row);
}

/* A row whose step takes `seconds` in all, of which attention takes all but 1 s. */
static struct rows *step_of(double seconds, bool profiled)
{
    struct rows *rows = rows_new();
    struct row *row = good_row(500);
    char span[] = "layer1";
    struct profile_entry e[] = {
        {"linear", "ref", "forward", span, 1, NAN, NULL, 1, 1, 1, {0}, NULL},
        {"attention", "ref", "forward", span, seconds - 1, NAN, NULL, 1, 1, 1, {0}, NULL},
    };
    set_equal_turns(row, "step.time", seconds);
    if (profiled)
        profile_write(&(struct profile){.runs = 10, .count = 2, .entries = e, .ceilings = ""}, row,
                      TIMED_STEP);
    rows_append(rows, row);
    return rows;
}

/* What compare_profiles says of two rows. */
static char *compared(struct rows *before, struct rows *after)
{
    char *text = NULL;
    size_t size;
    struct comparison c;
    FILE *out = open_memstream(&text, &size);
    comparison_of_rows(&c, before, after);
    compare_profiles(out, &c);
    comparison_free(&c);
    fclose(out);
    rows_free(before);
    rows_free(after);
    return text;
}

/* The op that changed is named, if the program's verdict says that it is faster or slower, and only then. */
TEST(test_compared)
{
    char *slower = compared(step_of(2, true), step_of(3, true)),
         *same = compared(step_of(2, true), step_of(2, true)),
         *without = compared(step_of(2, false), step_of(3, true));
    assert_string_equal(slower, "B, training step, by op: attention +1.00 s (2x)\n");
    assert_string_equal(same, "");
    assert_string_equal(without, "");
    free(slower);
    free(same);
    free(without);
}

/* Sums of FLOPs and bytes are those of the program, the most live bytes its peak. */
static void check_totals(const struct row *row, size_t kind)
{
    const struct row_program *program = row_program(row, kind);
    struct profile p;
    int64_t live = 0;
    assert_true(profile_read(&p, row, kind));
    struct profile_group total = profile_total(&p);
    assert_int_equal(total.flops, program->flops.analytic);
    assert_int_equal(total.bytes, program->bytes);
    for (size_t i = 0; i < p.count; i++)
        live = p.entries[i].live > live ? p.entries[i].live : live;
    assert_int_equal(live, program->memory.peak_live);
    assert_true(total.seconds > 0);
    profile_free(&p);
}

/* A profile without measured times is read, but is no basis for a finding. */
TEST(test_planned)
{
    struct rows *rows = step_of(2, true);
    struct row *row = rows_at(rows, 0);
    char span[] = "layer1";
    struct profile_entry e[] = {{"linear", "ref", "forward", span, NAN, 1, "memory", 1, 1, 1, {0}, NULL}};
    struct profile p;
    assert_ptr_equal(profile_of_largest(rows, TIMED_STEP, &p), row);
    profile_free(&p);
    profile_write(&(struct profile){.runs = 0, .count = 1, .entries = e, .ceilings = "100 GFLOP/s"}, row,
                  TIMED_STEP);
    assert_null(profile_of_largest(rows, TIMED_STEP, &p));
    assert_true(profile_read(&p, row, TIMED_STEP));
    assert_int_equal(p.runs, 0);
    assert_true(p.entries[0].least == 1 && isnan(p.entries[0].seconds));
    assert_string_equal(p.ceilings, "100 GFLOP/s");
    assert_true(real_at(row, "step.predicted.time") == 1 && real_at(row, "step.predicted.memory_bound") == 1);
    profile_free(&p);
    row_set_count(row, "step.profile.runs", 3); /* but no times */
    assert_false(profile_read(&p, row, TIMED_STEP));
    rows_free(rows);
}

#define TINY "--nodes 16 --hidden 16 --heads 2 --layers 2 --runs 3 --threads 1 --no-check --output x.json "
#define LONGER                                                                                               \
    "--nodes 64 --hidden 32 --heads 2 --layers 2 --runs 10 --threads 1 --no-check --output x.json --phase "  \
    "step "                                                                                                  \
    "--profile"

/* The share of the row's time that the entries take. */
static double check_covered(const struct row *row)
{
    struct profile p;
    double covered = real_at(row, "step.profile.covered"), median = real_at(row, "step.time.median");
    assert_true(profile_read(&p, row, TIMED_STEP));
    assert_true(fabs(covered * median - profile_total(&p).seconds) <= 1e-9 * median);
    profile_free(&p);
    return covered;
}

/* That the entries cover the time of the row holds on an idle machine. */
TEST(test_covered)
{
    struct record *record = run_json(*state, LONGER, 0);
    double covered = check_covered(row_at(record, 0));
    assert_true(covered >= 0.95 || !env_set("GTMARK_SOAK"));
    record_free(record);
}

/* The phases of a step have its statistics, of the same turns and samples. */
static void check_phase(const struct row *row, const char *group)
{
    char path[SCHEMA_PATH];
    const struct row_times *part = row_times(row, group), *step = &row->step.time;
    assert_int_equal(part->samples.count, step->samples.count);
    for (size_t i = 0; i < part->samples.count; i++)
        assert_true(part->samples.reals[i] > 0 && part->samples.reals[i] < step->samples.reals[i]);
    assert_int_equal(part->n, step->n);
    assert_true(part->min <= part->median && part->median <= part->max);
    assert_int_equal(part->repetition_medians.count, step->repetitions);
    snprintf(path, sizeof path, "%s.p99", group);
    assert_absent(row, path);
}

TEST(test_phases)
{
    struct record *record = run_json(*state, TINY "--repetitions 2", 0);
    check_phase(row_at(record, 0), "step.backward.time");
    check_phase(row_at(record, 0), "step.optimizer.time");
    record_free(record);
}

TEST(test_totals)
{
    struct record *record = run_json(*state, TINY "--profile", 0);
    struct profile p;
    size_t n;
    const struct row *row = row_at(record, 0);
    check_totals(row, TIMED_FORWARD);
    check_totals(row, TIMED_STEP);
    assert_null_because(row, "step.profile.least", "no peak rates");
    profile_read(&p, row, TIMED_STEP);
    struct profile_group *phases = profile_groups(&p, PROFILE_PHASE, PROFILE_AS_RUN, &n);
    assert_int_equal(n, 3);
    assert_int_equal(phases[1].flops, count_at(row, "step.backward.flops"));
    assert_int_equal(phases[2].bytes, count_at(row, "step.optimizer.bytes"));
    free(phases);
    profile_free(&p);
    record_free(record);
    record = run_json(*state, TINY, 0);
    assert_absent(row_at(record, 0), "step.profile.op");
    record_free(record);
}

/* A line for each entry of both programs; the flag asks for the profile by itself. */
TEST(test_format)
{
    struct ended e = run_words(*state, TINY "--format csv-profile", 0);
    struct record *record = record_in(*state, "work/x.json");
    size_t entries = 0, lines = 0;
    for (size_t i = 0; i < 2; i++) {
        struct profile p;
        assert_true(profile_read(&p, row_at(record, 0), i));
        entries += p.count;
        profile_free(&p);
    }
    for (const char *c = e.out; (c = strchr(c, '\n')); c++)
        lines++;
    assert_int_equal(lines, entries + 1);
    record_free(record);
    ended_free(&e);
}

/* The time of an entry is the median over the runs: neither the least, nor the mean, nor that of another
 * entry. */
TEST(test_medians)
{
    static const double times[] = {1, 70, 9, 10, 2, 20, 3, 30, 4, 40}; /* five runs of two entries */
    double *medians = profile_medians(times, 5, 2);
    assert_true(medians[0] == 3 && medians[1] == 30);
    free(medians);
    medians = profile_medians(times, 4, 2);
    assert_true(medians[0] == 2.5 && medians[1] == 25);
    free(medians);
}

GROUP("tests", house_setup, house_teardown)
