/* What ways of batching compute, for sizes that can be worked out by hand, and their order for any batch. */
#include "graphs/batching.h"
#include "tests/graphs.h"
#include "tests/test.h"

enum { GRAPHS_MAX = 16 };

static struct batching_work work_of(const int64_t *sizes, int64_t graphs, enum batching way)
{
    int64_t offset[GRAPHS_MAX + 1] = {0}, pairs = 0;
    for (int64_t g = 0; g < graphs; g++) {
        offset[g + 1] = offset[g] + sizes[g];
        pairs += sizes[g] * sizes[g];
    }
    struct batch b = {.graphs = graphs, .offset = offset, .pairs = pairs, .adj = {.nodes = offset[graphs]}};
    return batching_work(&b, way);
}

static void expect(const int64_t *sizes, int64_t graphs, enum batching way, int64_t rows, int64_t pairs)
{
    struct batching_work w = work_of(sizes, graphs, way);
    if (w.rows != rows || w.pairs != pairs)
        fail_msg("%s: %lld rows, %lld pairs, not %lld and %lld", batching_name(way), (long long)w.rows,
                 (long long)w.pairs, (long long)rows, (long long)pairs);
}

/*
 * Buckets: 1; 3 and 4; 5 and 8; 9. Sequences of 9 rows: 5, 3 and 1; 8; 4; 9.
 */
TEST(test_by_hand)
{
    static const int64_t sizes[] = {5, 8, 3, 4, 9, 1};
    (void)state;
    expect(sizes, 6, BATCHING_RAGGED, 30, 25 + 64 + 9 + 16 + 81 + 1);
    expect(sizes, 6, BATCHING_PADDED, 6 * 9, 6 * 81);
    expect(sizes, 6, BATCHING_BUCKETED, 1 + 2 * 4 + 2 * 8 + 9, 1 + 2 * 16 + 2 * 64 + 81);
    expect(sizes, 6, BATCHING_PACKED, 4 * 9, 4 * 81);
}

/* Not in the sequence opened last, nor in the one with the least room. */
TEST(test_first_fit)
{
    static const int64_t sizes[] = {5, 7, 10, 3, 3, 2, 2};
    (void)state;
    expect(sizes, 7, BATCHING_PACKED, 4 * 10, 4 * 100); /* 5 3 2, 7 3, 10, 2 */
}

TEST(test_equal_sizes)
{
    static const int64_t sizes[] = {7, 7, 7};
    (void)state;
    for (enum batching way = 0; way < BATCHINGS; way++)
        expect(sizes, 3, way, 21, 147);
    for (enum batching way = 0; way < BATCHINGS; way++)
        expect(sizes, 1, way, 7, 49);
}

TEST(test_beyond_63_bits)
{
    static const int64_t sizes[] = {INT64_C(2147483647), 1, 1};
    (void)state;
    expect(sizes, 3, BATCHING_PADDED, 3 * INT64_C(2147483647), -1);
    assert_true(work_of(sizes, 3, BATCHING_BUCKETED).pairs > 0);
}

/* Nothing needs fewer rows or pairs than ragged, or more than padded. */
TEST(test_order)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct batch b = graph_generated("er", 20, 3, (int64_t)(3 * seed), seed);
        struct batching_work least = batching_work(&b, BATCHING_RAGGED),
                             most = batching_work(&b, BATCHING_PADDED);
        for (enum batching way = BATCHING_BUCKETED; way < BATCHINGS; way++) {
            struct batching_work w = batching_work(&b, way);
            assert_true(w.rows >= least.rows && w.rows <= most.rows);
            assert_true(w.pairs >= least.pairs && w.pairs <= most.pairs);
        }
        batch_free(&b);
    }
}
