#include "bench/sweep/against.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/compare/crossing.h"
#include "analysis/record/result_file.h"
#include "analysis/tables/units.h"
#include "bench/sweep/harness.h"

int contender_measure(const struct contender *b)
{
    static const struct bench kernels = {
        .name = "bench_kernels", .axis = AXIS_NODES, .values = "500", .kernels = true};
    enum { LONGEST = 10 }; /* seconds at one size beside the budget: ref is slow at large ones */
    char axis[32], seconds[32], most[32];
    snprintf(axis, sizeof axis, "--%s", b->axis);
    snprintf(seconds, sizeof seconds, "%g", b->budget);
    snprintf(most, sizeof most, "%g", b->budget + LONGEST);
    const char *words[] = {kernels.name,
                           "--plugin",
                           b->library,
                           "--device",
                           b->device,
                           "--op",
                           op_info(b->op)->name,
                           axis,
                           b->values,
                           "--budget",
                           seconds,
                           "--timeout",
                           most,
                           "--output",
                           b->file,
                           "--no-charts",
                           "--count",
                           strcmp(b->device, "cpu") == 0 ? "counters" : "off",
                           NULL};
    return bench_main(&kernels, sizeof words / sizeof *words - 1, (char **)words);
}

/* The row of a variant that did the same work as another. */
static const struct row *row_beside(const struct rows *rows, const struct row *row, const char *variant)
{
    for (size_t i = 0; i < rows_count(rows); i++)
        if (strcmp(rows_at(rows, i)->variant, variant) == 0 && strcmp(rows_at(rows, i)->work, row->work) == 0)
            return rows_at(rows, i);
    return NULL;
}

static void set_figure(struct value *figures, const char *name, double value)
{
    if (!isnan(value))
        value_set_real(figures, name, value);
}

static double executed_share(const struct row_program *k)
{
    return count_real(k->flops.executed) / count_real(k->flops.analytic);
}

static void set_figures(struct value *figures, const struct row *row, const struct verdict *v)
{
    const struct row_program *k = &row->kernel;
    set_figure(figures, "seconds", k->time.median);
    set_figure(figures, "gflops", k->gflops);
    set_figure(figures, "bandwidth", k->bandwidth);
    set_figure(figures, "roofline", k->roofline.percent);
    set_figure(figures, "executed", executed_share(k));
    set_figure(figures, "ratio", v->ratio);
    set_figure(figures, "low", v->low);
    set_figure(figures, "high", v->high);
}

/* "1600 nodes: 240 +- 3 us, 12.1 GFLOP/s, 35.0 GB/s, roof 31 %; 0.532 [0.510, 0.550] times that of simd" */
static void describe_time(const struct row *row, const char *place, const char *ours, const struct verdict *v,
                          char *text, size_t size)
{
    const struct row_program *k = &row->kernel;
    char time[UNITS_TEXT], rate[UNITS_TEXT], traffic[UNITS_TEXT], ratio[UNITS_TEXT];
    double executed = executed_share(k);
    units_format_interval(time, k->time.median, k->time.range_low, k->time.range_high, "s");
    units_format(rate, k->gflops * 1e9, UNITS_SI, "FLOP/s");
    units_format(traffic, k->bandwidth * 1e9, UNITS_SI, "B/s");
    verdict_ratio_text(v, ratio);
    size_t used = (size_t)snprintf(text, size, "%s: %s, %s, %s", place, time, rate, traffic);
    if (!isnan(k->roofline.percent))
        used += (size_t)snprintf(text + used, size - used, ", roof %.0f %%", k->roofline.percent);
    if (!isnan(executed))
        used += (size_t)snprintf(text + used, size - used, ", executes %.3gx the FLOPs", executed);
    snprintf(text + used, size - used, "; %s times that of %s%s%.100s", ratio, ours, *v->reason ? ": " : "",
             v->reason);
}

static void say_time(const struct contender *b, const struct rows *rows, const struct row *row,
                     contender_say *say, void *context)
{
    const struct field *axis = schema_find(axis_info(axis_named(b->axis, strlen(b->axis)))->field);
    char place[AXES_TEXT], finding[MESSAGE_SIZE];
    const char *ours = rows_at(rows, 0)->variant; /* the default stands first */
    const struct row *base = strcmp(ours, b->variant) == 0 ? NULL : row_beside(rows, row, ours);
    struct value *figures = value_new_object();
    double x = NAN;
    axes_describe(row, axis, place);
    field_number(row, axis, &x);
    value_set_real(figures, b->axis, x);
    if (!row_is_ok(row) || !base) {
        bool wrong = strcmp(row->status, "wrong") == 0;
        const char *why = row->reason ? row->reason : "there is no kernel of ours beside it";
        snprintf(finding, sizeof finding, "%s: %s: %.200s", place, row->status, why);
        say(context, "times", wrong ? "fail" : "absent", finding, figures);
        return;
    }
    struct verdict v = row_verdict(base, TIMED_KERNEL, row, TIMED_KERNEL, verdict_within);
    value_set_text(figures, "against", ours);
    set_figures(figures, row, &v);
    describe_time(row, place, ours, &v, finding, sizeof finding);
    say(context, "times", verdict_name(v.kind), finding, figures);
}

/* Where the kernel overtakes one of ours, or which of the two is faster everywhere. */
static void say_crossing(const struct contender *b, const struct crossing *c, contender_say *say,
                         void *context)
{
    bool second = strcmp(c->points->row[1]->variant, b->variant) == 0; /* it is one of the two */
    const char *other = c->points->row[!second]->variant;
    bool wins = c->winner == second;
    bool open = c->kind == CROSSING_OPEN || c->kind == CROSSING_NEVER;
    const char *verdict = open                       ? verdict_name(VERDICT_INCONCLUSIVE)
                          : c->kind == CROSSING_NONE ? verdict_name(wins ? VERDICT_FASTER : VERDICT_SLOWER)
                                                     : "found";
    struct value *figures = value_new_object();
    char finding[MESSAGE_SIZE] = "";
    FILE *text = fmemopen(finding, sizeof finding, "w");
    if (!text)
        abort();
    crossing_print(text, c);
    fclose(text);
    value_set_text(figures, "against", other);
    if (c->kind == CROSSING_FOUND) {
        value_set_text(figures, "faster_above", wins ? b->variant : other);
        value_set_real(figures, b->axis, c->at);
        value_set_real(figures, "low", c->low);
        value_set_real(figures, "high", c->high);
    }
    say(context, "crossover", verdict, finding, figures);
}

static void say_crossings(const struct contender *b, const struct rows *rows, contender_say *say,
                          void *context)
{
    struct crossings all = crossings_of_kernels(rows);
    for (size_t i = 0; i < all.count; i++)
        if (strcmp(all.list[i].points->row[0]->variant, b->variant) == 0 ||
            strcmp(all.list[i].points->row[1]->variant, b->variant) == 0)
            say_crossing(b, &all.list[i], say, context);
    crossings_free(&all);
}

bool contender_judge(const struct contender *b, contender_say *say, void *context, struct message *error)
{
    struct record *record = record_load(b->file, error->text);
    const struct rows *rows = record ? record_rows(record) : NULL;
    for (size_t i = 0; record && i < rows_count(rows); i++)
        if (strcmp(rows_at(rows, i)->variant, b->variant) == 0)
            say_time(b, rows, rows_at(rows, i), say, context);
    if (record)
        say_crossings(b, rows, say, context);
    record_free(record);
    return record;
}
