#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/axes.h"
#include "analysis/record/plain.h"
#include "analysis/statistics/allocate.h"
#include "analysis/statistics/statistics.h"
#include "bench/base/interrupt.h"
#include "bench/base/progress.h"
#include "bench/cli/flags.h"
#include "bench/cli/plan.h"
#include "bench/row/fields.h"
#include "bench/row/workload.h"
#include "bench/sweep/search.h"

enum way { BY_FLOPS, BY_MEMORY, BY_PEAKS, BY_TIME };

static const char *const ways[] = {"analytic FLOPs", "planned memory", "time at the peak rates",
                                   "quick runs"};

enum {
    ROUNDS = 5,
    PROBES_MAX = 64,
    SIDE_ROWS = 3,
    PAIRS_MAX = CROSSOVER_VARIANTS_MAX * (CROSSOVER_VARIANTS_MAX - 1) / 2
};

static const double near = 1.25;      /* ratios below it are probed ROUNDS times */
static const double tolerance = 0.05; /* of the search by quick runs */
static const double distinct = 0.05;  /* difference of times that rows should show, in logarithms */

/* A search for one program and two variants. */
struct search {
    struct options options; /* a copy, whose programs are one */
    const struct peaks *peaks;
    enum program_kind program;
    int pair[2]; /* the variants */
    enum way way;
    struct progress *progress;
    int probes;
    struct {
        double x, ratio; /* its logarithm */
    } probe[PROBES_MAX];
};

static bool of_encoding(const struct search *s)
{
    return s->options.crossover.kind == CROSSOVER_ENCODING;
}

static struct config variant_at(const struct search *s, int variant, double x)
{
    const struct options *o = &s->options;
    int64_t index = 0;
    for (int skip = of_encoding(s) ? 0 : s->pair[variant]; skip > 0; index++)
        skip -= config_same(&o->plan.list[index + 1], &o->plan.list[0], o->crossover.over);
    return plan_with(o, index, o->crossover.over, x);
}

/* What a variant needs by its tape; NAN if that is not known. */
static double planned(struct search *s, int variant, double x)
{
    struct workload w;
    struct message error;
    struct config c = variant_at(s, variant, x);
    double need = NAN;
    if (workload_plan(&w, &s->options, &c, &error)) {
        struct recording r = workload_record(&w, s->program);
        if (s->way == BY_FLOPS)
            need = tape_total(r.tape).flops < 0 ? NAN : (double)tape_total(r.tape).flops;
        else if (s->way == BY_MEMORY)
            need = (double)tape_plan(r.tape)->arena;
        else
            need = predicted_time(r.tape, peaks_for(s->peaks, c.threads));
        tape_free(r.tape);
    }
    workload_close(&w);
    return need;
}

static double measured(struct search *s, int variant, double x)
{
    static const double share = 0.25; /* of the budget, for one probe of one program */
    double seconds[TIMED];
    struct config c = variant_at(s, variant, x);
    probe_times(&s->options, &c, share * s->options.sampling.budget, seconds);
    return seconds[of_encoding(s) && variant ? PROGRAMS : s->program];
}

static void show_value(const struct search *s, double x)
{
    const struct field *axis = schema_find(axis_info(s->options.crossover.over)->field);
    char number[32], text[AXES_TEXT];
    snprintf(number, sizeof number, "%.6g", x);
    axes_describe_value(axis, number, text);
    progress_search(s->progress, text);
}

/* The logarithm of what the second variant needs over what the first does. */
static double ratio_at(void *context, double x)
{
    struct search *s = context;
    double ratio[ROUNDS];
    size_t n = 0;
    show_value(s, x);
    do {
        double (*need)(struct search *, int, double) = s->way == BY_TIME ? measured : planned;
        double first = need(s, 0, x);
        ratio[n++] = log(need(s, 1, x) / first);
    } while (s->way == BY_TIME && n < ROUNDS && fabs(ratio[n - 1]) < log(near) && !interrupt_signal());
    double median = summarize(ratio, n).median;
    if (s->probes < PROBES_MAX) {
        s->probe[s->probes].x = x;
        s->probe[s->probes++].ratio = median;
    }
    return median;
}

/* What a variant is called: "dense attention". */
static void name_of(struct search *s, int variant, char text[AXES_TEXT])
{
    const struct crossover *o = &s->options.crossover;
    if (of_encoding(s)) {
        snprintf(text, AXES_TEXT, "%s", variant ? "the encoding" : program_name(s->program));
        return;
    }
    struct config c = variant_at(s, variant, s->options.axes[o->over].values[0]);
    struct row *row = row_new();
    fields_config(row, &c, &s->options);
    axes_describe(row, schema_find(o->kind == CROSSOVER_OPS ? "op" : axis_info(o->variants)->field), text);
    row_free(row);
}

/* "forward, by planned memory: crossover between 301 and 302 nodes, less for sparse attention above", and of
 * more than two variants their names before it. */
static void print_crossing(FILE *out, struct search *s, const struct bracket *b, double low, double high)
{
    bool alike = b->at_low * b->at_high > 0;
    char name[2][AXES_TEXT], values[AXES_TEXT], where[AXES_TEXT];
    snprintf(values, sizeof values, "%.6g %s %.6g", b->found ? b->low : low,
             b->found ? "and"
             : alike  ? "and at"
                      : "to",
             b->found ? b->high : high);
    axes_describe_value(schema_find(axis_info(s->options.crossover.over)->field), values, where);
    name_of(s, 0, name[0]);
    name_of(s, 1, name[1]);
    fprintf(out, "%s, by %s: ", program_name(s->program), ways[s->way]);
    if (crossover_variants(&s->options) > 2) {
        plain_put(out, name[0]);
        fputs(" and ", out);
        plain_put(out, name[1]);
        fputs(", ", out);
    }
    if (isnan(b->at_low) || isnan(b->at_high)) {
        fputs(s->way == BY_TIME ? "not known, since at some value a variant does not fit or takes too long"
              : s->way == BY_PEAKS && s->peaks->count == 0 ? s->peaks->no_peaks
                                                           : "not known",
              out);
    } else if (b->found) {
        fprintf(out, "crossover between %s, less for ", where);
        plain_put(out, name[b->at_high < 0]);
        fputs(" above", out);
    } else if (alike) {
        fputs("less for ", out);
        plain_put(out, name[b->at_low < 0]);
        fprintf(out, " at %s: no crossover found", where);
    } else {
        fprintf(out, "no crossover found from %s", where);
    }
    putc('\n', out);
}

/* The next two variants, from {0, 0} on. */
static bool next_pair(const struct options *o, int pair[2])
{
    if (++pair[1] == crossover_variants(o)) {
        pair[0]++;
        pair[1] = pair[0] + 1;
    }
    return pair[1] < crossover_variants(o);
}

static void ends_of(const struct options *o, double *low, double *high)
{
    const struct axis_values *v = &o->axes[o->crossover.over];
    *low = *high = v->values[0];
    for (int i = 0; i < v->count; i++) {
        *low = fmin(*low, v->values[i]);
        *high = fmax(*high, v->values[i]);
    }
}

/* Searches, and prints what was found unless there was a signal. */
static struct bracket search_along(struct search *s, FILE *out)
{
    const struct options *o = &s->options;
    bool whole = axis_info(o->crossover.over)->kind == AXIS_WHOLE;
    double low, high;
    ends_of(o, &low, &high);
    struct bracket b = bisect(ratio_at, s, low, high,
                              s->way == BY_TIME ? tolerance
                              : whole           ? 0
                                                : 1e-3,
                              whole);
    progress_clear(s->progress);
    s->progress->row++;
    if (!interrupt_signal())
        print_crossing(out, s, &b, low, high);
    return b;
}

static bool is_compared(const struct options *o, enum program_kind p)
{
    return o->programs[p] && (o->crossover.kind != CROSSOVER_ENCODING || (int)p == o->crossover.program);
}

/* The number of programs and pairs of variants. */
static int64_t searches(const struct options *o)
{
    int64_t count = 0;
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        for (int pair[2] = {0, 0}; is_compared(o, p) && next_pair(o, pair);)
            count++;
    return count;
}

static void predict(const struct options *o, struct progress *progress, FILE *out)
{
    struct peaks peaks = options_kept_peaks(o);
    for (enum program_kind p = 0; p < PROGRAMS && o->crossover.kind != CROSSOVER_ENCODING; p++)
        for (int pair[2] = {0, 0}; is_compared(o, p) && next_pair(o, pair);)
            for (enum way way = BY_FLOPS; way < BY_TIME; way++) {
                struct search s = {*o, &peaks, p, {pair[0], pair[1]}, .way = way, .progress = progress};
                search_along(&s, out);
            }
    peaks_free(&peaks);
}

void crossover_predict(const struct options *o, FILE *out)
{
    struct progress progress;
    progress_start(&progress, BY_TIME * searches(o));
    predict(o, &progress, out);
}

/* The probe furthest inwards on one side whose ratio is distinct from 1; else the end of that side. */
static int anchor(const struct search *s, const struct bracket *b, bool above)
{
    int best = above;
    for (int i = 0; i < s->probes; i++) {
        double x = s->probe[i].x, ratio = s->probe[i].ratio, sign = above ? b->at_high : b->at_low;
        bool outside = above ? x >= b->high : x <= b->low;
        bool further = above ? x < s->probe[best].x : x > s->probe[best].x;
        if (outside && further && isfinite(ratio) && fabs(ratio) >= distinct && (ratio < 0) == (sign < 0))
            best = i;
    }
    return best;
}

/* How far, in logarithms, one has to go from the center for the times to differ by `distinct`, if the ratio
 * is a power up to the anchor of that side. */
static double width_of(const struct search *s, double center, int anchor)
{
    static const double least = 0.049, most = 1;
    double width = distinct * fabs(log(s->probe[anchor].x / center) / s->probe[anchor].ratio);
    return isfinite(width) ? fmin(fmax(width, least), most) : least;
}

/* The values of the rows: SIDE_ROWS on each side of the crossing, the inner ones at that distance or 5 %
 * away, the outer ones for noise. */
static void place_rows(const struct search *s, const struct bracket *b, double values[2 * SIDE_ROWS])
{
    static const double times[SIDE_ROWS] = {1, 2.5, 8};
    double center = sqrt(b->low * b->high);
    for (int r = 0; r < SIDE_ROWS; r++) {
        values[2 * r] = center * exp(-times[r] * width_of(s, center, anchor(s, b, false)));
        values[2 * r + 1] = center * exp(times[r] * width_of(s, center, anchor(s, b, true)));
    }
}

static double three_digits(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.3g", x);
    return strtod(text, NULL);
}

/* Replaces the values of the axis by these, within its ends, rounded, and each once. */
static void set_values(struct options *o, double *values, int count)
{
    struct axis_values *axis = &o->axes[o->crossover.over];
    bool whole = axis_info(o->crossover.over)->kind == AXIS_WHOLE;
    double low, high;
    int kept = 0;
    ends_of(o, &low, &high);
    double *rows = allocate((size_t)count, sizeof *rows);
    for (int i = 0; i < count; i++)
        values[i] = fmin(fmax(whole ? round(values[i]) : three_digits(values[i]), low), high);
    sort_doubles(values, (size_t)count);
    for (int i = 0; i < count; i++)
        if (kept == 0 || values[i] != rows[kept - 1])
            rows[kept++] = values[i];
    free(axis->values);
    axis->values = rows;
    axis->count = kept;
    plan_make(o);
}

static void print_rows(const struct options *o)
{
    const struct axis_values *v = &o->axes[o->crossover.over];
    char values[AXES_TEXT] = "", text[AXES_TEXT];
    size_t used = 0;
    for (int i = 0; i < v->count && used < sizeof values; i++)
        used += (size_t)snprintf(values + used, sizeof values - used, "%s%.6g", i ? ", " : "", v->values[i]);
    axes_describe_value(schema_find(axis_info(o->crossover.over)->field), values, text);
    fprintf(stderr, "rows at %s\n", text);
}

/* By quick runs; adds the values of the rows to values[*count]. False after a signal. */
static bool find_pair(const struct options *o, enum program_kind p, const int pair[2],
                      struct progress *progress, double *values, int *count)
{
    struct search s = {*o, NULL, p, {pair[0], pair[1]}, .way = BY_TIME, .progress = progress};
    memset(s.options.programs, 0, sizeof s.options.programs);
    s.options.programs[p] = true;
    struct bracket b = search_along(&s, stderr);
    if (b.found) {
        place_rows(&s, &b, values + *count);
        *count += 2 * SIDE_ROWS;
    }
    return !interrupt_signal();
}

bool crossover_find(struct options *o)
{
    double values[PROGRAMS * PAIRS_MAX * 2 * SIDE_ROWS];
    int count = 0;
    struct progress progress;
    bool predicts = o->crossover.kind != CROSSOVER_ENCODING;
    progress_start(&progress, searches(o) * (predicts * BY_TIME + !o->device.meta));
    predict(o, &progress, stderr);
    for (enum program_kind p = 0; p < PROGRAMS && !o->device.meta; p++)
        for (int pair[2] = {0, 0}; is_compared(o, p) && next_pair(o, pair);)
            if (interrupt_signal() || !find_pair(o, p, pair, &progress, values, &count))
                return false;
    if (interrupt_signal())
        return false;
    if (o->device.meta)
        return true;
    if (count == 0) {
        ends_of(o, &values[0], &values[1]);
        count = 2;
    }
    set_values(o, values, count);
    print_rows(o);
    return true;
}
