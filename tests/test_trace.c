/* Traces: the events nest, add up and carry what the tape says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/show/trace.h"
#include "models/layers/model.h"
#include "tests/records.h"

enum { LANE_PHASES = 1, LANE_PROGRAM = 2, DEPTH_MAX = 16 };

struct program {
    struct batch batch;
    struct recording recording;
    json_t *trace;
};

/* The trace of a step of two layers. */
static int program_setup(void **state)
{
    static struct program p;
    struct graph_config g = {.family = "er", .nodes = 40, .degree = 4, .graphs = 2, .seed = 1};
    struct model_config c = {.layers = 2,
                             .hidden = 32,
                             .heads = 4,
                             .ffn = 64,
                             .act = ACT_GELU,
                             .attention = ATTENTION_DENSE,
                             .mpnn = MPNN_GIN};
    struct tape_config t = {.backend = backend_cpu(), .dtype = F32, .threads = 2, .seed = 1};
    char error[256];
    assert_true(batch_generate(&p.batch, &g, error, sizeof error));
    p.recording = program_record(PROGRAM_STEP, &c, &p.batch, NULL, t);
    assert_true(tape_layout(p.recording.tape));
    tape_init(p.recording.tape);
    p.trace = trace_new("a test");
    trace_add(p.trace, "a step", p.recording.tape);
    *state = &p;
    return 0;
}

static int program_teardown(void **state)
{
    struct program *p = *state;
    json_decref(p->trace);
    tape_free(p->recording.tape);
    batch_free(&p->batch);
    return 0;
}

/* An event that lasts, in nanoseconds; a whole number of them. */
struct event {
    const char *name;
    const json_t *args;
    int process, lane;
    int64_t begin, end;
};

static int64_t nanoseconds(const json_t *microseconds)
{
    assert_true(json_is_number(microseconds));
    double ns = 1000 * json_number_value(microseconds);
    assert_true(fabs(ns - (double)llround(ns)) < 1e-3);
    return llround(ns);
}

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

static int whole_in(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_integer(value));
    return (int)json_integer_value(value);
}

/* Event i of a trace, if it is one that lasts. */
static bool lasting(const json_t *trace, size_t i, struct event *e)
{
    const json_t *json = json_array_get(json_object_get(trace, "traceEvents"), i);
    if (strcmp(text_in(json, "ph"), "X") != 0)
        return false;
    *e = (struct event){.name = text_in(json, "name"),
                        .args = json_object_get(json, "args"),
                        .process = whole_in(json, "pid"),
                        .lane = whole_in(json, "tid"),
                        .begin = nanoseconds(json_object_get(json, "ts"))};
    assert_true(e->lane == LANE_PHASES || e->lane == LANE_PROGRAM);
    e->end = e->begin + nanoseconds(json_object_get(json, "dur"));
    assert_true(e->begin >= 0 && e->end >= e->begin);
    return true;
}

static size_t event_count(const json_t *trace)
{
    return json_array_size(json_object_get(trace, "traceEvents"));
}

/* The dotted names of the events open in a lane, below its root. */
static void path_of(const struct event *open, int depth, char path[256])
{
    path[0] = '\0';
    for (int d = 1; d < depth; d++) {
        size_t used = strlen(path);
        snprintf(path + used, 256 - used, "%s%s", used ? "." : "", open[d].name);
    }
}

/* In their order, the events of a lane either follow or contain one another; an op stands within its span. */
static void test_events_nest(void **state)
{
    const struct program *p = *state;
    for (int lane = LANE_PHASES; lane <= LANE_PROGRAM; lane++) {
        struct event open[DEPTH_MAX], e;
        int depth = 0, deepest = 0;
        for (size_t i = 0; i < event_count(p->trace); i++) {
            if (!lasting(p->trace, i, &e) || e.lane != lane)
                continue;
            assert_int_equal(e.process, 1);
            while (depth > 0 && open[depth - 1].end <= e.begin && e.end > open[depth - 1].end)
                depth--;
            if (depth > 0 && (e.begin < open[depth - 1].begin || e.end > open[depth - 1].end))
                fail_msg("lane %d: %s overlaps %s", lane, e.name, open[depth - 1].name);
            if (lane == LANE_PROGRAM && e.args) {
                char path[256];
                while (depth > 1 && open[depth - 1].args)
                    depth--;
                path_of(open, depth, path);
                assert_string_equal(path, text_in(e.args, "span"));
            }
            assert_true(depth < DEPTH_MAX);
            open[depth++] = e;
            deepest = depth > deepest ? depth : deepest;
        }
        assert_true(deepest >= (lane == LANE_PROGRAM ? 4 : 1));
    }
}

/* Every entry is there, once and in order, with what the tape says of it; together they fill the replay. */
static void test_entries(void **state)
{
    const struct program *p = *state;
    const struct tape *t = p->recording.tape;
    struct event e, replay = {0};
    int64_t sum = 0, last = 0;
    int next = 0;
    for (size_t i = 0; i < event_count(p->trace); i++) {
        if (!lasting(p->trace, i, &e) || e.lane != LANE_PROGRAM)
            continue;
        if (!replay.name)
            replay = e;
        if (!e.args)
            continue;
        const struct entry *entry = tape_entry(t, next);
        assert_int_equal(whole_in(e.args, "entry"), next++);
        assert_string_equal(e.name, op_info(entry->op)->name);
        assert_string_equal(text_in(e.args, "variant"), entry->kernel->variant);
        assert_int_equal(json_integer_value(json_object_get(e.args, "FLOPs")), entry->flops);
        assert_int_equal(json_integer_value(json_object_get(e.args, "bytes")), entry->bytes);
        assert_true(*text_in(e.args, "shapes") || !entry->bytes);
        assert_true(e.begin >= last);
        last = e.end;
        sum += e.end - e.begin;
    }
    assert_int_equal(next, tape_entry_count(t));
    assert_string_equal(replay.name, "a step");
    assert_int_equal(replay.begin, 0);
    assert_true(sum > 0 && sum <= replay.end && last == replay.end);
}

static void test_phases(void **state)
{
    const struct program *p = *state;
    struct event e;
    int64_t last = 0;
    int phase = 0;
    for (size_t i = 0; i < event_count(p->trace); i++)
        if (lasting(p->trace, i, &e) && e.lane == LANE_PHASES) {
            assert_true(phase < PHASES);
            assert_string_equal(e.name, phase_name((enum phase)phase++));
            assert_int_equal(e.begin, last);
            last = e.end;
        }
    assert_int_equal(phase, PHASES);
}

/* The counter holds the plan's live bytes from each entry's begin on, and nothing when all is done. */
static void test_live_memory(void **state)
{
    const struct program *p = *state;
    const struct tape *t = p->recording.tape;
    int entry = 0;
    for (size_t i = 0; i < event_count(p->trace); i++) {
        const json_t *json = json_array_get(json_object_get(p->trace, "traceEvents"), i);
        if (strcmp(text_in(json, "ph"), "C") != 0)
            continue;
        int64_t wanted = entry < tape_entry_count(t) ? tape_live_bytes(t, entry) : 0;
        assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "args"), "bytes")), wanted);
        entry++;
    }
    assert_int_equal(entry, tape_entry_count(t) + 1);
}

static void test_in_a_binary(void **state)
{
    (void)state;
    void *house;
    house_setup(&house);
    struct ended e = run_words(
        house, "--nodes 8,16 --hidden 16 --layers 1 --runs 1 --no-check --output x.json --trace t.json", 0);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/t.json", ((struct house *)house)->work);
    json_t *trace = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(trace);
    int processes = 0;
    for (size_t i = 0; i < event_count(trace); i++) {
        const json_t *json = json_array_get(json_object_get(trace, "traceEvents"), i);
        if (strcmp(text_in(json, "name"), "process_name") == 0)
            assert_int_equal(whole_in(json, "pid"), ++processes);
    }
    assert_int_equal(processes, 4); /* two rows of two programs */
    json_decref(trace);
    ended_free(&e);
    house_teardown(&house);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_nest), cmocka_unit_test(test_entries),     cmocka_unit_test(test_phases),
        cmocka_unit_test(test_live_memory), cmocka_unit_test(test_in_a_binary),
    };
    return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
