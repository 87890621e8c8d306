#include "analysis/compare/crossing.h"

static bool same_program(const struct crossing *c)
{
    return c->kind != CROSSING_MEMORY && c->program[0] == c->program[1];
}

static const char *beginning_of(const struct crossing *c)
{
    static const char *const subjects[TIMED] = {[TIMED_FORWARD] = "In inference",
                                                [TIMED_STEP] = "In a training step",
                                                [TIMED_KERNEL] = "As single ops",
                                                [TIMED_ENCODING] = "In computing the encoding"};
    return c->kind == CROSSING_MEMORY ? "Within the memory limit"
           : same_program(c)          ? subjects[c->program[0]]
                                      : "By time";
}

static double ratio_at(const struct crossing *c, size_t i)
{
    double ratio = c->points[i].verdict.ratio;
    return c->winner ? ratio : 1 / ratio;
}

/* "it takes at most 0.14 times as long with 12800": the last values that differ, to the end that is certain.
 */
static void print_gain(FILE *out, const struct crossing *c)
{
    const struct crossing_point *p = &c->points[c->to];
    fprintf(out, ": it takes at most %.3g times as long with %.10g.",
            c->winner ? p->verdict.high : 1 / p->verdict.low, p->x);
}

void crossing_print(FILE *out, const struct crossing *c)
{
    const char *winner = c->name[c->winner], *other = c->name[1 - c->winner];
    char whole[AXES_TEXT], between[AXES_TEXT];
    double from = c->points[c->from].x, to = c->points[c->to].x;
    char all[32] = "both";
    axes_describe_span(c->axis, c->points[0].x, "to", c->points[c->count - 1].x, whole);
    axes_describe_span(c->axis, from, "and", to, between);
    if (c->count > 2)
        snprintf(all, sizeof all, "all %zu", c->count);
    fprintf(out, "%s%s%s, ", beginning_of(c), *c->group ? ", " : "", c->group);
    switch (c->kind) {
    case CROSSING_FOUND:
        fprintf(out,
                "%s %s %s between %s, at about %.3g [%.3g, %.3g]: it takes %.3g times as long "
                "with %.10g, and %.3g times with %.10g.",
                winner, same_program(c) ? "overtakes" : "becomes cheaper than", other, between, c->at, c->low,
                c->high, ratio_at(c, c->from), from, ratio_at(c, c->to), to);
        break;
    case CROSSING_NONE:
        fprintf(out, "%s is faster than %s at %s values from %s", winner, other, all, whole);
        print_gain(out, c);
        break;
    case CROSSING_NEVER:
        fprintf(out, "%s is never slower than %s from %s, and faster at %zu of %zu values", winner, other,
                whole, c->settled, c->count);
        print_gain(out, c);
        break;
    case CROSSING_OPEN:
        fprintf(out,
                c->changes > 1 ? "%s and %s overtake each other more than once from %s."
                               : "it is inconclusive where, or whether, %s or %s overtakes the other "
                                 "from %s.",
                c->name[0], c->name[1], whole);
        break;
    case CROSSING_MEMORY:
        fprintf(out, "%s runs out of memory between %s; %s fits with %.10g.", other, between, winner, to);
        break;
    }
}
