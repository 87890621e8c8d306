/* Which programs take part in which turns: within the budget, at least some, and more where states divide
 * them. */
#include "bench/sweep/jobs.h"
#include "tests/test.h"

/* Takes the planned turns with runs of this length, each with an equal part of the share while there is time;
 * returns their number. */
static int take(struct timing *s, const struct sampling_options *o, double call, bool is_encoding, int timely)
{
    for (int turn = 0; turn < o->turns; turn++) {
        s->block = turn < timely ? s->share / o->turns : 0;
        s->earned += s->block;
        struct block_plan b = timing_plan(s, o, turn, is_encoding);
        if (!b.wanted)
            continue;
        s->turns++;
        s->call = call;
        s->spent += call > b.seconds ? call : b.seconds;
    }
    return s->turns;
}

TEST(test_short_runs)
{
    struct sampling_options o = {.turns = 10, .warmup = -1};
    struct timing s = {.is_wanted = true, .share = 2, .block = 0.2};
    assert_true(timing_plan(&s, &o, 0, false).seconds == 0.2);
    assert_int_equal(take(&s, &o, 0.01, false, 10), 10);
    struct timing none = {.share = 2};
    assert_int_equal(take(&none, &o, 0.01, false, 10), 0);
}

/* Once no time is left, only the least number of turns is taken. */
TEST(test_no_time)
{
    struct sampling_options o = {.turns = 10, .warmup = -1};
    struct timing five = {.is_wanted = true, .share = 2}, none = five;
    assert_int_equal(take(&five, &o, 0.01, false, 5), 5);
    assert_int_equal(take(&none, &o, 0.01, false, 0), TURNS_LEAST);
}

/* Runs that exceed their part take fewer turns, spread over the sweep, but not fewer than the least. */
TEST(test_long_runs)
{
    struct sampling_options o = {.turns = 10, .warmup = -1};
    struct timing s = {.is_wanted = true, .share = 10};
    assert_int_equal(take(&s, &o, 2, false, 10), 5);
    struct timing longer = {.is_wanted = true, .share = 10};
    assert_int_equal(take(&longer, &o, 100, false, 10), TURNS_LEAST);
    struct timing encoding = {.is_wanted = true, .share = 10};
    assert_int_equal(take(&encoding, &o, 100, true, 10), 1);
    assert_false(timing_plan(&(struct timing){.call = 0.05}, &o, 0, false).is_long);
    assert_true(timing_plan(&longer, &o, 0, false).is_long);
}

/* Seven runs in three turns are 3, 2 and 2; two in three turns are 1 and 1. */
TEST(test_given_runs)
{
    struct sampling_options o = {.turns = 3, .runs = 7};
    struct timing s = {.is_wanted = true};
    int runs[3] = {0};
    for (s.turns = 0; s.turns < 3; s.turns++)
        runs[s.turns] = timing_plan(&s, &o, s.turns, false).runs;
    assert_true(runs[0] == 3 && runs[1] == 2 && runs[2] == 2);
    o.runs = 2;
    s.turns = 1;
    assert_int_equal(timing_plan(&s, &o, 1, false).runs, 1);
    s.turns = 2;
    assert_false(timing_plan(&s, &o, 2, false).wanted);
    s.turns = 3;
    assert_false(timing_plan(&s, &o, 0, false).wanted); /* of a row that is complete */
}

TEST(test_more_turns)
{
    struct sampling_options o = {.turns = 10};
    struct timing s = {.is_wanted = true, .call = 1, .turns = 10, .reported = 5};
    assert_true(timing_lacks_turns(&s, &o, 4));
    assert_false(timing_lacks_turns(&s, &o, 3.9));
    s.block = 2;
    assert_false(timing_lacks_turns(&s, &o, 4));
    s.reported = 7;
    assert_false(timing_lacks_turns(&s, &o, 100));
    s.reported = 3;
    o.turns = 6; /* asked for fewer */
    assert_false(timing_lacks_turns(&s, &o, 100));
    o = (struct sampling_options){.turns = 10, .runs = 5};
    assert_false(timing_lacks_turns(&s, &o, 100));
}
