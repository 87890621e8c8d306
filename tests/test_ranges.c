/*
 * Ranges of simulated times on a machine whose host moves the processors and whose other programs take time:
 * how often they contain the quiet time of the machine's best state, how often programs that are equally fast
 * get a direction, and how often a difference is found, by the number of states, of turns, and the load.
 */
#include "analysis/record/row_range.h"
#include "analysis/statistics/statistics.h"
#include "kernels/rng.h"
#include "tests/sanitized.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

#include <math.h>

enum { TURNS_MOST = 24, PAIRS = 400 };

struct machine {
    int states;  /* each 1.4 times as slow as the one before, for about four turns at a time */
    double load; /* mean share of a turn that goes to other programs; every turn has its own, from 0 to twice
                    that */
};

/* From 0 to 1. */
static double draw(uint64_t key, size_t i)
{
    return (double)(rng_bits(key, i) >> 11) * 0x1p-53;
}

/* A run of n turns of a program that takes `seconds` on the quiet machine in its best state, within 2 %. */
static struct row *run_of(const struct machine *m, double seconds, size_t n, uint64_t key)
{
    struct turn turns[TURNS_MOST];
    double times[TURNS_MOST], lost[TURNS_MOST];
    int state = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || draw(key, 4 * i) < 0.25)
            state = (int)(draw(key, 4 * i + 1) * m->states);
        double slower = pow(1.4, state), noise = 1 + 0.02 * draw(key, 4 * i + 2);
        struct probe probe = {{1e-7 * pow(3, state) * (1 + 0.02 * draw(key, 4 * i + 3)), NAN, NAN}};
        turns[i] = (struct turn){1, probe, probe};
        lost[i] = 2 * m->load * draw(key ^ 1, i);
        times[i] = seconds * slower * noise / (1 - lost[i]);
    }
    struct turns t = {n, turns, times};
    struct states states = states_find(turns, n);
    struct reported r = reported_choose(&t, &states);
    struct row *row = good_row(500);
    row_set_times(row, "step.time", &t, &r);
    row->step.time.lost = summarize(lost, n).median;
    row_derive(row);
    reported_free(&r);
    return row;
}

/* Shares of pairs: with a direction; and of their ranges that reach down to the quiet time. */
struct shares {
    double directed, covered;
};

/* Pairs of which the second is `ratio` times as slow, with a fifth of its turns less. */
static struct shares shares_of(const struct machine *m, size_t n, double ratio, struct verdict_limits limits)
{
    struct shares s = {0};
    for (uint64_t pair = 1; pair <= PAIRS; pair++) {
        struct row *a = run_of(m, 1, n, 4 * pair), *b = run_of(m, ratio, n - n / 5, 4 * pair + 2);
        struct range range = row_range(a, TIMED_STEP);
        enum verdict_kind kind = row_verdict(a, TIMED_STEP, b, TIMED_STEP, limits).kind;
        s.directed += (kind == VERDICT_FASTER || kind == VERDICT_SLOWER) / (double)PAIRS;
        s.covered += (range_floor(&range) <= 1.02) / (double)PAIRS;
        row_free(a);
        row_free(b);
    }
    return s;
}

static const struct machine machines[] = {{1, 0},   {2, 0},   {3, 0},   {1, 0.1}, {2, 0.1},
                                          {3, 0.1}, {1, 0.3}, {2, 0.3}, {3, 0.3}};
enum { MACHINES = sizeof machines / sizeof *machines };
static const size_t turns[] = {8, 12, 24};

/* Sanitizers need every line once, and find no more in other numbers. */
static bool chosen(size_t machine, size_t k)
{
    return !SANITIZED || (machines[machine].states == 2 && machines[machine].load == 0.1 && turns[k] == 12);
}

/* 1 in 400 quiet, 1 in 100 loaded; a state that only one turn was in is seen by no probe beside it, so that a
 * few turns in several states are told apart less well. */
static double most_false(const struct machine *m)
{
    return m->load > 0 || m->states > 1 ? 0.0101 : 0.0025;
}

TEST(test_equal_programs)
{
    for (size_t i = 0; i < MACHINES; i++)
        for (size_t k = 0; k < 3; k++) {
            const struct machine *m = &machines[i];
            if (!chosen(i, k))
                continue;
            struct shares across = shares_of(m, turns[k], 1, verdict_across),
                          within = shares_of(m, turns[k], 1, verdict_within);
            print_message(
                "# %d states, load %.1f, %zu turns: %.4f of two runs, %.4f of one get a direction; %.3f "
                "reach the quiet time\n",
                m->states, m->load, turns[k], across.directed, within.directed, across.covered);
            assert_true(fmax(across.directed, within.directed) <= most_false(m));
            assert_true(m->states > 1 || across.covered > 0.999);
        }
}

TEST(test_differences)
{
    for (size_t i = 0; i < MACHINES; i++)
        for (size_t k = 1; k < 3; k++) {
            const struct machine *m = &machines[i];
            if (!chosen(i, k))
                continue;
            struct shares fifth = shares_of(m, turns[k], 1.2, verdict_across),
                          five = shares_of(m, turns[k], 5, verdict_across);
            print_message("# %d states, load %.1f, %zu turns: %.3f of 1.2, %.3f of 5 times found\n",
                          m->states, m->load, turns[k], fifth.directed, five.directed);
            assert_true(m->states > 1 || m->load > 0 || fifth.directed > 0.95);
            assert_true(five.directed > 0.5);
        }
}
