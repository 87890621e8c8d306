/*
 * The check of Laplacian encodings: it finds planted skips in graphs of every family for which rows say
 * `complete`, 20 of 20, and nothing in what the solvers compute; vectors that are not orthonormal; and what
 * it says when it may not take long enough.
 */
#include <math.h>

#include "bench/row/encode.h"
#include "kernels/rng.h"
#include "models/encodings/check.h"
#include "tests/encodings.h"
#include "tests/graphs.h"
#include "tests/spectra.h"
#include "tests/test.h"

enum { TRIALS = 20 };

static const double LEAST = 2e-3; /* relative distance of a skipped eigenvalue from the largest that counts */

static struct encoding_check check_with(const struct encoding *e, const struct batch *b,
                                        enum encoding_kind kind, double flops)
{
    struct encoding_config c = {.kind = kind, .k = e->values.cols};
    struct encoding_check_options o = {.seed = 42, .threads = 2, .flops = flops};
    return encoding_check(&c, b, e, &o);
}

static struct encoding_check check(const struct encoding *e, const struct batch *b, enum encoding_kind kind)
{
    return check_with(e, b, kind, 1e12);
}

static void expect_complete(const struct encoding *e, const struct batch *b, enum encoding_kind kind,
                            const char *what)
{
    struct encoding_check c = check(e, b, kind);
    if (*c.wrong || *c.unchecked)
        fail_msg("%s of %s, %lld nodes, %d pairs: %s%s", encoding_name(kind), what, (long long)b->adj.nodes,
                 (int)e->values.cols, c.wrong, c.unchecked);
    assert_string_equal(c.how, "orthonormal, and no smaller pair found");
}

/*
 * A random pair of graph 0 whose absence matters: of K + 1 pairs, one that is clearly below the last. -1 if
 * all are equal, as where there are more components than pairs.
 */
static int64_t pair_to_skip(const struct encoding *e, uint64_t seed)
{
    int64_t last = e->pairs[0] - 1, smaller = 0;
    while (smaller < last && eigenvalue_at(e, 0, smaller) < (1 - LEAST) * eigenvalue_at(e, 0, last))
        smaller++;
    return smaller ? (int64_t)(rng_bits(seed, 7) % (uint64_t)smaller) : -1;
}

/* The number of planted skips that are found, of those that were planted. */
static int found_of(const char *family, enum encoding_kind kind, int64_t nodes, int64_t k, int *planted)
{
    int found = 0;
    *planted = 0;
    for (uint64_t seed = 1; *planted < TRIALS && seed <= 3 * TRIALS; seed++) {
        struct batch b = graph_generated(family, nodes, 5, 1, seed);
        struct encoding more = lappe_of(&b, kind, k + 1, SOLVER_AUTO, 2);
        int64_t skipped = more.pairs[0] > k ? pair_to_skip(&more, seed) : -1;
        if (skipped >= 0) {
            struct encoding all = encoding_without(&more, &b, k), less = encoding_without(&more, &b, skipped);
            expect_complete(&all, &b, kind, family);
            struct encoding_check c = check(&less, &b, kind);
            bool is_found = strstr(c.wrong, "pairs were left out");
            if (!is_found)
                print_message(
                    "%s of %s, %lld nodes, seed %d: pair %d of %d, %.6g of %.6g, is not missed: %s%s\n",
                    encoding_name(kind), family, (long long)b.adj.nodes, (int)seed, (int)skipped, (int)k,
                    eigenvalue_at(&more, 0, skipped), eigenvalue_at(&more, 0, k), c.wrong, c.unchecked);
            found += is_found;
            ++*planted;
            encoding_free(&all);
            encoding_free(&less);
        }
        encoding_free(&more);
        batch_free(&b);
    }
    return found;
}

/*
 * Where there are more components than pairs, nothing can be left out: then with more pairs. Nor can anything
 * where all eigenvalues are equal, as all but the smallest are in a star or a complete graph.
 */
static void test_family(const char *family, enum encoding_kind kind, int64_t nodes, int64_t k)
{
    int planted = 0, found = 0;
    bool equal =
        kind == ENCODING_LAP_PYG && (strncmp(family, "star", 4) == 0 || strncmp(family, "complete", 8) == 0);
    for (; k < nodes / 2 && planted == 0; k *= 3)
        found = found_of(family, kind, nodes, k, &planted);
    if (planted != (equal ? 0 : TRIALS) || found < planted)
        fail_msg("%s of %s: %d of %d planted skips are found", encoding_name(kind), family, found, planted);
}

/* The first four families also reduced to their giant components; in a soak all. */
TEST(test_planted_skips)
{
    needs_lapack();
    static const char *const kinds[] = {"", ":giant"};
    bool small = env_set("GTMARK_SMALL"), soak = env_set("GTMARK_SOAK");
    for (const struct graph_family *f = graph_families; f->name; f++) {
        bool first = f < graph_family_named("ws");
        int64_t nodes = first && !small ? 400 : first || soak ? 120 : 60;
        int giant_components = soak || (first && !small);
        for (int giant = 0; giant <= giant_components; giant++)
            for (int kind = ENCODING_LAP; kind <= ENCODING_LAP_PYG; kind++) {
                char family[32];
                snprintf(family, sizeof family, "%s%s", f->name, kinds[giant]);
                if (encode_check_is_proven(family))
                    test_family(family, (enum encoding_kind)kind, nodes, 16);
            }
    }
}

TEST(test_planted_skips_in_shapes)
{
    needs_lapack();
    for (const struct graph_shape *s = graph_shapes; s->name; s++)
        for (int kind = ENCODING_LAP; kind <= ENCODING_LAP_PYG; kind++)
            if (encode_check_is_proven(s->name) && (s->nodes < 80 || env_set("GTMARK_SOAK")))
                test_family(s->name, (enum encoding_kind)kind, (int64_t)s->nodes, 4);
}

/* Larger graphs, and few and many pairs. */
TEST(test_planted_skips_in_other_sizes)
{
    needs_lapack();
    if (!env_set("GTMARK_SOAK"))
        skip();
    static const char *const larger[] = {"er:giant", "grid", "ba", "rmat:giant"};
    static const int64_t pairs[] = {2, 7, 40};
    int planted;
    for (int f = 0; f < 4; f++)
        for (int k = 0; k < 3; k++) {
            int found = found_of(larger[f], ENCODING_LAP, 3000, pairs[k], &planted);
            assert_int_equal(found, planted);
        }
}

/* All copies of an eigenvalue count, in graphs with closed forms; small graphs are searched completely. */
TEST(test_copies)
{
    needs_lapack();
    for (const struct known_graph *g = known_graphs; g->name; g++)
        for (int64_t n = 5; n < 400; n = 2 * n + 1) {
            struct builder d = {0};
            g->build(&d, n);
            struct batch b = builder_done(&d);
            int64_t k = n < 20 ? 3 : 12;
            struct encoding more = lappe_of(&b, ENCODING_LAP, k + 1, SOLVER_AUTO, 2);
            struct encoding all = encoding_without(&more, &b, k);
            expect_complete(&all, &b, ENCODING_LAP, g->name);
            int64_t skipped = more.pairs[0] > k ? pair_to_skip(&more, (uint64_t)n) : -1;
            if (skipped >= 0) {
                struct encoding less = encoding_without(&more, &b, skipped);
                assert_non_null(strstr(check(&less, &b, ENCODING_LAP).wrong, "pairs were left out"));
                encoding_free(&less);
            }
            encoding_free(&all);
            encoding_free(&more);
            batch_free(&b);
        }
}

/* Batches with graphs smaller than K, isolated nodes and no edges. */
TEST(test_batches)
{
    needs_lapack();
    struct batch batches[] = {graph_generated("er", 23, 2, 12, 9), graph_generated("er", 150, 0.6, 3, 4),
                              graph_generated("er", 30, 0, 2, 4), graph_generated("ba", 40, 4, 6, 2)};
    for (int i = 0; i < 4; i++) {
        for (int kind = ENCODING_LAP; kind <= ENCODING_LAP_PYG; kind++)
            for (int64_t k = 1; k <= 64; k *= 4) {
                struct encoding e = lappe_of(&batches[i], (enum encoding_kind)kind, k, SOLVER_AUTO, 2);
                expect_complete(&e, &batches[i], (enum encoding_kind)kind, "a batch");
                encoding_free(&e);
            }
        batch_free(&batches[i]);
    }
}

/* A vector that occurs twice, in place of another one of nearly the same eigenvalue. */
TEST(test_not_orthonormal)
{
    needs_lapack();
    struct batch b = graph_generated("ba", 300, 5, 1, 3);
    struct encoding e = lappe_of(&b, ENCODING_LAP, 8, SOLVER_AUTO, 2);
    for (int64_t i = 0; i < b.adj.nodes; i++)
        mat_set(e.values, i, 7, mat_get(e.values, i, 6));
    struct encoding_check c = check(&e, &b, ENCODING_LAP);
    assert_non_null(strstr(c.wrong, "lap: the vectors of graph 0 are not orthonormal"));
    encoding_free(&e);
    batch_free(&b);
}

static bool at_once(const void *context)
{
    (void)context;
    return true;
}

TEST(test_what_is_unchecked)
{
    needs_lapack();
    struct batch b = graph_generated("grid", 2000, 0, 1, 1);
    struct encoding e = lappe_of(&b, ENCODING_LAP, 8, SOLVER_AUTO, 2);
    struct encoding_check c = check_with(&e, &b, ENCODING_LAP, 1e4);
    assert_string_equal(c.unchecked, "it would take longer than --check-budget");
    assert_string_equal(c.wrong, "");
    struct encoding_config config = {.kind = ENCODING_LAP, .k = 8};
    struct encoding_check_options stopped = {.threads = 1, .cancel = {at_once, NULL}, .flops = 1e12};
    c = encoding_check(&config, &b, &e, &stopped);
    assert_string_equal(c.unchecked, "the check was cancelled");
    encoding_free(&e);
    batch_free(&b);
}
