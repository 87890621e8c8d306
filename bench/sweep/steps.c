#include "bench/sweep/report.h"

#include "analysis/charts/charts.h"
#include "analysis/compare/crossing.h"
#include "analysis/findings/findings.h"
#include "analysis/record/plain.h"
#include "analysis/record/result_file.h"
#include "bench/base/paths.h"
#include "bench/sweep/gates.h"
#include "bench/sweep/search.h"

struct finished {
    const struct options *options;
    const struct peaks *peaks;
    const struct report *report;
    const struct rows *rows;
};

/* Draws a sweep over the benchmark's own axis if it is swept, otherwise over the first swept one; of a single
 * row, and in bench_model, its profile, if it has one. */
static int draw_rows(const struct finished *run)
{
    const struct report *r = run->report;
    char prefix[PATH_MAX];
    struct message error;
    struct figures f = {0};
    enum axis own = r->options->bench->axis;
    bool swept = axis_info(own)->kind <= AXIS_NUMBER && r->options->axes[own].count > 1;
    paths_prefix(r->path, prefix);
    if (r->options->bench->whole || (!r->options->kernels && r->options->plan.count == 1)) {
        profile_chart_add(&f, r->record, NULL);
        if (f.count == 0)
            return 0;
    } else {
        crossing_chart_add(&f, r->record, NULL);
        charts_add(&f, r->record, swept ? schema_find(axis_info(own)->field) : NULL);
    }
    figures_keep(&f, FIGURES_OF_RUN);
    enum chart_result result = figures_draw(&f, prefix, error.text);
    figures_free(&f);
    if (result == CHART_FAILED) {
        message_fail(r->options->bench->name, &error, EXIT_MISSED);
        return 1;
    }
    plain_put(stderr, error.text);
    putc('\n', stderr);
    return 0;
}

static int tell_crossings(const struct finished *run)
{
    findings_print_crossings(stderr, run->rows);
    return 0;
}

/* How far measured times are from what is predicted for them, here or in the file of the peaks of plans. */
static int tell_bounds(const struct finished *run)
{
    const struct options *o = run->options;
    char ignored[MESSAGE_SIZE]; /* rates and kept calibrations are no result file */
    struct record *other = o->device.meta && o->peaks.file ? record_load(o->peaks.file, ignored) : NULL;
    if (other || (o->profile && !o->device.meta))
        findings_print_bounds(stderr, other ? record_rows(other) : run->rows,
                              other ? o->peaks.file : "this run");
    record_free(other);
    return 0;
}

/* A rank may use --mem-limit, or the memory of the machine whose peak rates are given; 0: not known. */
static int tell_plans(const struct finished *run)
{
    const struct options *o = run->options;
    const struct peaks *c = run->peaks;
    double limit = o->mem_limit > 0 ? o->mem_limit : c->count > 0 ? (double)c->list[0].memory : 0;
    findings_print_rank_memory(stderr, run->rows, o->weak, limit);
    findings_print_ways(stderr, run->rows);
    return 0;
}

static int tell_largest(const struct finished *run)
{
    largest_answer(run->options, run->rows, stderr);
    return 0;
}

static int judge_thresholds(const struct finished *run)
{
    const struct options *o = run->options;
    return gates_judge(&o->gates, o->programs, run->rows, o->lenience.strict, stderr);
}

static int judge_baseline(const struct finished *run)
{
    const struct options *o = run->options;
    if (o->lenience.exact || o->device.meta)
        return baseline_judge_exact(o->baseline, run->report->record, run->rows, o->programs, o->lenience,
                                    stderr);
    return baseline_judge(record_rows(o->baseline), run->rows, o->programs, o->lenience, stderr);
}

static int judge_unchecked(const struct finished *run)
{
    return gates_judge_unchecked(run->rows, run->options->lenience.allow_unchecked, stderr);
}

/* What a step is for, of which any suffices; ALWAYS: for every run. */
enum { ALWAYS = 1, CHARTS = 2, CROSSOVERS = 4, PLANS = 8, BASELINES = 16, THRESHOLDS = 32 };

static unsigned asked_for(const struct finished *run)
{
    const struct options *o = run->options;
    return ALWAYS | (run->report->path && o->output.charts ? CHARTS : 0) |
           (o->crossover.kind ? CROSSOVERS : 0) | (o->device.meta ? PLANS : 0) |
           (o->baseline ? BASELINES : 0) | (o->gates.count ? THRESHOLDS : 0);
}

/* In their order; each returns its misses. */
static const struct step {
    unsigned wanted;
    int (*take)(const struct finished *run);
} steps[] = {{CHARTS, draw_rows},         {CROSSOVERS, tell_crossings},
             {ALWAYS, tell_bounds},       {PLANS, tell_plans},
             {ALWAYS, tell_largest},      {THRESHOLDS, judge_thresholds},
             {BASELINES, judge_baseline}, {THRESHOLDS | BASELINES, judge_unchecked}};

int take_steps(const struct options *o, const struct peaks *peaks, const struct report *report)
{
    struct rows *rows = report_rows(report);
    struct finished run = {o, peaks, report, rows};
    int missed = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        missed += steps[i].wanted & asked_for(&run) ? steps[i].take(&run) : 0;
    rows_free(rows);
    return missed;
}
