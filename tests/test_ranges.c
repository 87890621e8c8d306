/*
 * The ranges of a replay: entered and left according to spans, each entry within the ranges of its own span,
 * reported only if a profiler is attached, and not by captured graphs.
 */
#include "models/layers/model.h"
#include "models/tape/ranges.h"
#include "tests/batches.h"
#include "tests/fake_device.h"
#include "tests/test.h"

static void expect_log(struct fake *f, const char *log)
{
    assert_string_equal(f->log, log);
    *f->log = '\0';
}

static void test_moves(void **state)
{
    (void)state;
    static struct fake f;
    struct ranges r = {.device = backend_fake.device, .context = &f};
    ranges_leave(&r);
    expect_log(&f, "");
    ranges_move(&r, "forward", "layer1.attention.qkv");
    expect_log(&f, " +forward +layer1 +attention +qkv");
    ranges_move(&r, "forward", "layer1.attention.qkv");
    expect_log(&f, "");
    ranges_move(&r, "forward", "layer1.attention");
    expect_log(&f, " -");
    ranges_move(&r, "forward", "layer1.att.qkv"); /* a word that is a prefix of another */
    expect_log(&f, " - +att +qkv");
    ranges_move(&r, "forward", "layer10.att.qkv");
    expect_log(&f, " - - - +layer10 +att +qkv");
    ranges_move(&r, "backward", "layer10.att.qkv");
    expect_log(&f, " - - - - +backward +layer10 +att +qkv");
    ranges_move(&r, "backward", "");
    expect_log(&f, " - - -");
    ranges_move(&r, "optimizer", "");
    expect_log(&f, " - +optimizer");
    ranges_leave(&r);
    expect_log(&f, " -");
    assert_int_equal(f.depth, 0);
}

static struct recording record(const struct batch *b, struct fake *f)
{
    struct model_config c = {.layers = 2,
                             .hidden = 8,
                             .heads = 2,
                             .ffn = 16,
                             .act = ACT_GELU,
                             .attention = ATTENTION_DENSE,
                             .mpnn = MPNN_GIN};
    struct tape_config t = {.backend = &backend_fake, .context = f, .dtype = F32, .threads = 1, .seed = 1};
    struct recording r = program_record(PROGRAM_STEP, &c, b, NULL, t);
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    return r;
}

/* After an entry its phase and all words of its span are open, and nothing else. */
struct at {
    const struct fake *fake;
    const struct tape *tape;
};

static void check_depth(void *context, int entry)
{
    const struct at *at = context;
    const struct entry *e = tape_entry(at->tape, entry);
    int words = *e->span != '\0';
    for (const char *c = e->span; *c; c++)
        words += *c == '.';
    assert_int_equal(at->fake->depth, 1 + words);
    char last[80];
    const char *dot = strrchr(e->span, '.');
    snprintf(last, sizeof last, "+%s", dot ? dot + 1 : *e->span ? e->span : phase_name(e->phase));
    assert_non_null(strstr(at->fake->log, last));
}

static void test_replays(void **state)
{
    (void)state;
    static struct fake f = {.traced = true}, silent;
    struct batch b = batch_er(10, 1);
    struct recording r = record(&b, &f), s = record(&b, &silent);
    struct at at = {&f, r.tape};
    tape_run_marked(r.tape, check_depth, &at);
    assert_int_equal(f.depth, 0);
    assert_non_null(strstr(f.log, " +forward +input"));
    assert_non_null(strstr(f.log, " +backward"));
    char *marked = strdup(f.log);
    *f.log = '\0';
    tape_run(r.tape);
    assert_string_equal(f.log, marked);
    *f.log = '\0';
    tape_capture(r.tape);
    tape_run(r.tape);
    assert_int_equal(f.launches, 1);
    assert_string_equal(f.log, "");
    tape_run(s.tape);
    assert_string_equal(silent.log, "");
    free(marked);
    tape_free(r.tape);
    tape_free(s.tape);
    assert_int_equal(f.allocated + silent.allocated, 0);
    batch_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_replays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
