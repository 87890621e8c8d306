/*
 * The streams of a captured program: whatever two entries touch the same bytes, of which one writes them, run
 * in the order of the tape, however far one stream is ahead of the other; so results are the same, bit by
 * bit.
 */
#include "graphs/graph.h"
#include "kernels/arithmetic.h"
#include "models/layers/model.h"
#include "models/tape/tape_internal.h"
#include "tests/fake_device.h"
#include "tests/test.h"

static const struct {
    const char *name;
    struct model_config parts;
    enum dtype dtype;
    int least[2]; /* entries on the second stream, of a step, and gradients of parameters */
} subjects[] = {
    {"gps", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN}, F32, {12, 15}},
    {"gps in bf16", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .norm = NORM_BATCH}, BF16, {12, 15}},
    {"unfused", {.attention = ATTENTION_UNFUSED, .mpnn = MPNN_GINE, .norm = NORM_GRAPH}, F32, {12, 15}},
    {"sparse, dropout",
     {.attention = ATTENTION_SPARSE, .mpnn = MPNN_GATEDGCN, .dropout = 0.1},
     F32,
     {12, 15}},
    {"checkpoints", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GATV2, .checkpoint = "layer"}, F32, {12, 15}},
    {"message passing", {.mpnn = MPNN_PNA, .task = TASK_NODE}, F32, {0, 5}},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/* A device with the kernels of the CPU, whose scratch is in the plan. */
struct machine {
    struct fake fake;
    struct backend backend;
    struct batch batch;
};

static struct recording record(struct machine *m, int subject, enum program_kind kind)
{
    struct graph_config g = {.family = "er", .nodes = 19, .degree = 3, .graphs = 3, .seed = 1};
    struct model_config c = subjects[subject].parts;
    char error[256];
    c.layers = 3;
    c.hidden = 24;
    c.heads = 3;
    c.ffn = 40;
    c.act = ACT_GELU;
    *m = (struct machine){.backend = backend_fake};
    m->backend.base = backend_cpu();
    assert_true(batch_generate(&m->batch, &g, error, sizeof error));
    assert_true(batch_number_edges(&m->batch, &g, error, sizeof error));
    struct tape_config config = {.backend = &m->backend,
                                 .context = &m->fake,
                                 .dtype = subjects[subject].dtype,
                                 .threads = 1,
                                 .seed = 3};
    return program_record(kind, &c, &m->batch, NULL, config);
}

static void discard(struct machine *m, struct recording r)
{
    tape_free(r.tape);
    batch_free(&m->batch);
}

/* A run of bytes of the arena. */
struct access {
    int64_t first, end;
    bool writes;
};

static struct access access_of(const struct tape *t, struct mat m, bool writes)
{
    int64_t first = t->storages[m.storage].offset + m.offset, size = (int64_t)dtype_size(m.dtype);
    return (struct access){first, first + ((m.rows - 1) * max_of(m.ld, m.cols) + m.cols) * size, writes};
}

/* Of what linear_backward writes, dx in its first part, dw and db in the second; all of any other. */
static bool is_of(const struct stream_place *turn, const struct operand *o)
{
    if (turn->part == RUN_WHOLE || !operand_writes(o))
        return true;
    assert_true(!strcmp(o->name, "dx") || !strcmp(o->name, "dw") || !strcmp(o->name, "db"));
    return (strcmp(o->name, "dx") == 0) == (turn->part == RUN_DATA);
}

static int accesses(const struct tape *t, int place, struct access list[OPERANDS_MAX + 1])
{
    const struct entry *e = &t->main.entries[t->turns[place].entry];
    const struct op_info *info = op_info(e->op);
    int count = 0;
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        if (operand_is_mat(o) && mat_present(*operand_mat(o, e->args)) && is_of(&t->turns[place], o))
            list[count++] = access_of(t, *operand_mat(o, e->args), operand_writes(o));
    }
    if (mat_present(e->scratch))
        list[count++] = access_of(t, e->scratch, true);
    return count;
}

static bool conflict(const struct tape *t, int a, int b)
{
    struct access x[OPERANDS_MAX + 1], y[OPERANDS_MAX + 1];
    int first = accesses(t, a, x), second = accesses(t, b, y);
    for (int i = 0; i < first; i++)
        for (int k = 0; k < second; k++)
            if ((x[i].writes || y[k].writes) && x[i].first < y[k].end && y[k].first < x[i].end)
                return true;
    return false;
}

/* The last place on each stream that is over when one is, by streams and events alone. */
typedef int clocks[DEVICE_STREAMS];

static clocks *clocks_of(const struct tape *t)
{
    clocks *all = malloc((size_t)t->turn_count * sizeof *all), now[DEVICE_STREAMS];
    assert_non_null(all);
    memset(now, -1, sizeof now);
    for (int e = 0; e < t->turn_count; e++) {
        const struct stream_place *turn = &t->turns[e];
        int *at = now[turn->stream];
        for (int i = 0; i < DEVICE_STREAMS; i++)
            for (int s = 0; s < DEVICE_STREAMS && turn->after[i] >= 0; s++)
                at[s] = (int)max_of(at[s], all[turn->after[i]][s]);
        at[turn->stream] = e;
        memcpy(all[e], at, sizeof *all);
    }
    return all;
}

/* The number of pairs of places with a conflict and no order. */
static int unordered(const struct tape *t)
{
    clocks *all = clocks_of(t);
    int found = 0;
    for (int b = 0; b < t->turn_count; b++)
        for (int a = 0; a < b; a++)
            found += all[b][t->turns[a].stream] < a && conflict(t, a, b);
    free(all);
    return found;
}

static int on_stream(const struct tape *t, int stream)
{
    int count = 0;
    for (int e = 0; t->turns && e < t->turn_count; e++)
        count += t->turns[e].stream == stream;
    return count;
}

static void expect_well_formed(const struct tape *t)
{
    clocks *all = clocks_of(t);
    int last = t->turn_count - 1, end[DEVICE_STREAMS] = {last, -1, -1};
    for (int e = 0; e <= last; e++) {
        const struct stream_place *turn = &t->turns[e];
        assert_true(all[e][0] >= 0); /* the first stream begins */
        assert_int_equal(turn->part == RUN_PARAMETERS, turn->stream == 2);
        end[turn->stream] = e;
        for (int i = 0; i < DEVICE_STREAMS; i++) {
            assert_true(turn->after[i] < e);
            if (turn->after[i] < 0)
                continue;
            assert_true(i != turn->stream && t->turns[turn->after[i]].stream == i);
            assert_true(t->turns[turn->after[i]].awaited);
        }
    }
    assert_int_equal(t->turns[last].stream, 0);
    assert_memory_equal(all[last], end, sizeof end); /* and all is over when it is */
    free(all);
}

TEST(test_conflicts_are_ordered)
{
    for (int i = 0; i < SUBJECTS; i++)
        for (enum program_kind kind = 0; kind < MODEL_PROGRAMS; kind++) {
            struct machine m;
            struct recording r = record(&m, i, kind);
            tape_plan(r.tape);
            for (int s = 0; s < 2 && kind == PROGRAM_STEP; s++)
                if (on_stream(r.tape, 1 + s) < subjects[i].least[s])
                    fail_msg("%s: %d on stream %d", subjects[i].name, on_stream(r.tape, 1 + s), 1 + s);
            if (r.tape->turns) {
                expect_well_formed(r.tape);
                assert_int_equal(unordered(r.tape), 0);
            }
            discard(&m, r);
        }
}

/* Of ten events nine order what nothing else does; the others are the ends of streams, or others imply them.
 */
TEST(test_a_missing_event_is_found)
{
    for (int i = 0; i < SUBJECTS; i++) {
        struct machine m;
        struct recording r = record(&m, i, PROGRAM_STEP);
        int events = 0, found = 0;
        tape_plan(r.tape);
        for (int e = 0; r.tape->turns && e < r.tape->turn_count; e++) {
            struct stream_place *turn = (struct stream_place *)&r.tape->turns[e];
            for (int i = 0; i < DEVICE_STREAMS; i++) {
                int after = turn->after[i];
                if (after < 0)
                    continue;
                turn->after[i] = -1;
                events++;
                found += unordered(r.tape) > 0;
                turn->after[i] = after;
            }
        }
        if (events == 0 || 10 * found < 9 * events)
            fail_msg("%s: %d of %d", subjects[i].name, found, events);
        discard(&m, r);
    }
}

/* A matrix that a long branch reads late is not written before by a short one. */
TEST(test_a_late_reader)
{
    struct tape_config config = {.backend = &backend_fake, .dtype = F32, .threads = 1};
    struct tape *t = tape_new(&config);
    struct mat x = input_uniform(t, "x", all_rows(4), 4), a = tape_matrix(t, 4, 4), more = a;
    struct mat c = tape_matrix(t, 4, 4);
    op(t, copy, .y = a, .x = x);
    struct mat p = op(t, add, .a = x, .b = x)->y, q = op(t, add, .a = p, .b = p)->y;
    struct mat late = op(t, add, .a = q, .b = a)->y;
    op(t, copy, .y = c, .x = x);
    more.acc = true;
    op(t, copy, .y = more, .x = c);
    tape_keep(t, op(t, add, .a = late, .b = a)->y);
    tape_plan(t);
    assert_true(on_stream(t, 1) > 0);
    assert_int_equal(unordered(t), 0);
    tape_free(t);
}

/* Memory that was planned for one stream would be shared by entries that run at the same time. */
TEST(test_a_plan_for_one_stream_is_found)
{
    struct machine m;
    struct recording r = record(&m, 0, PROGRAM_STEP);
    tape_plan(r.tape);
    const struct stream_place *turns = r.tape->turns;
    int64_t arena = tape_planned(r.tape)->arena;
    int count = r.tape->turn_count;
    m.backend.device = NULL;
    assert_true(tape_plan(r.tape)->arena <= arena);
    assert_null(r.tape->turns);
    r.tape->turns = turns;
    r.tape->turn_count = count;
    assert_true(unordered(r.tape) > 0);
    m.backend.device = backend_fake.device;
    discard(&m, r);
}

/* What it computes with all of its outputs, of those of this place. */
static void run_place(struct tape *t, const struct stream_place *turn)
{
    const struct entry *e = &t->main.entries[turn->entry];
    const struct op_info *info = op_info(e->op);
    union any_args args;
    memcpy(&args, e->args, info->args_size);
    for (int i = 0; i < info->operand_count; i++)
        if (operand_is_mat(&info->operands[i]) && !is_of(turn, &info->operands[i]))
            *operand_mat(&info->operands[i], &args) = (struct mat){0};
    e->kernel->run(&args);
}

static bool may_run(const struct tape *t, int place, const bool *over)
{
    for (int i = 0; i < DEVICE_STREAMS; i++)
        if (t->turns[place].after[i] >= 0 && !over[t->turns[place].after[i]])
            return false;
    return true;
}

/* Runs what may run of `ahead` before anything of other streams, and of the first of these before the rest.
 */
static void run_ahead(struct tape *t, int ahead)
{
    int count = t->turn_count, at[DEVICE_STREAMS] = {0};
    bool *over = calloc((size_t)count, sizeof *over);
    assert_non_null(over);
    for (int left = count; left > 0; left--) {
        int stream = ahead;
        for (int tries = 0; tries < DEVICE_STREAMS; tries++, stream = (stream + 1) % DEVICE_STREAMS) {
            int *e = &at[stream];
            while (*e < count && t->turns[*e].stream != stream)
                ++*e;
            if (*e < count && may_run(t, *e, over))
                break;
        }
        int e = at[stream]++;
        assert_true(e < count);
        run_place(t, &t->turns[e]);
        over[e] = true;
    }
    free(over);
}

static void *trained(int subject, int ahead, size_t *bytes)
{
    struct machine m;
    struct recording r = record(&m, subject, PROGRAM_STEP);
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    for (int i = 0; i < 2; i++)
        if (ahead < 0 || !r.tape->turns)
            tape_run(r.tape);
        else
            run_ahead(r.tape, ahead);
    *bytes = (size_t)tape_parameter_elements(r.tape) * sizeof(float);
    void *copy = malloc(*bytes);
    assert_non_null(copy);
    memcpy(copy, tape_parameter(r.tape, 0, NULL).data, *bytes);
    discard(&m, r);
    assert_int_equal(m.fake.allocated, 0);
    return copy;
}

TEST(test_streams_change_no_bit)
{
    for (int i = 0; i < SUBJECTS; i++) {
        size_t bytes;
        void *one = trained(i, -1, &bytes);
        for (int ahead = 0; ahead < DEVICE_STREAMS; ahead++) {
            void *other = trained(i, ahead, &bytes);
            assert_memory_equal(one, other, bytes);
            free(other);
        }
        free(one);
    }
}

/* A capture puts the entries where the plan has them, and waits for every event. */
TEST(test_capture)
{
    struct machine m;
    struct recording r = record(&m, 0, PROGRAM_STEP);
    int events = 0, beside = 0;
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    tape_run(r.tape);
    assert_int_equal(m.fake.beside, 0);
    tape_capture(r.tape);
    for (int e = 0; e < r.tape->turn_count; e++) {
        beside += r.tape->turns[e].stream;
        for (int i = 0; i < DEVICE_STREAMS; i++)
            events += r.tape->turns[e].after[i] >= 0;
    }
    assert_true(events > 0);
    assert_int_equal(m.fake.beside, beside);
    assert_int_equal(m.fake.awaited, events);
    discard(&m, r);
}
