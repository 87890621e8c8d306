/* Traces: events are nested, add up and contain the tape's data. */
#include <math.h>

#include "bench/show/trace.h"
#include "models/layers/model.h"
#include "tests/records.h"
#include "tests/test.h"
#include "tests/values.h"

enum { LANE_PHASES = 1, LANE_PROGRAM = 2, DEPTH_MAX = 16 };

struct program_fixture {
    struct batch batch;
    struct recording recording;
    struct value *trace;
};

/* The trace of a step of two layers, the first of which is recomputed. */
static int program_setup(void **state)
{
    static struct program_fixture p;
    struct graph_config g = {.family = "er", .nodes = 40, .degree = 4, .graphs = 2, .seed = 1};
    struct model_config c = {.layers = 2,
                             .hidden = 32,
                             .heads = 4,
                             .ffn = 64,
                             .act = ACT_GELU,
                             .attention = ATTENTION_DENSE,
                             .mpnn = MPNN_GIN,
                             .checkpoint = "layer"};
    struct tape_config t = {.backend = backend_cpu(), .dtype = F32, .threads = 2, .seed = 1};
    char error[256];
    assert_true(batch_generate(&p.batch, &g, error, sizeof error));
    p.recording = program_record(PROGRAM_STEP, &c, &p.batch, NULL, t);
    assert_true(tape_layout(p.recording.tape));
    tape_init(p.recording.tape);
    p.trace = trace_new("a test");
    trace_add(p.trace, "a step", p.recording.tape, NULL);
    *state = &p;
    return 0;
}

static int program_teardown(void **state)
{
    struct program_fixture *p = *state;
    value_free(p->trace);
    tape_free(p->recording.tape);
    batch_free(&p->batch);
    return 0;
}

/* An event with a duration, in whole nanoseconds. */
struct event {
    const char *name;
    const struct value *args;
    int process, lane;
    int64_t begin, end;
};

static int64_t nanoseconds(const struct value *microseconds)
{
    double ns;
    assert_true(value_read_real(microseconds, &ns));
    ns *= 1000;
    assert_true(fabs(ns - (double)llround(ns)) < 1e-3);
    return llround(ns);
}

/* Parses an event; false if it has no duration. */
static bool lasting(const struct value *json, struct event *e)
{
    assert_non_null(text_in(json, "ph"));
    if (strcmp(text_in(json, "ph"), "X") != 0)
        return false;
    assert_non_null(text_in(json, "name"));
    *e = (struct event){.name = text_in(json, "name"),
                        .args = value_get(json, "args"),
                        .process = (int)count_in(json, "pid"),
                        .lane = (int)count_in(json, "tid"),
                        .begin = nanoseconds(value_get(json, "ts"))};
    assert_true(e->lane == LANE_PHASES || e->lane == LANE_PROGRAM);
    e->end = e->begin + nanoseconds(value_get(json, "dur"));
    assert_true(e->begin >= 0 && e->end >= e->begin);
    return true;
}

static struct walk events_of(const struct program_fixture *p)
{
    return value_walk(value_get(p->trace, "traceEvents"));
}

/* The dotted names of the open events of a lane, below its root. */
static void path_of(const struct event *open, int depth, char path[256])
{
    path[0] = '\0';
    for (int d = 1; d < depth; d++) {
        size_t used = strlen(path);
        snprintf(path + used, 256 - used, "%s%s", used ? "." : "", open[d].name);
    }
}

/* In order, the events of a lane either follow or contain one another; an op is nested in its span. */
TEST(test_events_nest)
{
    const struct program_fixture *p = *state;
    for (int lane = LANE_PHASES; lane <= LANE_PROGRAM; lane++) {
        struct event open[DEPTH_MAX], e;
        int depth = 0, deepest = 0;
        for (struct walk w = events_of(p); walk_next(&w);) {
            if (!lasting(w.value, &e) || e.lane != lane)
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

/* Every entry occurs once and in order, with the tape's data; together they fill the replay. */
TEST(test_entries)
{
    const struct program_fixture *p = *state;
    const struct tape *t = p->recording.tape;
    struct event e, replay = {0};
    int64_t sum = 0, last = 0;
    int next = 0;
    for (struct walk w = events_of(p); walk_next(&w);) {
        if (!lasting(w.value, &e) || e.lane != LANE_PROGRAM)
            continue;
        if (!replay.name)
            replay = e;
        if (!e.args)
            continue;
        const struct entry *entry = tape_entry(t, next);
        assert_int_equal(count_in(e.args, "entry"), next++);
        assert_string_equal(e.name, op_info(entry->op)->name);
        assert_string_equal(text_in(e.args, "variant"), entry->kernel->variant);
        assert_int_equal(count_in(e.args, "FLOPs"), entry->flops);
        assert_int_equal(count_in(e.args, "bytes"), entry->bytes);
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

TEST(test_phases)
{
    const struct program_fixture *p = *state;
    const struct tape *t = p->recording.tape;
    struct event e;
    int64_t last = 0;
    int entry = 0;
    for (struct walk w = events_of(p); walk_next(&w);)
        if (lasting(w.value, &e) && e.lane == LANE_PHASES) {
            assert_true(entry < tape_entry_count(t));
            enum phase phase = tape_entry(t, entry)->phase;
            assert_string_equal(e.name, phase_name(phase));
            while (entry < tape_entry_count(t) && tape_entry(t, entry)->phase == phase)
                entry++;
            assert_int_equal(e.begin, last);
            last = e.end;
        }
    assert_int_equal(entry, tape_entry_count(t));
}

/* The counter has the plan's live bytes from the start of each entry, and 0 at the end. */
TEST(test_live_memory)
{
    const struct program_fixture *p = *state;
    const struct tape *t = p->recording.tape;
    int entry = 0;
    for (struct walk w = events_of(p); walk_next(&w);) {
        const struct value *json = w.value;
        if (strcmp(text_in(json, "ph"), "C") != 0)
            continue;
        int64_t wanted = entry < tape_entry_count(t) ? tape_live_bytes(t, entry) : 0;
        assert_int_equal(count_in(json, "args.bytes"), wanted);
        entry++;
    }
    assert_int_equal(entry, tape_entry_count(t) + 1);
}

TEST(test_in_a_binary)
{
    void *house;
    house_setup(&house);
    struct ended e = run_words(
        house, "--nodes 8,16 --hidden 16 --layers 1 --runs 1 --no-check --output x.json --trace t.json", 0);
    char path[PATH_MAX], error[MESSAGE_SIZE];
    snprintf(path, sizeof path, "%s/t.json", ((struct house *)house)->work);
    struct value *trace = value_load(path, error);
    assert_non_null(trace);
    int processes = 0;
    for (struct walk w = value_walk(value_get(trace, "traceEvents")); walk_next(&w);) {
        const struct value *json = w.value;
        if (strcmp(text_in(json, "name"), "process_name") == 0)
            assert_int_equal((int)count_in(json, "pid"), ++processes);
    }
    assert_int_equal(processes, 4); /* two rows of two programs */
    value_free(trace);
    ended_free(&e);
    house_teardown(&house);
}

GROUP("tests", program_setup, program_teardown)
