/*
 * Time and work are compared by time / work, which is free of the curvature that both share. Between two
 * points i < j it may change by a tolerance, whose logarithm is
 *
 *     t(i, j) = max(log 1.1, 0.1 log(xj / xi)),
 *
 * that is, by 10 % or by an exponent of 0.1. Time agrees with the work if the whole range of every pair is
 * within its tolerance (an equivalence test, as in statistics/range.c), and contradicts it if the whole range
 * of a pair is beyond. Ranges are those of law.c.
 */
#include "analysis/fits/fits.h"

#include "analysis/record/slices.h"
#include "analysis/statistics/allocate.h"
#include "analysis/statistics/disturbance.h"

static const double least_factor = 1.1, least_exponent = 0.1;
static const double error_max = 0.2; /* a law that misses a time by more is none */
static const double widest = 1;      /* exponent that is told */

/* Whether the row has a time of the program; *usable: one that can be fitted. */
static bool read_point(const struct row *row, const struct field *axis, size_t kind, struct fit_point *p,
                       bool *usable)
{
    const struct row_program *program = row_program(row, kind);
    struct range range = row_range(row, kind);
    double x;
    if (!row_is_ok(row) || !(range.median > 0) || !field_number(row, axis, &x) || !(x > 0))
        return false;
    *p = (struct fit_point){.row = row,
                            .range = range,
                            .time = {x, range.median, range_floor_within(&range), range.high},
                            .flops = fmax(count_real(program->flops.analytic), 0), /* fmax ignores NAN */
                            .bytes = fmax(count_real(program->bytes), 0),
                            .level = program->roofline.level,
                            .bound = program->roofline.bound};
    *usable = p->time.low > 0 && !row_unchecked(row);
    return true;
}

double fit_work(const struct fit *fit, const struct fit_point *p)
{
    return fit->by_bytes ? p->bytes : p->flops;
}

static struct law_point exact(double x, double y)
{
    return (struct law_point){x, y, y, y};
}

struct exponent fit_work_exponent(const struct fit *fit, size_t from, size_t to)
{
    const struct fit_point *a = &fit->points[from], *b = &fit->points[to];
    struct law_point low = exact(a->time.x, fit_work(fit, a)), high = exact(b->time.x, fit_work(fit, b));
    return exponent_between(&low, &high);
}

struct exponent fit_exponent(const struct fit *fit, size_t from, size_t to)
{
    const struct fit_point *a = &fit->points[from], *b = &fit->points[to];
    struct exponent e = exponent_between(&a->time, &b->time);
    bool told = ranges_suffice(&a->range, &b->range) && e.high - e.low <= widest;
    return told ? e : (struct exponent){NAN, NAN, NAN};
}

struct exponent fit_last_exponent(const struct fit *fit)
{
    return fit_exponent(fit, fit->count - 2, fit->count - 1);
}

bool fit_tells(const struct fit *fit)
{
    return !fit->no_law || !isnan(fit_last_exponent(fit).value);
}

/* The terms of FLOPs and of bytes together: an op takes time for both. 0 if FLOPs have none. */
static unsigned terms_of(const struct fit *fit)
{
    struct law_point *work = allocate(2 * fit->count, sizeof *work);
    for (size_t i = 0; i < fit->count; i++) {
        const struct fit_point *p = &fit->points[i];
        work[i] = exact(p->time.x, p->flops);
        work[fit->count + i] = exact(p->time.x, p->bytes);
    }
    unsigned flops = law_terms(work, fit->count), bytes = law_terms(work + fit->count, fit->count);
    free(work);
    return flops ? flops | bytes : 0;
}

const char *fit_no_work(const struct fit *fit)
{
    bool changes = false;
    for (size_t i = 0; i < fit->count; i++) {
        double work = fit_work(fit, &fit->points[i]);
        if (!(work > 0))
            return "the work of a row is not known";
        changes = changes || work != fit_work(fit, &fit->points[0]);
    }
    return changes ? NULL : "the work does not change";
}

static void find_law(struct fit *fit)
{
    fit->no_law = fit_no_work(fit);
    if (fit->no_law)
        return;
    struct law_point *times = allocate(fit->count, sizeof *times);
    for (size_t i = 0; i < fit->count; i++)
        times[i] = fit->points[i].time;
    fit->terms = terms_of(fit);
    fit->law = law_fit(times, fit->count, fit->terms);
    free(times);
    if (!fit->terms)
        fit->no_law = "the work is no polynomial of the axis, or there are too few rows to tell";
    else if (!fit->law.terms)
        fit->no_law = "needs more values of the axis than the scaling fit has terms";
    else if (fit->law.error > error_max) {
        fit->law.terms = 0;
        fit->no_law = "no fit with the terms of the work is within 20 % of every row";
    }
}

static struct fit_change change_between(const struct fit *fit, size_t from, size_t to)
{
    const struct fit_point *a = &fit->points[from], *b = &fit->points[to];
    struct law_point time = law_ratio(&a->time, &b->time);
    double work = fit_work(fit, b) / fit_work(fit, a);
    return (struct fit_change){from, to, time.y / work, time.low / work, time.high / work};
}

/* The verdict on two points, and how far their change is beyond the tolerance, or within it (negative). */
static enum fit_verdict judge_pair(const struct fit *fit, const struct fit_change *c, bool one_level,
                                   double *distance)
{
    const struct fit_point *a = &fit->points[c->from], *b = &fit->points[c->to];
    double span = log(b->time.x / a->time.x);
    double tolerance = fmax(log(least_factor), least_exponent * span);
    double least = fmax(log(c->low), -log(c->high)), most = fmax(-log(c->low), log(c->high));
    bool beyond = least > tolerance;
    bool other = beyond && row_states_differ(a->row, fit->program, b->row, fit->program),
         sure = beyond ? !other && !(one_level && fit->loaded) : most <= tolerance;
    *distance = (beyond ? least : most) - tolerance;
    if (!sure || !ranges_suffice(&a->range, &b->range))
        return FIT_INCONCLUSIVE;
    return !beyond ? FIT_AGREES : one_level ? FIT_CONTRADICTS : FIT_CROSSES;
}

/* Every pair of points has a verdict, of very many points every pair of some. The loudest counts, and of its
 * pairs the one that is furthest beyond the tolerance, or closest to it. */
static void judge_fit(struct fit *fit)
{
    enum { JUDGED = 256 };
    size_t last = fit->count - 1, stride = 1 + last / JUDGED;
    double furthest = -INFINITY, highest = -INFINITY;
    fit->no_verdict = fit->count < 3 ? "needs 3 values of the axis" : fit_no_work(fit);
    for (size_t i = 0; !fit->no_verdict && i < last; i += stride) {
        const struct fit_point *first = &fit->points[i];
        bool one_level = true; /* of memory, and under one bound, from i to j */
        for (size_t before = i, j; before < last; before = j) {
            double distance;
            j = before + stride < last ? before + stride : last;
            struct fit_change c = change_between(fit, i, j);
            one_level = one_level && same_text(first->level, fit->points[j].level) &&
                        same_text(first->bound, fit->points[j].bound);
            enum fit_verdict kind = judge_pair(fit, &c, one_level, &distance);
            if (kind > fit->verdict || (kind == fit->verdict && distance > furthest)) {
                fit->verdict = kind;
                furthest = distance;
                fit->change = c;
            }
            if (kind >= FIT_CROSSES && c.ratio > 1 &&
                (kind > fit->rise_is || (kind == fit->rise_is && distance > highest))) {
                fit->rise_is = kind;
                highest = distance;
                fit->rise = c;
            }
        }
    }
}

static bool in_state_of(const struct fit_point *a, const struct fit_point *b, size_t kind)
{
    return !row_states_differ(a->row, kind, b->row, kind);
}

/* Keeps the points in the state of the machine that most are in, judging by the first few, and those whose
 * ranges are of several states; returns how many. */
static size_t keep_state(struct fit_point *points, size_t n, size_t kind)
{
    enum { FEW = 16 };
    bool *in_best = allocate(n, sizeof *in_best), *in_state = allocate(n, sizeof *in_state);
    size_t most = 0, kept = 0;
    for (size_t i = 0; i < n && i < FEW; i++) {
        size_t same = 0;
        for (size_t k = 0; same + n - k > most && k < n && !points[i].range.extremes; k++) { /* may be more */
            in_state[k] = !points[k].range.extremes && in_state_of(&points[i], &points[k], kind);
            same += in_state[k];
        }
        if (same > most)
            memcpy(in_best, in_state, n * sizeof *in_best);
        most = same > most ? same : most;
    }
    for (size_t i = 0; i < n; i++)
        if (points[i].range.extremes || (most ? in_best[i] : in_state_of(&points[0], &points[i], kind)))
            points[kept++] = points[i];
    free(in_best);
    free(in_state);
    return kept;
}

/* Adds the fit of a program to these rows, of which those that repeat an x are left out, if it has 2 points.
 */
static void add_fit(struct fits *fits, const struct slice *slice, struct fit fit)
{
    size_t timed = 0, n = 0;
    fit.points = allocate(slice->count, sizeof *fit.points);
    fit.by_bytes = true;
    for (size_t i = 0; i < slice->count; i++) {
        bool usable = false;
        timed += read_point(slice->rows[i].row, fit.axis, fit.program, &fit.points[n], &usable);
        n += usable;
    }
    n = keep_state(fit.points, n, fit.program);
    fit.left_out = timed - n;
    for (size_t i = 0; i < n; i++) {
        const struct fit_point p = fit.points[i];
        if (fit.count && p.time.x == fit.points[fit.count - 1].time.x)
            continue;
        fit.points[fit.count++] = p;
        fit.by_bytes = fit.by_bytes && same_text(p.bound, "memory");
        fit.loaded = fit.loaded || p.range.lost > DISTURBANCE_HEAVY;
    }
    if (fit.count < 2) {
        free(fit.points);
        return;
    }
    find_law(&fit);
    judge_fit(&fit);
    fits->list = grow(fits->list, fits->count, sizeof *fits->list);
    fits->list[fits->count++] = fit;
}

/* Adds the fits of both programs over an axis. */
static void add_fits(struct fits *fits, const struct rows *rows, const struct field *axis)
{
    struct slices slices = slices_of(rows, axis, NULL);
    for (size_t kind = TIMED_FORWARD; kind <= TIMED_STEP; kind++)
        for (size_t i = 0; i < slices.count; i++) {
            struct fit fit = {.program = kind, .axis = axis};
            slice_name(&slices, &slices.list[i], fit.group);
            add_fit(fits, &slices.list[i], fit);
        }
    slices_free(&slices);
}

struct fits fits_find(const struct rows *rows)
{
    struct fits fits = {0};
    const struct field *numeric[AXES_MAX], *ranks = schema_find("ranks.count");
    size_t n = axes_numeric(rows, numeric);
    for (size_t i = 0; i < n; i++) {
        /* Over ranks the work is the same; where ranks grow with a size, it is that of each: see findings. */
        if (numeric[i] == ranks || (axes_vary(rows, ranks) && axes_follows(rows, numeric[i], ranks)))
            continue;
        add_fits(&fits, rows, numeric[i]);
    }
    return fits;
}

void fits_free(struct fits *fits)
{
    for (size_t i = 0; i < fits->count; i++)
        free(fits->list[i].points);
    free(fits->list);
    *fits = (struct fits){0};
}

const struct fit *fits_get(const struct fits *fits, size_t program, const struct field *axis,
                           const char *group)
{
    for (size_t i = 0; i < fits->count; i++) {
        const struct fit *fit = &fits->list[i];
        if (fit->program == program && fit->axis == axis && strcmp(fit->group, group) == 0)
            return fit;
    }
    return NULL;
}
