#include "analysis/charts/rank_bars.h"

#include <stdlib.h>

#include "analysis/record/rank_scaling.h"

/* Seconds of a run, with their interval, and of the exchange in it that nothing hides. */
struct run_time {
    double median, low, high, exposed;
    bool predicted;
};

static bool run_time_of(const struct row *row, size_t kind, struct run_time *t)
{
    const struct row_program *p = row_program(row, kind);
    *t = (struct run_time){p->time.median, p->time.range_low, p->time.range_high, p->communication.exposed,
                           false};
    if (isnan(t->median)) {
        double run = p->communication.predicted_run;
        *t = (struct run_time){run, run, run, p->communication.predicted_exposed, true};
    }
    t->exposed = t->exposed > 0 ? fmin(t->exposed, t->median) : 0;
    return row_is_ok(row) && t->median > 0;
}

/* Intervals that are not known (NAN) support no finding. */
static struct rank_bar rank_bar_of(const struct scaling *s, const struct run_time *base,
                                   const struct run_time *t, size_t kind)
{
    struct rank_bar b = {.ranks = s->ranks,
                         .efficiency = scaling_efficiency(s, base->median, t->median),
                         .low = scaling_efficiency(s, base->low, t->high),
                         .high = scaling_efficiency(s, base->high, t->low),
                         .exchange = t->exposed / t->median,
                         .seconds = t->median,
                         .predicted = t->predicted,
                         .shared = s->row->ranks.load > 1};
    if (t->predicted)
        b.link = row_program(s->row, kind)->communication.link;
    b.noisy = row_noisy(s->base, kind) || row_noisy(s->row, kind);
    return b;
}

/* The index of a base, added if new; RANK_LINES_MAX: there is no room. */
static size_t find_line(struct rank_bars *b, const struct row *base)
{
    size_t i = 0;
    while (i < b->lines && b->base[i] != base)
        i++;
    if (i == b->lines && i < RANK_LINES_MAX)
        b->base[b->lines++] = base;
    return i;
}

static bool add_rank_count(struct rank_bars *b, int64_t ranks)
{
    size_t at = 0;
    while (at < b->ranks && b->of[at] < ranks)
        at++;
    if (at < b->ranks && b->of[at] == ranks)
        return true;
    if (b->ranks == RANK_COUNTS_MAX)
        return false;
    for (size_t i = b->ranks++; i > at; i--)
        b->of[i] = b->of[i - 1];
    b->of[at] = ranks;
    return true;
}

static bool has_bar(const struct rank_bars *b, size_t line, int64_t ranks)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->bar[i].line == line && b->bar[i].ranks == ranks)
            return true;
    return false;
}

/* A bar of this base; of rows that were repeated, the first. */
static void add_rank_bar(struct rank_bars *b, const struct row *base, struct rank_bar bar)
{
    bar.line = find_line(b, base);
    bool room = bar.line < RANK_LINES_MAX && b->count < RANK_BARS_MAX;
    if (room && has_bar(b, bar.line, bar.ranks))
        return;
    if (room && add_rank_count(b, bar.ranks))
        b->bar[b->count++] = bar;
    else
        b->others++;
}

static int by_ranks_and_line(const void *a, const void *b)
{
    const struct rank_bar *x = a, *y = b;
    return x->ranks != y->ranks ? (x->ranks > y->ranks) - (x->ranks < y->ranks)
                                : (x->line > y->line) - (x->line < y->line);
}

struct rank_bars rank_bars_of(const struct rows *rows, size_t program, bool weak)
{
    struct rank_bars b = {.program = program, .weak = weak};
    size_t n;
    struct scaling *all = scalings_find(rows, &n);
    for (const struct scaling *s = all; s < all + n; s++) {
        struct run_time base, time;
        if (!run_time_of(s->row, program, &time) || (s->growth != GROWS_NOT) != weak ||
            !run_time_of(s->base, program, &base) || base.predicted != time.predicted)
            continue;
        const struct scaling alone = {.base = s->base, .row = s->base, .ranks = 1, .growth = s->growth};
        add_rank_bar(&b, s->base, rank_bar_of(&alone, &base, &base, program));
        add_rank_bar(&b, s->base, rank_bar_of(s, &base, &time, program));
        b.nodes = b.nodes || s->growth == GROWS_NODES;
    }
    free(all);
    qsort(b.bar, b.count, sizeof *b.bar, by_ranks_and_line);
    return b;
}
