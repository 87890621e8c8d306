/*
 * Sets as runs, compared with one flag per number; and a step with more pairs of nodes than could be flagged.
 */
#include "kernels/rng.h"
#include "models/layers/model.h"
#include "models/tape/runs.h"
#include "tests/test.h"

enum { NUMBERS = 40, ADDED = 12, ROUNDS = 2000 };

static void expect_same(const struct runs *s, const bool *in, struct run r)
{
    int64_t common = 0, first = r.first;
    for (int64_t n = r.first; n < r.end; n++)
        common += in[n];
    while (first < r.end && in[first])
        first++;
    int64_t end = first;
    while (end < r.end && !in[end])
        end++;
    assert_int_equal(runs_common(s, r), common);
    struct run gap = runs_gap(s, r);
    assert_int_equal(gap.first, first);
    assert_int_equal(gap.end, end);
}

static struct run random_run(uint64_t key, uint64_t counter)
{
    uint64_t bits = rng_bits(key, counter);
    int64_t first = (int64_t)(bits % NUMBERS), most = NUMBERS - first;
    return (struct run){first, first + 1 + (int64_t)((bits >> 32) % (uint64_t)most)};
}

TEST(test_as_marks)
{
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct arena *arena = arena_new();
        struct runs s = {0};
        bool in[NUMBERS] = {false};
        for (uint64_t n = 0; n < ADDED; n++) {
            struct run r = random_run(round, 2 * n), asked = random_run(round, 2 * n + 1);
            r.end = r.end < r.first + 5 ? r.end : r.first + 5;
            runs_add(&s, arena, r);
            memset(in + r.first, true, (size_t)(r.end - r.first) * sizeof *in);
            expect_same(&s, in, asked);
            expect_same(&s, in, (struct run){0, NUMBERS});
        }
        for (int i = 1; i < s.count; i++)
            assert_true(s.list[i - 1].end < s.list[i].first);
        arena_free(arena);
    }
}

/*
 * Attention that stores its probabilities, with 4 10^14 pairs per head: planning takes no longer than usual.
 */
TEST(test_many_pairs_are_planned)
{
    struct graph_config g = {.family = "er", .nodes = 20000000, .degree = 5, .graphs = 1, .seed = 1};
    struct model_config c = {.layers = 2,
                             .hidden = 64,
                             .heads = 4,
                             .ffn = 128,
                             .act = ACT_GELU,
                             .attention = ATTENTION_UNFUSED,
                             .mpnn = MPNN_GIN};
    struct tape_config t = {.backend = &backend_ref, .dtype = F32, .threads = 1, .seed = 1};
    struct batch b;
    char error[256];
    assert_true(batch_shape(&b, &g, error, sizeof error));
    struct recording r = program_record(PROGRAM_STEP, &c, &b, NULL, t);
    int64_t probabilities = b.pairs * c.heads * (int64_t)sizeof(float);
    assert_true(tape_plan(r.tape)->peak > c.layers * probabilities);
    tape_free(r.tape);
    batch_free(&b);
}
