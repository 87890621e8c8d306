/*
 * Rows of Graphormer: its parameters, all that it can be combined with, awkward graphs, its memory, a preset
 * that is only planned, and what is refused. Its mathematics is in test_golden.c and test_models.c, paths in
 * test_distances.c, presets in test_presets.c.
 */
#include <math.h>

#include "tests/records.h"
#include "tests/refusals.h"
#include "tests/test.h"

#define TINY                                                                                                 \
    "--model graphormer --hidden 16 --heads 2 --layers 2 --runs 1 --repetitions 1 --warmup 0 --threads 1 "   \
    "--output x.json "

/* Degrees, token, 20 buckets, pairs without a path and with a token, 4 types, 5 hops, and a norm at the end.
 */
TEST(test_parameters)
{
    struct record *record = run_json(*state, TINY "--nodes 30 --batch 3", 0);
    const struct row *row = row_at(record, 0);
    assert_string_equal(text_at(row, "status"), "ok");
    assert_string_equal(text_at(row, "checked"), "whole");
    assert_string_equal(text_at(row, "pool"), "token");
    assert_string_equal(text_at(row, "bias"), "spd:20:5");
    assert_int_equal(count_at(row, "ffn"), 16);
    int64_t bias = 22 * 2 + 4 * 2 + 5 * 2 * 2, layer = 6 * 16 * 16 + 10 * 16;
    assert_int_equal(count_at(row, "parameters"), 17 * 16 + 128 * 16 + 16 + bias + 2 * layer + 32 + 17);
    assert_int_equal(count_at(row, "step.flops.counted"), count_at(row, "step.flops.analytic"));
    assert_int_equal(count_at(row, "forward.flops.counted"), count_at(row, "forward.flops.analytic"));
    record_free(record);
}

/* The axes that it sets do what they say; without all of them it is still not a layer of GPS. */
TEST(test_axes)
{
    struct record *record = run_json(
        *state,
        "--device meta --model graphormer,graph_transformer --pool mean --bias none --ffn 64 --nodes 30", 0);
    const struct row *own = row_at(record, 0), *gps = row_at(record, 1);
    assert_string_equal(text_at(own, "pool"), "mean");
    assert_string_equal(text_at(own, "bias"), "none");
    assert_int_equal(count_at(own, "parameters"), count_at(gps, "parameters") + 128 * 256 + 512);
    assert_string_not_equal(text_at(own, "work"), text_at(gps, "work"));
    record_free(record);
}

TEST(test_combinations)
{
    static const char *const words[] = {
        "--nodes 1",
        "--nodes 20 --degree 0 --batch 3",
        "--nodes 20 --batch 5 --dropout 0.1 --attention-dropout 0.2 --checkpoint layer",
        "--nodes 20 --batch 3 --precision bf16,tf32 --norm batch",
        "--nodes 20 --task node --mlp fused --pe rwse:3:8",
        "--nodes 20 --attention unfused,performer --bias none --norm graph",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char all[256];
        snprintf(all, sizeof all, TINY "%s", words[i]);
        struct record *record = run_json(*state, all, 0);
        for (size_t n = 0; n < row_count(record); n++)
            assert_string_equal(text_at(row_at(record, n), "status"), "ok");
        record_free(record);
    }
}

TEST(test_resident_is_planned)
{
    expect_resident_step(*state, "--preset graphormer-slim --batch 64 --layers 3");
}

/* Of the base model the parameters, FLOPs and memory, without running it. */
TEST(test_base_is_planned)
{
    struct record *record = run_json(*state, "--device meta --preset graphormer-base", 0);
    const struct row *row = row_at(record, 0);
    assert_int_equal(count_at(row, "parameters"), 47085377);
    /* 12 layers of products of 6 d^2 entries, of 14.1 nodes and a token in each of 256 graphs, thrice */
    double flops = real_at(row, "step.flops.analytic"), least = 3. * 12 * 2 * 6 * 768 * 768 * 256 * 15.1;
    assert_true(flops > least && flops < 1.1 * least);
    assert_true(count_at(row, "step.memory.planned") > 4 * 4 * 47085377LL);
    record_free(record);
}

/* A node with as many edges as there are rows of degrees, of which only the graph tells. */
TEST(test_degrees)
{
    struct record *record = run_json(*state, TINY "--graph star --nodes 64", 0);
    assert_string_equal(text_at(row_at(record, 0), "status"), "ok");
    record_free(record);
    record = run_json(*state, TINY "--graph star --nodes 65", 1);
    assert_string_equal(text_at(row_at(record, 0), "status"), "failed");
    assert_string_equal(text_at(row_at(record, 0), "reason"),
                        "a node has 64 edges; the model has rows for fewer than 64");
    record_free(record);
}

TEST(test_refusals)
{
    refuses(*state, "--model graphormer --nodes 500 --degree 64", NULL, "--degree 64", "below 64");
    refuses(*state, "--model graphormer --mpnn gin", NULL, "--mpnn gin", "no message passing");
    refuses(*state, "--model graphormer --attention none", NULL, "--attention none", "needs attention");
    refuses(*state, "--model graphormer --bias none --attention sparse", NULL, "--pool token", "all nodes");
    refuses(*state, "--model gps --pool token", NULL, "--pool token", "no message passing");
    refuses(*state, "--model graphormer --batching padded --batch 2", NULL, "--batching padded",
            "--pool mean or sum");
    refuses(*state, "--model graphormer --bias none --ranks 2 --batch 2 --device meta", NULL, "--ranks 2",
            "a token or tables of degrees");
    refuses(*state, "--model graphormer --ranks 2 --parallel ulysses --device meta", NULL,
            "--parallel ulysses", "--bias");
    refuses(*state, "--model graphormer --nodes 30000 --mem-limit 10GiB", NULL,
            "--bias spd:20:5 --nodes 30000", "the pairs need");
}

GROUP("tests", house_setup, house_teardown)
