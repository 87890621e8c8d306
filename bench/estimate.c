/*
 * A run takes no less time than its FLOPs at the peak and than its bytes at the bandwidth of the level that
 * holds what is alive (bench/roofline.h). Sampling takes its share of the budget, or the fewest runs that a
 * row needs where those take longer; a row that becomes quiet ends sooner.
 */
#include "bench/estimate.h"

#include <math.h>

#include "analysis/axes.h"
#include "analysis/units.h"
#include "bench/facts.h"
#include "bench/machine.h"
#include "bench/roofline.h"
#include "bench/sample.h"

int estimate_runs(const struct options *o)
{
    return (o->warmup < 0 ? 1 : o->warmup) + (o->runs > 0 ? o->runs : SAMPLES_MIN);
}

struct estimate estimate_row(const struct options *o, const struct config *config,
                             const struct calibration *c)
{
    struct estimate e = {0};
    struct batch b;
    char error[MESSAGE_SIZE];
    e.known = batch_shape(&b, &config->graph, error, sizeof error);
    for (enum program_kind p = 0; p < PROGRAMS && e.known; p++) {
        e.program[p].seconds = c ? 0 : NAN;
        if (!config_runs(o, config, p))
            continue;
        struct recording r = config_record(config, o, &b, p, o->device.backend, F32);
        struct cost total = tape_total(r.tape);
        const struct plan *plan = tape_plan(r.tape);
        e.program[p].flops = total.flops;
        e.program[p].bytes = total.bytes;
        e.program[p].arena = plan->arena;
        if (c && total.flops >= 0 && total.bytes >= 0)
            e.program[p].seconds = roofline_place(c, total.flops, total.bytes, 1, plan->peak).percent / 100;
        tape_free(r.tape);
    }
    batch_free(&b);
    return e;
}

/* The axes with more than one value: "500 nodes, 2 layers". */
static void describe(const struct options *o, const struct config *c, char text[AXES_TEXT])
{
    const struct field *axes[AXES_MAX];
    size_t n = 0;
    json_t *row = json_object();
    for (int a = AXES - 1; a >= 0; a--)
        if (o->axes[a].count > 1 || a == AXIS_NODES)
            axes[n++] = schema_find(axis_field((enum axis)a));
    for (int i = 0; i < 2 && o->kernels; i++)
        axes[n++] = schema_find(i ? "variant" : "op");
    facts_config(row, c, o);
    axes_describe_all(row, axes, n, text);
    json_decref(row);
}

static void format_seconds(char text[UNITS_TEXT], double seconds)
{
    if (isnan(seconds))
        snprintf(text, UNITS_TEXT, "unknown");
    else
        units_format(text, seconds, UNITS_SI, "s");
}

/* One row's line; adds to the time of all, which becomes NAN where it is not known. */
static void print_row(const struct options *o, int64_t index, const struct ceilings *ceilings, double *all,
                      FILE *out)
{
    struct config c = config_at(o, index);
    struct estimate e = estimate_row(o, &c, ceilings_for(ceilings, c.threads));
    char work[17], axes[AXES_TEXT], memory[UNITS_TEXT] = "unknown", run[PROGRAMS][UNITS_TEXT],
                                    total[UNITS_TEXT];
    double seconds = 0, limit = o->mem_limit > 0 ? o->mem_limit : (double)machine_memory_free();
    int64_t arena = 0;
    config_work(&c, o->seed, work);
    describe(o, &c, axes);
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        format_seconds(run[p], e.known ? e.program[p].seconds : NAN);
        seconds += e.program[p].seconds * estimate_runs(o);
        arena = e.program[p].arena > arena ? e.program[p].arena : arena;
    }
    if (e.known)
        units_format(memory, (double)arena, UNITS_BINARY, "B");
    format_seconds(total, e.known ? seconds : NAN);
    *all += e.known ? seconds : NAN;
    bool runs = !o->device.meta, slow = o->timeout > 0 && seconds > o->timeout;
    fprintf(out, "%s", work);
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        if (o->programs[p])
            fprintf(out, "  %-10s", run[p]);
    fprintf(out, "  %-10s  %-10s  %s%s%s\n", total, memory, axes,
            runs && (double)arena > limit ? "; oom" : "", runs && slow ? "; skipped by --timeout" : "");
}

bool estimate_print(const struct options *o, FILE *out, struct message *error)
{
    if (!config_check_all(o, error))
        return false;
    struct ceilings ceilings;
    char total[UNITS_TEXT];
    double all = 0;
    ceilings_kept(&ceilings, o);
    fprintf(out, "%-16s", "work");
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        if (o->programs[p])
            fprintf(out, "  %-7s >=", program_name(p));
    fprintf(out, "  %-10s  %-10s  %s\n", "row >=", "memory", "axes");
    for (int64_t i = 0; i < config_count(o); i++)
        print_row(o, i, &ceilings, &all, out);
    format_seconds(total, all);
    fprintf(out, "%lld rows: at least %d runs of each program, %s; sampling has a budget of %g s\n",
            (long long)config_count(o), estimate_runs(o), total, o->budget);
    if (ceilings.count > 0)
        fprintf(out, "time: analytic FLOPs and bytes under the ceilings measured %s; no run can be faster\n",
                ceilings.list[0].time);
    else
        fprintf(out, "time: unknown, %s\n", ceilings.missing);
    fprintf(out, "memory: the plan of the larger program, exact; the check, if it is whole, needs more\n");
    return true;
}
