/* The basis of random graphs: a permutation of the numbers of pairs, and the pair for a number. */
#include "graphs/csr.h"
#include "graphs/pairs.h"
#include "graphs/permutation.h"
#include "tests/test.h"

/* Every image occurs once: all sizes around several powers of two, with two keys. */
TEST(permutation_is_a_bijection)
{
    enum { MOST = 5000 };
    for (uint64_t size = 1; size <= MOST; size += size < 300 ? 1 : size - 299)
        for (uint64_t key = 0; key < 2; key++) {
            struct permutation p = permutation_make(key, size);
            static bool seen[MOST];
            memset(seen, 0, sizeof seen);
            for (uint64_t i = 0; i < size; i++) {
                uint64_t image = permutation_at(&p, i);
                assert_true(image < size && !seen[image]);
                seen[image] = true;
            }
        }
}

/* Samples from a domain of 2^61: all within it, spread over it, and distinct. */
TEST(permutation_serves_the_largest_domain)
{
    enum { DRAWS = 3000 };
    uint64_t size = (UINT64_C(1) << 61) + 12345, image[DRAWS];
    int count[16] = {0};
    struct permutation p = permutation_make(7, size);
    for (uint64_t i = 0; i < DRAWS; i++) {
        image[i] = permutation_at(&p, size - 1 - i);
        assert_true(image[i] < size);
        for (uint64_t j = 0; j < i; j++)
            assert_true(image[i] != image[j]);
        count[image[i] / (size / 16 + 1)]++;
    }
    for (int part = 0; part < 16; part++)
        assert_between(count[part], DRAWS / 16 - 50, DRAWS / 16 + 50);
}

TEST(pairs_are_numbered_in_order)
{
    uint64_t index = 0;
    for (int64_t high = 1; high < 400; high++)
        for (int64_t low = 0; low < high; low++) {
            struct node_pair p = node_pair_at(index++);
            assert_true(p.low == low && p.high == high);
        }
}

/* The start and the end of the row of `high`, up to the last pair of the largest graph. */
TEST(pairs_are_exact_at_the_largest_sizes)
{
    for (int64_t step = 0; step < 20000; step++) {
        int64_t high = CSR_MAX_NODES - 1 - step * (step < 10000 ? 1 : 90001);
        uint64_t begin = (uint64_t)high * (uint64_t)(high - 1) / 2;
        struct node_pair before = node_pair_at(begin - 1), first = node_pair_at(begin);
        struct node_pair last = node_pair_at(begin + (uint64_t)high - 1);
        assert_true(before.low == high - 2 && before.high == high - 1);
        assert_true(first.low == 0 && first.high == high);
        assert_true(last.low == high - 1 && last.high == high);
    }
}

GROUP("permutation", NULL, NULL)
