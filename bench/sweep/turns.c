#include "bench/sweep/turns.h"

#include "analysis/statistics/statistics.h"

/* A longer run is not repeated for a warm-up. */
static const double long_run = 0.1;

void slot_learn(struct slot *s, const struct measurement *m, size_t timed, const struct states *states)
{
    const struct samples *samples = measurement_samples(m, timed);
    if (!samples)
        return;
    struct turns turns = samples_turns(samples);
    struct reported reported = reported_choose(&turns, states);
    s->call = reported_median(&reported);
    s->reported = (int)reported.turns;
    s->turns = samples->turns;
    s->spent = samples->elapsed;
    reported_free(&reported);
}

static bool is_affordable(const struct slot *s, int turns, int turn, bool is_encoding)
{
    bool must = s->turns < TURNS_LEAST && turns - turn <= TURNS_LEAST - s->turns;
    if (is_encoding)
        must = must && s->spent + s->call <= 3 * s->share;
    return s->turns < turns && (turn == 0 || must || (s->block > 0 && s->earned - s->spent >= s->call / 2));
}

struct block_plan slot_plan(const struct slot *s, const struct sampling_options *o, int turn,
                            bool is_encoding)
{
    struct block_plan b = {.seconds = s->block, .is_long = s->call > long_run};
    if (o->runs > 0 && s->turns < o->turns)
        b.runs = o->runs / o->turns + (s->turns < o->runs % o->turns);
    b.wanted = s->is_wanted && (o->runs > 0 ? b.runs > 0 : is_affordable(s, o->turns, turn, is_encoding));
    return b;
}

bool slot_lacks_turns(const struct slot *s, const struct sampling_options *o, double left)
{
    bool possible = o->runs == 0 && o->turns >= REPORTED_MIN;
    double needs = (REPORTED_MIN - s->reported) * (s->call > s->block ? s->call : s->block);
    return s->is_wanted && possible && s->turns > 0 && s->reported < REPORTED_MIN && needs <= left / 2;
}
