/*
 * The plan: no two live storages overlap, reuse does not change any bit, and the peak is as expected for
 * small tapes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "graphs/graph.h"
#include "models/layers/model.h"
#include "models/tape/tape_internal.h"
#include "tests/test.h"

static const struct model_config small = {.layers = 2,
                                          .hidden = 24,
                                          .heads = 3,
                                          .ffn = 40,
                                          .act = ACT_GELU,
                                          .attention = ATTENTION_DENSE,
                                          .mpnn = MPNN_GIN};

static struct recording record_small(enum program_kind kind, struct batch *b, struct tape_config config,
                                     int64_t nodes)
{
    struct graph_config g = {.family = "er", .nodes = nodes, .degree = 3, .graphs = 3, .seed = 1};
    char error[256];
    assert_true(batch_generate(b, &g, error, sizeof error));
    return program_record(kind, &small, b, NULL, config);
}

static struct tape_config on_cpu(bool no_reuse, int threads)
{
    return (struct tape_config){
        .backend = backend_cpu(), .dtype = F32, .threads = threads, .seed = 3, .no_reuse = no_reuse};
}

/*
 * The lifetime of a storage, determined independently: from its first to its last use, or to the end if kept.
 */
struct lifetime {
    int first, last;
};

static void appears(struct lifetime *spans, const struct tape *t, const struct program *program, struct mat m,
                    int entry)
{
    if (!mat_present(m))
        return;
    struct lifetime *s = &spans[m.storage];
    if (s->first < 0)
        s->first = entry;
    s->last = t->storages[m.storage].keep ? program->count - 1 : entry;
}

static struct lifetime *spans_of(const struct tape *t, const struct program *program)
{
    struct lifetime *spans = malloc((size_t)t->storage_count * sizeof *spans);
    for (int i = 0; i < t->storage_count; i++)
        spans[i] = (struct lifetime){-1, -1};
    for (int e = 0; e < program->count; e++) {
        const struct entry *entry = &program->entries[e];
        const struct op_info *info = op_info(entry->op);
        for (int i = 0; i < info->operand_count; i++)
            if (operand_is_mat(&info->operands[i]))
                appears(spans, t, program, *operand_mat(&info->operands[i], entry->args), e);
        appears(spans, t, program, entry->scratch, e);
    }
    for (int i = 1; i < t->storage_count; i++)
        if (category_persistent(t->storages[i].category))
            spans[i] = (struct lifetime){0, program->count - 1};
    return spans;
}

/* The number of pairs of storages that are live at the same time and overlap in the arena. */
static int collisions(const struct tape *t, const struct program *program)
{
    struct lifetime *spans = spans_of(t, program);
    int found = 0;
    for (int i = 1; i < t->storage_count; i++)
        for (int j = i + 1; j < t->storage_count; j++) {
            const struct storage *a = &t->storages[i], *b = &t->storages[j];
            bool alive = spans[i].first >= 0 && spans[j].first >= 0 && spans[i].first <= spans[j].last &&
                         spans[j].first <= spans[i].last;
            bool touch = a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
            found += alive && touch && !a->alias && !b->alias;
        }
    free(spans);
    return found;
}

TEST(test_no_live_storages_overlap)
{
    for (enum program_kind kind = 0; kind < MODEL_PROGRAMS; kind++)
        for (int i = 0; i < 4; i++) {
            struct batch b;
            struct tape_config config = on_cpu(i % 2, 2);
            config.dtype = i / 2 ? BF16 : F32;
            struct recording r = record_small(kind, &b, config, 37);
            const struct plan *p = tape_plan(r.tape);
            assert_int_equal(collisions(r.tape, &r.tape->init), 0);
            assert_int_equal(collisions(r.tape, &r.tape->main), 0);
            for (int s = 1; s < r.tape->storage_count; s++)
                assert_true(r.tape->storages[s].offset + r.tape->storages[s].bytes <= p->arena);
            tape_free(r.tape);
            batch_free(&b);
        }
}

/* The check above can fail: it detects a storage moved onto another one. */
TEST(test_planted_overlap_is_found)
{
    struct batch b;
    struct recording r = record_small(PROGRAM_STEP, &b, on_cpu(false, 1), 37);
    tape_plan(r.tape);
    struct mat output = r.output, loss = r.loss; /* both are kept, so both are live at the end */
    r.tape->storages[output.storage].offset = r.tape->storages[loss.storage].offset;
    assert_true(collisions(r.tape, &r.tape->main) > 0);
    tape_free(r.tape);
    batch_free(&b);
}

static void run_steps(struct tape *t, int steps)
{
    assert_true(tape_layout(t));
    tape_init(t);
    for (int i = 0; i < steps; i++)
        tape_run(t);
}

/* VmFlags of the mapping that holds an address has "hg" since MADV_HUGEPAGE (proc(5), smaps). */
static bool asks_for_huge_pages(uintptr_t address)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    assert_non_null(maps);
    bool inside = false, asks = false;
    uintptr_t first, end;
    for (char line[1024]; fgets(line, sizeof line, maps);) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &first, &end) == 2)
            inside = first <= address && address < end;
        else if (inside && !strncmp(line, "VmFlags:", 8))
            asks = strstr(line, " hg") != NULL;
    }
    fclose(maps);
    return asks;
}

TEST(test_arena_asks_for_huge_pages)
{
    if (access("/sys/kernel/mm/transparent_hugepage", F_OK) != 0 || env_set("GTMARK_FOREIGN"))
        skip(); /* a kernel without them, or qemu, which passes no advice on */
    struct batch b;
    struct recording r = record_small(PROGRAM_FORWARD, &b, on_cpu(false, 1), 37);
    assert_true(tape_layout(r.tape));
    assert_true(asks_for_huge_pages((uintptr_t)tape_arena(r.tape)));
    tape_free(r.tape);
    batch_free(&b);
}

static void assert_same_parameters(const struct tape *a, const struct tape *b)
{
    for (int p = 0; p < tape_parameter_count(a); p++) {
        struct mat x = tape_parameter(a, p, NULL), y = tape_parameter(b, p, NULL);
        assert_memory_equal(x.data, y.data, (size_t)mat_bytes(x));
        struct mat gx = tape_gradient(a, x), gy = tape_gradient(b, y);
        assert_memory_equal(gx.data, gy.data, (size_t)mat_bytes(gx));
    }
}

/* Runs three training steps with two configurations: all parameters and gradients must be bitwise equal. */
static void assert_same_training(struct tape_config first, struct tape_config second)
{
    struct batch b, c;
    struct recording r = record_small(PROGRAM_STEP, &b, first, 61),
                     s = record_small(PROGRAM_STEP, &c, second, 61);
    run_steps(r.tape, 3);
    run_steps(s.tape, 3);
    assert_same_parameters(r.tape, s.tape);
    tape_free(r.tape);
    tape_free(s.tape);
    batch_free(&b);
    batch_free(&c);
}

TEST(test_reuse_changes_no_bit)
{
    assert_same_training(on_cpu(false, 2), on_cpu(true, 2));
}

TEST(test_threads_change_no_bit)
{
    assert_same_training(on_cpu(false, 1), on_cpu(false, 2));
    assert_same_training(on_cpu(false, 1), on_cpu(false, 3));
}

/* x -> a -> b -> c of 64 bytes each: at most two are live, so three storages need the memory of two. */
TEST(test_peak_of_a_chain)
{
    struct tape_config config = {.backend = &backend_ref, .dtype = F32, .threads = 1};
    struct tape *t = tape_new(&config);
    struct mat x = input_uniform(t, "x", all_rows(4), 4);
    struct mat a = op(t, add, .a = x, .b = x)->y, b = op(t, add, .a = a, .b = a)->y,
               c = op(t, add, .a = b, .b = b)->y;
    tape_keep(t, c);
    const struct plan *p = tape_plan(t);
    assert_int_equal(p->arena, 64 + 2 * 64);
    assert_int_equal(p->peak, 64 + 2 * 64);
    assert_int_equal(p->peak_entry, 1);
    assert_int_equal(p->at_peak[MEMORY_GRAPH], 64);
    assert_int_equal(p->at_peak[MEMORY_ACTIVATIONS], 128);
    assert_int_equal(tape_live_bytes(t, 0), 64 + 64);
    assert_int_equal(p->average, (2 * 64 + 2 * (3 * 64)) / 3);
    int64_t sum = 0;
    for (enum category c = 0; c < MEMORY_CATEGORIES; c++)
        sum += tape_live_of(t, 0, c);
    assert_int_equal(sum, 64 + 64);
    tape_free(t);
}

/* Scratch raises the peak, but not the operands, by which the roofline chooses a level of memory. */
TEST(test_operands_have_no_workspace)
{
    enum { SIZE = 64 * 64 * sizeof(float) };
    int64_t peak[2];
    for (int i = 0; i < 2; i++) {
        struct tape_config config = on_cpu(false, 1);
        config.backend = i == 0 ? &backend_ref : config.backend;
        struct tape *t = tape_new(&config);
        struct mat x = input_uniform(t, "x", all_rows(64), 64), w = param(t, "w", 64, 64, 64);
        tape_keep(t, op(t, linear, .x = x, .w = w)->y);
        const struct plan *p = tape_plan(t);
        assert_int_equal(p->operands, 3 * SIZE);
        assert_int_equal(p->peak, 3 * SIZE + p->at_peak[MEMORY_WORKSPACE]);
        peak[i] = p->peak;
        tape_free(t);
    }
    assert_true(peak[0] < peak[1]);
}

/* Parameters and gradients are dense and in the same order: the optimizer sees each as one vector. */
TEST(test_optimizer_sees_one_vector)
{
    struct batch b;
    struct recording r = record_small(PROGRAM_STEP, &b, on_cpu(false, 1), 20);
    assert_true(tape_layout(r.tape));
    int64_t at = 0;
    struct mat first = tape_parameter(r.tape, 0, NULL), gradient = tape_gradient(r.tape, first);
    for (int p = 0; p < tape_parameter_count(r.tape); p++) {
        struct mat m = tape_parameter(r.tape, p, NULL);
        assert_ptr_equal(m.data, (float *)first.data + at);
        assert_ptr_equal(tape_gradient(r.tape, m).data, (float *)gradient.data + at);
        at += mat_size(m);
    }
    const struct entry *last = tape_entry(r.tape, tape_entry_count(r.tape) - 1);
    assert_int_equal(last->op, OP_adamw);
    const struct adamw_args *a = last->args;
    assert_ptr_equal(a->p.data, first.data);
    assert_ptr_equal(a->g.data, gradient.data);
    assert_int_equal(a->p.cols, at);
    tape_free(r.tape);
    batch_free(&b);
}

/* Sizes beyond 63 bits, of one storage or in total, are reported as such. */
TEST(test_beyond_63_bits)
{
    static const int64_t rows[] = {INT64_C(1) << 31, INT64_C(1) << 30};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tape_config config = on_cpu(i == 1, 1);
        struct tape *t = tape_new(&config);
        struct mat x = input_uniform(t, "x", all_rows(rows[i]), rows[i]);
        op(t, add, .a = x, .b = op(t, add, .a = x, .b = x)->y);
        const struct plan *plan = tape_plan(t);
        assert_int_equal(plan->arena, BYTES_MOST);
        assert_int_equal(plan->peak, BYTES_MOST);
        assert_int_equal(plan->operands, BYTES_MOST);
        assert_int_equal(plan->at_peak[MEMORY_GRAPH], i == 0 ? BYTES_MOST : INT64_C(1) << 62);
        tape_free(t);
    }
}
