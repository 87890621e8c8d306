#include "bench/row/row.h"

#include <stdlib.h>

#include "analysis/statistics/allocate.h"
#include "bench/base/clock.h"
#include "bench/base/interrupt.h"
#include "bench/machine/calibration.h"
#include "bench/row/fields.h"
#include "bench/row/passes.h"
#include "bench/show/profile.h"
#include "kernels/plugin_rows.h"

static void run_passes(const struct open_turn *v, enum program_kind kind, struct recording *r)
{
    struct measurement *m = v->measurement;
    struct target t = {.job = m->job,
                       .work = &m->work,
                       .kind = kind,
                       .first = v->plan->first,
                       .later = v->plan->later,
                       .recording = r,
                       .forecast = &v->forecast,
                       .timed = &m->program[kind],
                       .checked = &m->checked,
                       .outcome = &m->outcome,
                       .row = m->row,
                       .to = row_program(m->row, kind)};
    passes_run(&t);
}

static void plan_program(struct measurement *m, enum program_kind kind, struct tape *t)
{
    struct timed *p = &m->program[kind];
    p->operands = tape_plan(t)->operands;
    p->cost = fields_plan(m->row, kind, t);
    p->planned = true;
}

/* The cost of each entry, for the bound of the program's time. */
static void keep_entries(struct timed *p, const struct tape *t)
{
    p->entries = tape_entry_count(t);
    free(p->entry);
    p->entry = allocate((size_t)p->entries, sizeof *p->entry);
    for (int i = 0; i < p->entries; i++)
        p->entry[i] = entry_cost(tape_entry(t, i));
}

static void finish_program(const struct open_turn *v, enum program_kind kind, struct recording *r)
{
    struct timed *p = &v->measurement->program[kind];
    if (p->samples.n == 0 || interrupt_signal())
        return;
    if (tape_learn(r->tape)) {
        plan_program(v->measurement, kind, r->tape);
        keep_entries(p, r->tape);
    }
    run_passes(v, kind, r);
}

static void print_conventions(const struct job *job, enum program_kind kind, const struct tape *t)
{
    char title[TITLE_TEXT];
    if (!job->profile || !job->options->conventions)
        return;
    fields_title(job->options, job->config, kind, title);
    conventions_print(t, job->options->conventions, title, job->profile);
}

/* What several ranks have, once they have loaded or planned the program. */
static void plan_group(struct measurement *m, enum program_kind kind)
{
    fields_ranks(m->row, &m->work);
    m->program[kind].cost = fields_plan_ranks(m->row, kind, &m->work);
}

/* What all ranks need, and how long they exchange. */
static void plan_ranks(struct open_turn *v, enum program_kind kind)
{
    struct measurement *m = v->measurement;
    const struct job *job = m->job;
    bool planned = job->options->device.meta, several = m->work.group.ranks;
    v->forecast = (struct forecast){0};
    if (several || (planned && job->options->links.count > 0))
        v->forecast = forecast_make(&m->work, kind, peaks_for(job->peaks, job->config->threads));
    if (several && planned)
        plan_group(m, kind);
}

/* Samples a loaded program, and in the first turn runs the passes. */
static void measure_loaded(struct open_turn *v, enum program_kind kind, struct recording *r)
{
    struct measurement *m = v->measurement;
    struct timed *p = &m->program[kind];
    struct message error;
    keep_entries(p, r->tape);
    if (m->work.group.ranks)
        plan_group(m, kind);
    if (v->plan->block[kind].wanted) {
        double now = clock_now(), until = now + (v->deadline - now) / v->programs--;
        sampling_turn(m->job, v->plan, kind, r, until, &p->samples);
        bool cut = clock_now() >= until;
        m->is_cut = m->is_cut || cut;
        if (!still_finite(r, !cut && !interrupt_signal(), &error))
            outcome_set(&m->outcome, "wrong", "%s: after the timed runs %s", program_name(kind), error.text);
    } else {
        tape_init(r->tape);
    }
    if (v->plan->first || v->plan->later)
        finish_program(v, kind, r);
    plugin_settle(m->job->options->plugin.opened, m->job->config->threads);
    if (!workload_went_on(m->job->options, program_name(kind), &m->outcome) && v->plan->first) {
        samples_free(&p->samples);
        passes_drop(m->row, kind); /* also what was measured before the fault */
    }
}

struct told {
    struct row *row;
    struct items *to;
};

static void add_choice(void *told, const char *text)
{
    const struct told *t = told;
    *t->to = row_add_item(t->row, *t->to, &text, FIELD_TEXTS);
}

/* Stores what kernels have chosen since the last call; `to` null: forgets it. */
static void take_choices(const struct device_choice *d, struct row *row, struct items *to)
{
    struct told t = {row, to};
    if (d->context && d->backend->device->choices)
        d->backend->device->choices(d->context, false, to ? add_choice : NULL, &t);
}

void measure_program(struct open_turn *v, enum program_kind kind)
{
    struct measurement *m = v->measurement;
    const struct device_choice *device = &m->job->options->device;
    device_recover(device);
    plugin_recover(m->job->options->plugin.opened);
    struct recording r = workload_record(&m->work, kind);
    plan_program(m, kind, r.tape);
    if (kind < MODEL_PROGRAMS && m->row->batch > 1 && row_program(m->row, kind)->flops.ragged == COUNT_ABSENT)
        fields_ways(m->row, kind, &m->work);
    if (v->plan->first)
        plan_ranks(v, kind);
    take_choices(device, NULL, NULL);
    if (v->plan->first)
        calibration_choices(device, false);
    if (device->meta) {
        run_passes(v, kind, &r);
    } else if (workload_load(&m->work, kind, &r, &m->outcome)) {
        if (v->plan->first) {
            take_choices(device, m->row, &row_program(m->row, kind)->choices);
            calibration_choices(device, true);
        }
        measure_loaded(v, kind, &r);
    }
    if (v->plan->first)
        print_conventions(m->job, kind, r.tape);
    workload_unload(&r);
}
