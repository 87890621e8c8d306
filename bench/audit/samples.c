#include "bench/audit/audit.h"

#include <stdio.h>
#include <string.h>

#include "kernels/plugin_rows.h"

/* The sample, for the verdict: sizes, what is absent, what accumulates. */
static void announce_sample(const struct audited *a, const struct operands *o)
{
    static const enum dim shown[] = {DIM_N, DIM_M, DIM_D, DIM_H, DIM_B, DIM_E};
    const struct op_info *info = op_info(o->sample.op);
    char *text = a->verdict->at;
    size_t size = sizeof a->verdict->at, used = 0;
    for (size_t d = 0; d < sizeof shown / sizeof *shown; d++)
        used += (size_t)snprintf(text + used, size - used, "%s%s %d", d ? " " : "", dim_name(shown[d]),
                                 (int)o->sample.dims[shown[d]]);
    for (int i = 0; i < info->operand_count && used < size; i++)
        if (o->sample.absent >> i & 1)
            used += (size_t)snprintf(text + used, size - used, " without %s", info->operands[i].name);
    if (used < size)
        snprintf(text + used, size - used, "%s", o->sample.acc ? " accumulating" : "");
    a->verdict->runs++;
    audit_name_faults(a, o);
}

int visit_samples(const struct audited *a, enum samples which, sample_visitor *visit, void *context,
                  const char **refusal, int *refused)
{
    static struct sample cases[CASES_MAX];
    int visited = 0;
    *refused = 0;
    for (const struct operands_shape *s = operands_shapes; s->seed; s++) {
        struct sample base = {.op = a->kernel->op, .seed = s->seed, .pad = (int64_t)(s->seed % 4)};
        memcpy(base.dims, s->dims, sizeof base.dims);
        int count = which == SAMPLES_ALL || s->small
                        ? operands_cases(&base, which != SAMPLES_FEW && s->all, cases)
                        : 0;
        for (int i = 0; i < count && !a->verdict->outcome; i++) {
            struct operands *exact = operands_new(&cases[i], F64);
            if (!exact)
                continue;
            struct operands *inputs = operands_copy(exact, a->kernel->dtype, base.pad);
            bool form = kernel_supports(a->kernel, op_options(a->kernel->op, &inputs->args));
            const char *why = form ? plugin_refuses(a->kernel, &inputs->args) : "an option of the op";
            *refused += why != NULL;
            *refusal = why ? why : *refusal;
            announce_sample(a, inputs);
            if (!why)
                visit(a, inputs, context);
            audit_name_faults(a, NULL);
            visited += !why;
            operands_free(inputs);
            operands_free(exact);
        }
    }
    return visited;
}

void say_passed(const struct audited *a, int visited, const char *refusal, const char *text)
{
    if (visited == 0)
        verdict_set(a, OUTCOME_ABSENT, "every sample is refused: %s", refusal ? refusal : "");
    verdict_set(a, OUTCOME_PASS, "%s: %d samples", text, visited);
}

void visit_or_pass(const struct audited *a, enum samples which, sample_visitor *visit, const char *text)
{
    const char *refusal = NULL;
    int refused, visited = visit_samples(a, which, visit, NULL, &refusal, &refused);
    say_passed(a, visited, refusal, text);
}

struct operands *run_traced(const struct audited *a, const struct operands *inputs, const struct kernel *k,
                            int threads, bool *intact)
{
    struct operands *o = operands_copy(inputs, k->dtype, inputs->sample.pad);
    audit_name_faults(a, o);
    *intact = k == a->kernel && a->device ? operands_run_on(o, k, a->device, threads == 1)
                                          : operands_run(o, k, threads, 0, 0);
    a->verdict->runs++;
    return o;
}

struct operands *run_copy(const struct audited *a, const struct operands *inputs, const struct kernel *k,
                          int threads)
{
    bool ignored;
    return run_traced(a, inputs, k, threads, &ignored);
}
