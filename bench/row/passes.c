#include "bench/row/passes.h"

#include <math.h>

#include "bench/base/interrupt.h"
#include "bench/row/fields.h"
#include "bench/show/model_report.h"
#include "bench/show/profile.h"
#include "bench/show/trace.h"
#include "bench/time/cold.h"
#include "bench/time/energy.h"

void pass_prepare(const struct options *o, struct tape *t)
{
    tape_init(t);
    if (!o->cuda_graph || tape_captured(t))
        return;
    tape_run(t);
    tape_capture(t);
    tape_init(t);
}

static void print_profile(const struct pass *m, struct tape *t, int samples)
{
    const struct job *job = m->job;
    char title[128];
    snprintf(title, sizeof title, "%s at %lld nodes", program_name(m->kind),
             (long long)job->config.graph.nodes);
    profile_print(t, samples < 10 ? samples : 10, title, ceilings_for(job->ceilings, job->config.threads),
                  job->profile);
    if (job->options->bench->whole)
        model_report(t, m->kind, job->profile);
}

static void sample_cold(const struct pass *m, struct tape *t)
{
    const struct options *o = m->job->options;
    bool usual = o->device.backend->device || m->kind == PROGRAM_KERNEL;
    int runs = o->cold >= 0 ? o->cold : usual ? COLD_DEFAULT : 0;
    double seconds = o->cold >= 0 ? INFINITY : m->job->share[m->kind] / 10;
    struct flush *flush = m->job->flush;
    struct message why;
    if (runs == 0) {
        facts_cold(m->row, m->kind, NULL, "not asked for (--cold)");
    } else if (!flush_ready(flush, &o->device, m->job->config.threads, &why)) {
        facts_cold(m->row, m->kind, NULL, why.text);
    } else {
        struct cold cold = cold_measure(t, flush, runs, seconds);
        facts_cold(m->row, m->kind, &cold, NULL);
    }
    facts_cold_roofline(m->row, m->kind, ceilings_for(m->job->ceilings, m->job->config.threads),
                        m->job->ceilings->missing);
}

void pass_time_otherwise(const struct pass *m, struct tape *t, bool taken)
{
    const struct options *o = m->job->options;
    if (taken) {
        pass_prepare(o, t);
        tape_run(t);
    }
    sample_cold(m, t);
    struct launching launching = {0};
    if (o->device.backend->device)
        launching = launching_measure(t);
    facts_launching(m->row, m->kind, &launching);
}

static void add_trace(const struct pass *m, struct tape *t)
{
    const struct job *job = m->job;
    char title[128];
    snprintf(title, sizeof title, "row %lld: %s at %lld nodes", (long long)job->row + 1,
             program_name(m->kind), (long long)job->config.graph.nodes);
    trace_add(job->trace, title, t);
}

void pass_count_executed(const struct pass *m, struct tape *t)
{
    const struct job *job = m->job;
    struct executed_request request = {.mode = job->options->count,
                                       .counters = job->counters,
                                       .no_counters = job->no_counters,
                                       .tape = t,
                                       .threads = job->config.threads,
                                       .analytic = tape_total(t).flops,
                                       .options = job->options,
                                       .row = job->row,
                                       .program = program_name(m->kind)};
    struct executed executed;
    struct message error;
    if (job->options->device.backend->device)
        facts_not_executed(m->row, m->kind, "not measured on GPUs");
    else if (job->options->count == COUNT_OFF)
        facts_not_executed(m->row, m->kind, "not asked for (--count)");
    else if (executed_measure(&request, &executed, &error))
        facts_executed(m->row, m->kind, &executed);
    else
        facts_not_executed(m->row, m->kind, error.text);
}

void pass_look_at_gpu(const struct pass *m, struct tape *t, const struct samples *s)
{
    const struct device_choice *d = &m->job->options->device;
    if (!d->nvml) {
        facts_no_gpu(m->row, m->kind, d->context ? d->no_nvml : "not on a GPU");
        return;
    }
    facts_gpu(m->row, m->kind, s);
    pass_prepare(m->job->options, t);
    struct energy e = energy_measure(t, d->nvml, ENERGY_SECONDS);
    facts_energy(m->row, m->kind, &e, m->batch);
}

void pass_pictures(const struct pass *m, struct tape *t, int samples)
{
    const struct job *job = m->job;
    if (job->profile)
        print_profile(m, t, samples);
    if (job->trace && !interrupt_signal())
        add_trace(m, t);
    if (job->timeline && !interrupt_signal()) {
        char message[MESSAGE_SIZE];
        model_timeline(t, m->kind, job->timeline, message);
        fprintf(stderr, "%s\n", message);
    }
}
