/*
 * The curve of bandwidth over working set is a staircase with worn edges: a cache that does not replace the
 * oldest line first serves a part of a working set that is larger than itself. It is read from its slow end.
 * The largest working set is DRAM's. Going inwards, the next level begins where the rate is higher by a clear
 * margin and stays the same over a factor of two; its rate is the highest there. The innermost point is a
 * level in any case, and so is everything within the second level that is found.
 *
 * The margin is 20 %: two calibrations in one state reproduce a rate to 10 %, so the ratio of two rates
 * to 20.
 *
 * Beyond a level of rate a, before the next of rate b, a working set of W bytes was measured at the rate r.
 * If C bytes of it came from the former, W / r = C / a + (W - C) / b. The largest such C is the capacity.
 */
#include "bench/machine/calibration.h"

#include <math.h>

static const double margin = 1.2;

const char *memory_level_name(enum memory_level level)
{
    static const char *const names[] = {"L2", "LLC", "DRAM"};
    return names[level];
}

double bandwidth_highest(const struct bandwidth *b)
{
    return fmax(fmax(b->read, b->write), fmax(b->update, b->triad));
}

void bandwidth_raise(struct bandwidth *b, const struct bandwidth *other)
{
    b->read = fmax(b->read, other->read);
    b->write = fmax(b->write, other->write);
    b->update = fmax(b->update, other->update);
    b->triad = fmax(b->triad, other->triad);
}

/* The highest rate of this working set or a larger one: a smaller one can only seem slower. */
static double rate_at(const struct bandwidth *sweep, int n, int i)
{
    double rate = 0;
    for (; i < n; i++)
        rate = fmax(rate, bandwidth_highest(&sweep[i]));
    return rate;
}

/* The innermost point of the next level within one of this rate; -1 if there is none. */
static int next_level(const struct bandwidth *sweep, int n, double outer)
{
    for (int i = n - 1; i >= 0; i--) {
        double rate = rate_at(sweep, n, i);
        if (rate <= margin * outer || (i > 0 && rate_at(sweep, n, i - 1) > margin * rate))
            continue;
        while (i > 0 && rate_at(sweep, n, i - 1) <= margin * rate)
            i--;
        return i;
    }
    return -1;
}

/* Bytes of the largest working sets that came from a level of the rate `inner` and not from the next. */
static int64_t capacity(const struct bandwidth *sweep, int n, double inner, double outer)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        double rate = fmin(rate_at(sweep, n, i), inner);
        if (rate > margin * outer)
            most =
                fmax(most, (double)sweep[i].working_set * (1 / outer - 1 / rate) / (1 / outer - 1 / inner));
    }
    return (int64_t)most;
}

/* Adds the level whose innermost point is `at`, within one of this rate. */
static void add_level(struct bandwidth *level, const struct bandwidth *sweep, int n, int at, double outer)
{
    *level = sweep[at];
    for (int i = at + 1; i < n; i++)
        bandwidth_raise(level, &sweep[i]);
    level->capacity = capacity(sweep, n, bandwidth_highest(level), outer);
}

/* Copies the points not clearly slower than a larger working set, as disturbed ones are; returns how many. */
static int copy_undisturbed(struct bandwidth *to, const struct bandwidth *sweep, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        if (margin * bandwidth_highest(&sweep[i]) >= rate_at(sweep, n, i))
            to[count++] = sweep[i];
    return count;
}

void levels_find(struct bandwidth level[MEMORY_LEVELS], const struct bandwidth *all, int points, int64_t l2,
                 int64_t memory)
{
    struct bandwidth sweep[SWEEP_MOST];
    int n = copy_undisturbed(sweep, all, points);
    struct bandwidth *llc = &level[MEMORY_LLC], *second = &level[MEMORY_L2];
    *llc = *second = (struct bandwidth){0};
    level[MEMORY_DRAM] = sweep[n - 1];
    level[MEMORY_DRAM].capacity = memory;
    double rate = bandwidth_highest(&sweep[n - 1]);
    int at = next_level(sweep, n, rate);
    if (at < 0)
        return;
    add_level(llc, sweep, n, at, rate);
    rate = bandwidth_highest(llc);
    if (next_level(sweep, n, rate) >= 0) {
        add_level(second, sweep, n, 0, rate);
    } else if (llc->capacity <= 2 * l2) {
        *second = *llc;
        *llc = (struct bandwidth){0};
    }
}

/* Reading and writing have channels of their own: updating in place uses both, half of its bytes each. */
static double seconds_in(const struct bandwidth *b, const struct traffic *t, double served)
{
    double read = fmax(fmax(b->read, b->update / 2), b->triad * 2 / 3);
    double write = fmax(fmax(b->write, b->update / 2), b->triad / 3);
    double both = (t->read + t->written - served) / bandwidth_highest(b);
    return 1e-9 * fmax(both, fmax((t->read - served) / read, (t->written - served) / write));
}

/* What a loop takes in working sets of point i, of which a larger one can only seem faster: only what it
 * updates moves at the rate of updating. */
static double seconds_at(const struct bandwidth *sweep, int n, int i, const struct traffic *t)
{
    struct bandwidth rates = sweep[i];
    for (; i < n; i++)
        bandwidth_raise(&rates, &sweep[i]);
    double aside = fmax(fmax(rates.read, rates.write), rates.triad), updated = 2 * t->updated;
    double both = (t->read + t->written - updated) / aside + updated / bandwidth_highest(&rates);
    return fmax(1e-9 * both, seconds_in(&rates, t, 0));
}

double sweep_seconds(const struct bandwidth *sweep, int n, const struct traffic *t)
{
    int i = 0;
    while (i + 1 < n && (double)sweep[i].working_set < t->working_set)
        i++;
    double here = seconds_at(sweep, n, i, t), gap = (double)sweep[i].working_set - t->working_set;
    if (i == 0 || gap <= 0)
        return here;
    gap /= (double)(sweep[i].working_set - sweep[i - 1].working_set);
    return here + gap * (seconds_at(sweep, n, i - 1, t) - here);
}

double levels_seconds(const struct bandwidth level[MEMORY_LEVELS], const struct traffic *t,
                      enum memory_level *limit)
{
    double most = -1, held = 0;
    for (enum memory_level l = 0; l < MEMORY_LEVELS; l++) {
        if (!level[l].capacity)
            continue;
        double share = held > 0 ? fmin(1, held / t->working_set) : 0;
        double seconds = seconds_in(&level[l], t, share * (t->read + t->written));
        if (seconds > most)
            *limit = l;
        most = fmax(most, seconds);
        held = (double)level[l].capacity;
    }
    return fmax(most, 0);
}
