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
    int least; /* entries on the second stream, of a step */
} subjects[] = {
    {"gps", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN}, F32, 12},
    {"gps in bf16", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GIN, .norm = NORM_BATCH}, BF16, 12},
    {"unfused", {.attention = ATTENTION_UNFUSED, .mpnn = MPNN_GINE, .norm = NORM_GRAPH}, F32, 12},
    {"sparse, dropout", {.attention = ATTENTION_SPARSE, .mpnn = MPNN_GATEDGCN, .dropout = 0.1}, F32, 12},
    {"checkpoints", {.attention = ATTENTION_DENSE, .mpnn = MPNN_GATV2, .checkpoint = "layer"}, F32, 12},
    {"message passing", {.mpnn = MPNN_PNA, .task = TASK_NODE}, F32, 0},
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

static int accesses(const struct tape *t, int entry, struct access list[OPERANDS_MAX + 1])
{
    const struct entry *e = &t->main.entries[entry];
    const struct op_info *info = op_info(e->op);
    int count = 0;
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        if (operand_is_mat(o) && mat_present(*operand_mat(o, e->args)))
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

/* The last entry of each stream that is over when an entry is, by streams and events alone. */
typedef int clocks[2];

static clocks *clocks_of(const struct tape *t)
{
    clocks *all = malloc((size_t)t->main.count * sizeof *all), now[2] = {{-1, -1}, {-1, -1}};
    assert_non_null(all);
    for (int e = 0; e < t->main.count; e++) {
        const struct stream_place *turn = &t->turns[e];
        int *at = now[turn->stream];
        for (int s = 0; s < 2 && turn->after >= 0; s++)
            at[s] = (int)max_of(at[s], all[turn->after][s]);
        at[turn->stream] = e;
        memcpy(all[e], at, sizeof *all);
    }
    return all;
}

/* The number of pairs of entries with a conflict and no order. */
static int unordered(const struct tape *t)
{
    clocks *all = clocks_of(t);
    int found = 0;
    for (int b = 0; b < t->main.count; b++)
        for (int a = all[b][1 - t->turns[b].stream] + 1; a < b; a++)
            found += t->turns[a].stream != t->turns[b].stream && conflict(t, a, b);
    free(all);
    return found;
}

static int on_second(const struct tape *t)
{
    int count = 0;
    for (int e = 0; t->turns && e < t->main.count; e++)
        count += t->turns[e].stream;
    return count;
}

static void expect_well_formed(const struct tape *t)
{
    clocks *all = clocks_of(t);
    int last = t->main.count - 1, second = -1;
    for (int e = 0; e <= last; e++) {
        if (t->turns[e].stream == 1 && second < 0)
            assert_true(all[e][0] >= 0); /* the second stream begins from the first */
        second = t->turns[e].stream ? e : second;
        assert_true(t->turns[e].after < e);
        if (t->turns[e].after >= 0) {
            assert_int_not_equal(t->turns[t->turns[e].after].stream, t->turns[e].stream);
            assert_true(t->turns[t->turns[e].after].awaited);
        }
    }
    assert_int_equal(t->turns[last].stream, 0);
    assert_int_equal(all[last][1], second); /* and is over when the first is */
    free(all);
}

TEST(test_conflicts_are_ordered)
{
    for (int i = 0; i < SUBJECTS; i++)
        for (enum program_kind kind = 0; kind < MODEL_PROGRAMS; kind++) {
            struct machine m;
            struct recording r = record(&m, i, kind);
            tape_plan(r.tape);
            if (kind == PROGRAM_STEP && on_second(r.tape) < subjects[i].least)
                fail_msg("%s: %d entries on the second stream", subjects[i].name, on_second(r.tape));
            if (r.tape->turns) {
                expect_well_formed(r.tape);
                assert_int_equal(unordered(r.tape), 0);
            }
            discard(&m, r);
        }
}

/* Each event but the one with which the second stream ends orders entries that nothing else does. */
TEST(test_a_missing_event_is_found)
{
    for (int i = 0; i < SUBJECTS; i++) {
        struct machine m;
        struct recording r = record(&m, i, PROGRAM_STEP);
        int events = 0, found = 0;
        tape_plan(r.tape);
        for (int e = 0; r.tape->turns && e < r.tape->main.count; e++) {
            struct stream_place *turn = (struct stream_place *)&r.tape->turns[e];
            int after = turn->after;
            if (after < 0)
                continue;
            turn->after = -1;
            events++;
            found += unordered(r.tape) > 0;
            turn->after = after;
        }
        if (events == 0 || found + 1 < events)
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
    assert_true(on_second(t) > 0);
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
    m.backend.device = NULL;
    assert_true(tape_plan(r.tape)->arena <= arena);
    assert_null(r.tape->turns);
    r.tape->turns = turns;
    assert_true(unordered(r.tape) > 0);
    m.backend.device = backend_fake.device;
    discard(&m, r);
}

/* Runs what may run of `ahead` before anything of the other stream. */
static void run_ahead(struct tape *t, int ahead)
{
    int count = t->main.count, at[2] = {0, 0};
    bool *over = calloc((size_t)count, sizeof *over);
    assert_non_null(over);
    for (int left = count; left > 0;) {
        int stream = ahead;
        for (int tries = 0; tries < 2; tries++, stream = 1 - stream) {
            int *e = &at[stream];
            while (*e < count && t->turns[*e].stream != stream)
                ++*e;
            if (*e < count && (t->turns[*e].after < 0 || over[t->turns[*e].after]))
                break;
        }
        int e = at[stream];
        assert_true(e < count);
        t->main.entries[e].kernel->run(t->main.entries[e].args);
        over[e] = true;
        at[stream]++;
        left--;
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
        for (int ahead = 0; ahead < 2; ahead++) {
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
    int events = 0;
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    tape_run(r.tape);
    assert_int_equal(m.fake.beside, 0);
    tape_capture(r.tape);
    for (int e = 0; e < r.tape->main.count; e++)
        events += r.tape->turns[e].after >= 0;
    assert_true(events > 0);
    assert_int_equal(m.fake.beside, on_second(r.tape));
    assert_int_equal(m.fake.awaited, events);
    discard(&m, r);
}
