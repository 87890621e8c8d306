/* What is planned, compared exactly: each kind of growth is found and its first entry named. */
#include "analysis/compare/exact.h"
#include "analysis/record/profile.h"
#include "tests/records.h"
#include "tests/test.h"

#define RUN "--device meta --nodes 20 --hidden 16 --heads 2 --profile --no-charts "

struct plan {
    struct record *record;
    struct row *row;
    struct profile step;
};

static struct plan plan_of(void *house)
{
    struct plan p = {.record = run_json(house, RUN "--layers 2", 0)};
    p.row = rows_at(record_rows(p.record), 0);
    assert_true(profile_read(&p.step, p.row, TIMED_STEP));
    return p;
}

static void free_plan(struct plan *p)
{
    profile_free(&p->step);
    record_free(p->record);
}

/* What is found in two records, with its table. The list is not kept. */
static struct exact compared_rows(const struct record *a, const struct record *b, bool counted, char **text)
{
    struct comparison c;
    size_t size;
    FILE *out = open_memstream(text, &size);
    comparison_of_rows(&c, record_rows(a), record_rows(b));
    struct exact found = exact_compare(&c, counted), counts = found;
    exact_table(out, TABLE_TERMINAL, &c, &found);
    fclose(out);
    exact_free(&found);
    comparison_free(&c);
    counts.list = NULL;
    return counts;
}

/* What is found where B is the plan with its changed profile, and what is said of it. */
static struct exact compared(void *house, struct plan *b, char **text)
{
    struct plan a = plan_of(house);
    profile_write(&b->step, b->row, TIMED_STEP);
    struct exact found = compared_rows(a.record, b->record, true, text);
    free_plan(&a);
    free_plan(b);
    return found;
}

static void assert_says(char *text, const char *what)
{
    if (!strstr(text, what))
        fail_msg("'%s' is not in: %s", what, text);
    free(text);
}

/* Puts a copy of an entry behind it, under another name: an op more. */
static void add_copy(struct profile *p, size_t at)
{
    p->entries = realloc(p->entries, (p->count + 1) * sizeof *p->entries);
    assert_non_null(p->entries);
    memmove(p->entries + at + 1, p->entries + at, (p->count - at) * sizeof *p->entries);
    p->entries[at + 1].op = "copy";
    p->count++;
}

TEST(test_equal)
{
    char *text;
    struct plan b = plan_of(*state);
    struct exact found = compared(*state, &b, &text);
    assert_true(found.equal >= 10 && found.more == 0 && found.less == 0 && found.alone == 0);
    assert_string_equal(text, "");
    free(text);
}

TEST(test_extra_copy)
{
    char *text, named[256];
    struct plan b = plan_of(*state);
    add_copy(&b.step, 7);
    snprintf(named, sizeof named, "%s copy", b.step.entries[8].span);
    b.row->step.bytes += 1024;
    struct exact found = compared(*state, &b, &text);
    assert_int_equal(found.more, 2);
    assert_non_null(strstr(text, "step.bytes"));
    assert_non_null(strstr(text, "step.entries"));
    assert_says(text, named);
}

TEST(test_larger_buffer)
{
    char *text, named[256];
    struct plan b = plan_of(*state);
    b.step.entries[5].live += 64;
    b.row->step.memory.planned += 64;
    snprintf(named, sizeof named, "%s %s", b.step.entries[5].span, b.step.entries[5].op);
    struct exact found = compared(*state, &b, &text);
    assert_int_equal(found.more, 1);
    assert_non_null(strstr(text, "step.memory"));
    assert_says(text, named);
}

/* FLOPs or bytes more of one entry. */
TEST(test_more_of_an_entry)
{
    for (int bytes = 0; bytes < 2; bytes++) {
        char *text, named[256];
        struct plan b = plan_of(*state);
        const struct profile_entry *e = &b.step.entries[3];
        b.step.entries[3].flops += !bytes;
        b.step.entries[3].bytes += bytes;
        b.row->step.flops.analytic += !bytes;
        b.row->step.bytes += bytes;
        snprintf(named, sizeof named, "%s %s", e->span, e->op);
        assert_int_equal(compared(*state, &b, &text).more, 1);
        assert_says(text, named);
    }
}

/* Less is no miss. */
TEST(test_less)
{
    char *text;
    struct plan b = plan_of(*state);
    b.row->forward.memory.peak_live -= 64;
    struct exact found = compared(*state, &b, &text);
    assert_true(found.more == 0 && found.less == 1);
    assert_says(text, "forward.peak");
}

/* Executed FLOPs are compared only where both sides counted alike. */
TEST(test_executed)
{
    static const struct {
        const char *isa;
        int64_t threads;
        size_t more;
    } sides[] = {{"avx2", 1, 1}, {"avx512", 1, 0}, {"avx2", 2, 0}};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        char *text;
        struct plan a = plan_of(*state), b = plan_of(*state);
        a.row->step.flops.executed = 1000;
        a.row->step.flops.executed_isa = "avx2";
        a.row->step.flops.executed_threads = 1;
        b.row->step.flops.executed = 1001;
        b.row->step.flops.executed_isa = sides[i].isa;
        b.row->step.flops.executed_threads = sides[i].threads;
        assert_int_equal(compared_rows(a.record, b.record, true, &text).more, sides[i].more);
        free(text);
        assert_int_equal(compared_rows(a.record, b.record, false, &text).more, 0);
        free(text);
        free_plan(&a);
        free_plan(&b);
    }
}

/* Every figure that one side lacks is named, whichever side it is. */
TEST(test_without_a_partner)
{
    static const struct {
        const char *omitted;
        size_t alone;
        const char *named;
    } lacks[] = {{"forward", 5, "forward.memory"},          {"step.memory.planned", 1, "step.memory"},
                 {"step.memory.peak_live", 1, "step.peak"}, {"step.flops.analytic", 1, "step.FLOPs"},
                 {"forward.bytes", 1, "forward.bytes"},     {"step.flops.executed", 1, "step.executed"},
                 {"step.profile", 1, "step.entries"}};
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
        for (int of_b = 0; of_b < 2; of_b++) {
            char *text;
            struct plan a = plan_of(*state), b = plan_of(*state);
            for (int side = 0; side < 2; side++) {
                struct row *row = side ? b.row : a.row;
                row->step.flops.executed = 1000;
                row->step.flops.executed_isa = "avx2";
                row->step.flops.executed_threads = 1;
            }
            row_omit(of_b ? b.row : a.row, lacks[i].omitted, NULL);
            struct exact found = compared_rows(a.record, b.record, true, &text);
            assert_int_equal(found.alone, lacks[i].alone);
            assert_true(found.more == 0 && found.less == 0 && found.fallen == 0);
            assert_says(text, lacks[i].named);
            free_plan(&a);
            free_plan(&b);
        }
}

/* A row that is no longer ok, one that was not, and one that never was: not even figures that both have pass
 * for them. */
TEST(test_status)
{
    static const char *const bad[] = {"wrong", "failed", "oom", "skipped"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int where = 1; where < 4; where++) {
            char *text;
            struct plan a = plan_of(*state), b = plan_of(*state);
            for (int side = 0; side < 2; side++)
                if (where & 1 << side) {
                    row_set_text(side ? b.row : a.row, "status", bad[i]);
                    row_set_text(side ? b.row : a.row, "reason", "planted");
                }
            row_omit(b.row, "step", NULL);
            struct exact found = compared_rows(a.record, b.record, true, &text);
            assert_int_equal(found.fallen, where == 2);
            assert_int_equal(found.alone, where != 2);
            assert_true(found.equal >= 4 && found.more == 0);
            free(text);
            free_plan(&a);
            free_plan(&b);
        }
}

/* A row may stand for several that differ in an axis which an older version did not have. */
TEST(test_new_axis)
{
    char *text;
    struct plan a = plan_of(*state), b = plan_of(*state);
    struct row *fused = row_copy(b.row);
    row_omit(a.row, "mlp", NULL);
    row_set_text(fused, "mlp", "fused");
    rows_append(record_rows(b.record), fused);
    assert_int_equal(compared_rows(a.record, b.record, true, &text).alone, 0);
    free(text);
    assert_int_equal(compared_rows(b.record, a.record, true, &text).alone, 0);
    free(text);
    free_plan(&a);
    free_plan(&b);
}

/* Of an encoding FLOPs, bytes and peak are compared unless a solver iterated; storage and bounds always. */
TEST(test_encoding)
{
    static const char *const encoded = "--nodes 20 --hidden 16 --heads 2 --layers 1 --phase forward --runs 1 "
                                       "--no-check --pe rwse:4:8 --output e.json";
    for (int iterated = 0; iterated < 2; iterated++) {
        char *text;
        struct record *a = run_json(*state, encoded, 0), *b = run_json(*state, encoded, 0);
        struct row *row = row_at(b, 0);
        assert_int_equal(compared_rows(a, b, true, &text).more, 0);
        assert_string_equal(text, "");
        free(text);
        row->encoding.storage++;
        row->encoding.bound.flops++;
        row->encoding.flops++;
        row->encoding.bytes++;
        row->encoding.peak++;
        row->encoding.iterations = iterated ? 30 : COUNT_ABSENT;
        assert_int_equal(compared_rows(a, b, true, &text).more, iterated ? 2 : 5);
        assert_non_null(strstr(text, "encoding.storage"));
        assert_says(text, "encoding.FLOPs at most");
        record_free(a);
        record_free(b);
    }
}

/* Ops alone have no tape, and the same figures. */
TEST(test_ops_alone)
{
    static const char *const words =
        "--device meta --op linear,layer_norm --nodes 20 --hidden 16 --no-charts";
    void *h;
    char *text;
    (void)state;
    house_of(&h, "bench_kernels");
    struct record *a = run_json(h, words, 0), *b = run_json(h, words, 0);
    struct exact found = compared_rows(a, b, true, &text);
    assert_true(found.equal >= 4 * row_count(a) && found.more == 0 && found.alone == 0);
    free(text);
    row_at(b, 0)->kernel.bytes++;
    assert_int_equal(compared_rows(a, b, true, &text).more, 1);
    assert_says(text, "kernel.bytes");
    record_free(a);
    record_free(b);
    house_teardown(&h);
}

/* The gate by its exit status. */
TEST(test_gate)
{
    static const struct {
        const char *words;
        int status;
    } gates[] = {{"--layers 2", 0},
                 {"--layers 2 --gate exact", 0},
                 {"--layers 3", 1},
                 {"--layers 3 --gate allow-uncompared", 1},
                 {"--layers 2 --gate strict", 0}};
    record_free(run_json(*state, RUN "--layers 2 --output x.json", 0));
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++) {
        char words[512];
        snprintf(words, sizeof words, RUN "--output y.json --baseline x.json %s", gates[i].words);
        struct ended e = run_words(*state, words, gates[i].status);
        assert_non_null(strstr(e.err, gates[i].status ? "not compared" : "figures as in the baseline"));
        ended_free(&e);
    }
    record_free(run_json(*state, RUN "--layers 2,3 --output x.json", 0));
    struct ended e = run_words(*state, RUN "--layers 2 --output y.json --baseline x.json", 0);
    assert_non_null(strstr(e.err, "note: 1 of 2 rows of the baseline is not of this run\n"));
    ended_free(&e);
}

GROUP("tests", house_setup, house_teardown)
