
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/axes.h"
#include "analysis/record/plain.h"
#include "analysis/record/row_range.h"
#include "analysis/tables/units.h"
#include "bench/base/interrupt.h"
#include "bench/base/progress.h"
#include "bench/cli/plan.h"
#include "bench/row/fields.h"
#include "bench/row/workload.h"
#include "bench/sweep/estimate.h"
#include "bench/sweep/search.h"

enum { FIRST_NODES = 64 /* of other axes: 1 */, GIVE_UP = 8 /* times the limit */ };

#define DISTURBED 1.25 /* times as long as the row */

/* A search over one axis of one configuration. */
struct search {
    struct options *options;
    const struct peaks *peaks;
    int64_t index, step; /* of the configuration; between the values of the axis */
    double limit;
    double (*need)(struct search *s, int64_t x);
    size_t program; /* that needed the most beyond the limit, last; PROGRAMS: graphs, or the encoding */
    bool late;      /* what it needed was not known after GIVE_UP times the limit */
    struct progress progress;
};

/* Bytes or seconds of the value: of the program, or of what came before, that needs more. */
static double most_of(struct search *s, const double *need, double before)
{
    double most = before;
    size_t which = PROGRAMS;
    for (size_t p = 0; p < PROGRAMS; p++)
        if (need[p] > most) {
            most = need[p];
            which = p;
        }
    if (most > s->limit)
        s->program = which;
    return most;
}

static struct config config_at(const struct search *s, int64_t x)
{
    return plan_with(s->options, s->index, s->options->largest.axis, (double)(s->step * x));
}

static double need_memory(struct search *s, int64_t x)
{
    const struct options *o = s->options;
    struct config c = config_at(s, x);
    struct estimate e = estimate_row(o, &c, NULL);
    bool on_host = !o->device.meta && !o->device.context;
    double beside = o->plan_for == PLAN_FOR_CUDA ? (double)o->device.backend->device->beside : 0;
    double arena[PROGRAMS];
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        arena[p] = (double)e.program[p].arena + beside;
    return e.known ? most_of(s, arena, on_host ? (double)e.batch : 0) : INFINITY;
}

static double need_time(struct search *s, int64_t x)
{
    enum { PROBE_RUNS = 6 };
    struct config c = config_at(s, x);
    double seconds[TIMED];
    s->late = probe_times(s->options, &c, GIVE_UP * PROBE_RUNS * s->limit, seconds);
    if (seconds[PROGRAMS] < INFINITY)
        return most_of(s, seconds, 0);
    s->program = PROGRAMS;
    return INFINITY;
}

/* What the row calls predicted.time. */
static double need_predicted(struct search *s, int64_t x)
{
    struct config c = config_at(s, x);
    double seconds[PROGRAMS];
    bool known = predicted_times(s->options, &c, peaks_for(s->peaks, c.threads), seconds);
    return known ? most_of(s, seconds, 0) : INFINITY;
}

/* Prints the values of the varying axes and a colon: "2 layers: ". */
static void print_configuration(FILE *out, const struct options *o, const struct config *c)
{
    char text[AXES_TEXT];
    fields_varying(o, c, false, text);
    plain_put(out, text);
    fputs(*text ? ": " : "", out);
}

/* "9 graphs". */
static void value_text(const struct options *o, int64_t value, char text[AXES_TEXT])
{
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)value);
    axes_describe_value(schema_find(axis_info(o->largest.axis)->field), number, text);
}

static double shown_need(void *search, int64_t x)
{
    struct search *s = search;
    char value[AXES_TEXT];
    value_text(s->options, s->step * x, value);
    progress_search(&s->progress, value);
    return s->need(s, x);
}

/* What a value that does not fit needs, or at least needs; INFINITY: not known. */
static double known_need(const struct search *s, const struct limit_answer *a)
{
    return isfinite(a->at_fails) || !s->late ? a->at_fails : GIVE_UP * s->limit;
}

void largest_text(const struct options *o, double value, char text[QUANTITY_TEXT])
{
    if (o->largest.kind == LARGEST_MEMORY)
        units_format(text, value, o->largest.decimal ? UNITS_SI : UNITS_BINARY, "B");
    else
        quantity_format(text, value, QUANTITY_SECONDS);
}

/* "(10 need 5.30 ms in step)" */
static void print_next(const struct search *s, const struct limit_answer *a)
{
    char limit[QUANTITY_TEXT], more[QUANTITY_TEXT];
    long long fails = s->step * a->fails;
    bool late = s->late && !isfinite(a->at_fails), named = late || s->program < PROGRAMS;
    double need = known_need(s, a);
    largest_text(s->options, s->limit, limit);
    largest_text(s->options, need, more);
    bool alike = strcmp(more, limit) == 0; /* "4.00 GiB" both */
    if (alike)
        largest_text(s->options, need - s->limit, more);
    if (fails > (long long)axis_info(s->options->largest.axis)->max)
        fprintf(stderr, " (the maximum allowed)");
    else if (isfinite(need))
        fprintf(stderr, " (%lld need%s %s%s%s%s%s)", fails, fails == 1 ? "s" : "", late ? "over " : "", more,
                alike ? " more" : "", named ? " in " : "", named ? program_name(s->program) : "");
    else if (a->fits > 0) /* no such graph, or no memory for it */
        fprintf(stderr, " (%lld do not fit)", fails);
}

static void print_answer(const struct search *s, const struct limit_answer *a)
{
    char limit[QUANTITY_TEXT], most[AXES_TEXT];
    largest_text(s->options, s->limit, limit);
    value_text(s->options, s->step * a->fits, most);
    print_configuration(stderr, s->options, &s->options->plan.list[s->index]);
    fputs(s->need == need_time ? "search: " : "", stderr); /* its row decides */
    fprintf(stderr, a->fits > 0 ? "largest that fits %s: %s" : "nothing fits %s", limit, most);
    print_next(s, a);
    fputs(a->unsure ? "; unsure: measured again, neighbours contradict each other\n" : "\n", stderr);
}

static double limit_of(const struct options *o)
{
    if (o->largest.kind == LARGEST_LATENCY)
        return o->largest.limit;
    double free = o->mem_limit > 0 ? o->mem_limit : 0.9 * workload_limit(o);
    bool asked = o->largest.limit > 0;
    return asked && o->mem_limit > 0 ? fmin(o->largest.limit, free) : asked ? o->largest.limit : free;
}

/* Chooses the value of a configuration. False after a signal. */
static bool search(struct search *s, int64_t index)
{
    struct options *o = s->options;
    struct config *c = &o->plan.list[index];
    enum axis axis = o->largest.axis;
    bool memory = o->largest.kind == LARGEST_MEMORY;
    s->index = index;
    s->step = config_step(o, c);
    s->need = memory ? need_memory : o->device.meta ? need_predicted : need_time;
    s->late = false;
    s->progress.row = index;
    struct limit_search w = {.need = shown_need,
                             .context = s,
                             .limit = s->limit,
                             .first = axis == AXIS_NODES ? FIRST_NODES : 1,
                             .most = (int64_t)axis_info(axis)->max / s->step,
                             .noisy = !memory && !o->device.meta};
    struct limit_answer a = limit_find(&w);
    progress_clear(&s->progress);
    if (interrupt_signal())
        return false;
    print_answer(s, &a);
    if (a.fits > 0)
        *c = config_at(s, a.fits);
    c->unfit = a.fits == 0;
    c->clear = a.clear * s->step;
    c->searched = a.fits > 0 ? a.at_fits : known_need(s, &a);
    return true;
}

bool largest_find(struct options *o)
{
    bool measured = o->largest.kind == LARGEST_LATENCY && !o->device.meta;
    struct peaks peaks = options_kept_peaks(o);
    struct search s = {.options = o, .peaks = &peaks, .limit = limit_of(o)};
    bool going = true;
    progress_start(&s.progress, o->plan.count);
    for (int64_t i = 0; i < o->plan.count && going; i++)
        going = search(&s, i);
    peaks_free(&peaks);
    if (measured)
        o->gates.list[o->gates.count++] =
            (struct gate){.kind = GATE_LATENCY, .program = GATE_ALL, .limit = s.limit};
    return going;
}

enum find_verdict largest_verdict(double limit, double searched, const struct range *row)
{
    static const enum find_verdict verdicts[] = {
        [LIMIT_MET] = FIND_HOLDS, [LIMIT_MISSED] = FIND_BEYOND, [LIMIT_INCONCLUSIVE] = FIND_OPEN};
    enum find_verdict verdict = verdicts[limit_judge(range_floor(row), row->high, limit, false)];
    return verdict == FIND_HOLDS && row->high * DISTURBED < searched ? FIND_DISTURBED : verdict;
}

/* Of the slowest program. */
static struct range time_of(const struct row *row, enum program_kind *which)
{
    struct range slowest = {0};
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        struct range r = row_range(row, p);
        if (r.high > slowest.high) {
            slowest = r;
            *which = p;
        }
    }
    return slowest;
}

/* "inconclusive, between 9 and 12 graphs: the row of 12 takes 49.0 ms to 53.0 ms in step" */
static void print_bracket(FILE *out, const struct options *o, const struct config *c,
                          enum find_verdict verdict, const struct range *row, enum program_kind which)
{
    struct axis_value v;
    char value[AXES_TEXT], low[QUANTITY_TEXT], high[QUANTITY_TEXT];
    config_axis(c, o->largest.axis, &v);
    value_text(o, v.count, value);
    quantity_format(low, range_floor(row), QUANTITY_SECONDS);
    quantity_format(high, row->high, QUANTITY_SECONDS);
    fputs("inconclusive, ", out);
    if (verdict == FIND_DISTURBED)
        fprintf(out, "at least %s", value);
    else if (c->clear > 0 && c->clear < v.count)
        fprintf(out, "between %lld and %s", (long long)c->clear, value);
    else
        fprintf(out, "%s %s", verdict == FIND_BEYOND ? "less than" : "at most", value);
    fprintf(out, ": the row of %lld takes %s to %s in %s", (long long)v.count, low, high,
            program_name(which));
    quantity_format(high, c->searched, QUANTITY_SECONDS);
    if (verdict == FIND_DISTURBED)
        fprintf(out, ", in the search %s", high);
}

void largest_answer(const struct options *o, const struct rows *rows, FILE *out)
{
    bool measured = o->largest.kind == LARGEST_LATENCY && !o->device.meta;
    for (size_t i = 0; i < rows_count(rows) && measured; i++) {
        const struct config *c = &o->plan.list[i];
        enum program_kind which = 0;
        struct range row = time_of(rows_at(rows, i), &which);
        enum find_verdict verdict = largest_verdict(limit_of(o), c->searched, &row);
        struct axis_value v;
        char limit[QUANTITY_TEXT], value[AXES_TEXT];
        if (c->unfit || !row_is_ok(rows_at(rows, i)) || !(row.high > 0))
            continue;
        quantity_format(limit, limit_of(o), QUANTITY_SECONDS);
        config_axis(c, o->largest.axis, &v);
        value_text(o, v.count, value);
        print_configuration(out, o, c);
        fprintf(out, "largest that fits %s: ", limit);
        if (verdict == FIND_HOLDS)
            fputs(value, out);
        else
            print_bracket(out, o, c, verdict, &row, which);
        putc('\n', out);
    }
}
