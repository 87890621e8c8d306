#include <string.h>

#include "bench/row/workload.h"
#include "kernels/blas.h"
#include "kernels/plugin_rows.h"
#include "models/layers/op_program.h"

/* Opens the BLAS for all threads of the workload, which must not wait for its memory later. */
static bool open_blas(const struct workload *w, struct outcome *outcome)
{
    struct message error;
    enum blas_state state = blas_open(w->config.threads, error.text, sizeof error.text);
    return state == BLAS_OPEN ||
           outcome_set(outcome, state == BLAS_NO_MEMORY ? "oom" : "failed", "%s", error.text);
}

bool workload_open_blas(const struct workload *w, const struct tape *t, struct outcome *outcome)
{
    bool calls = false;
    for (int e = 0; e < tape_entry_count(t) && !calls; e++)
        calls = strcmp(tape_entry(t, e)->kernel->variant, "blas") == 0;
    return !calls || open_blas(w, outcome);
}

static bool is_right(const struct encoded *encoded, struct outcome *outcome)
{
    const struct encoding *e = &encoded->encoding;
    if (e->excess > 1)
        return outcome_set(outcome, "failed",
                           "%s did not converge: the largest residual, %.3g, is %.3g times the limit",
                           e->method, e->residual, e->excess);
    if (encoded->missed > 0)
        return outcome_set(outcome, "wrong",
                           "%s missed copies of eigenvalues: %lld of %lld pairs should be smaller ones",
                           e->method, (long long)encoded->missed, (long long)(e->nullity + e->iterated));
    return !*encoded->check.wrong || outcome_set(outcome, "wrong", "%s", encoded->check.wrong);
}

bool workload_encode(struct workload *w, struct encoded *e, const struct sampling *rule,
                     struct outcome *outcome)
{
    if (!encoding_any(&w->config.parts.pe) || w->options->device.meta)
        return true;
    if (rule && encoding_calls_lapack(&w->config.parts.pe) && !open_blas(w, outcome))
        return false;
    if (rule && !encode(e, &w->config, &w->batch, rule))
        return e->cancelled ? outcome_set(outcome, "skipped", "%s", e->error.text)
                            : outcome_fail(outcome, e->error.text);
    struct cancel cancel = {sampling_cancelled, rule};
    if (rule)
        encode_check(e, &w->config, &w->batch, &w->options->check, cancel);
    w->config.encoding = &e->encoding;
    return is_right(e, outcome);
}

static struct recording record_tape(const struct workload *w, enum program_kind kind, struct tape_config tape)
{
    const struct config *c = &w->config;
    bool alone = kind == PROGRAM_KERNEL;
    struct form form = c->timed.form;
    tape.part.ranks = w->group.ranks;
    if (w->group.ranks && w->group.partition && c->parts.task == TASK_NODE)
        tape.part.number = w->group.partition->number;
    tape.threads = c->threads;
    tape.seed = w->options->seed;
    if (alone)
        tape.variant[form.op][form.options] = c->timed.kernel->variant;
    struct recording r = alone ? op_program_record(form, &c->parts, &w->batch, tape)
                               : program_record(kind, &c->parts, &w->batch, c->encoding, tape);
    tape_cancel_when(r.tape, c->graph.limits.cancel);
    return r;
}

struct recording workload_record(const struct workload *w, enum program_kind kind)
{
    const struct options *o = w->options;
    struct tape_config tape = {.backend = o->device.backend, .context = o->device.context};
    tape.dtype = precision_dtype(w->config.parts.precision);
    tape.bits = precision_bits(w->config.parts.precision);
    memcpy(tape.variant, o->variant, sizeof tape.variant);
    return record_tape(w, kind, tape);
}

int64_t workload_flops(const struct workload *w, enum program_kind kind, struct batching_work work)
{
    struct workload other = *w;
    struct cost total = {0};
    if (work.pairs < 0)
        return -1;
    other.group.ranks = NULL;
    other.batch = *workload_whole(w);
    other.config.encoding = NULL;
    other.batch.nodes = NULL;
    other.batch.pairs = work.pairs;
    other.batch.adj.nodes = other.batch.out.nodes = work.rows;
    other.batch.adj.row_ptr = other.batch.out.row_ptr = NULL; /* they are of other rows */
    struct recording r = workload_record(&other, kind);
    for (enum phase phase = 0; phase < PHASES; phase++)
        total = cost_add(total, tape_cost(r.tape, phase));
    tape_free(r.tape);
    return total.flops;
}

struct recording workload_record_reference(const struct workload *w, enum program_kind kind, enum dtype dtype)
{
    struct tape_config tape = {
        .backend = &backend_oracle, .dtype = dtype, .bits = precision_bits(w->config.parts.precision)};
    struct workload kept = *w; /* with all activations, so that it cannot share a fault of recomputing them */
    kept.config.parts.checkpoint = NULL;
    return record_tape(&kept, kind, tape);
}

bool workload_went_on(const struct options *o, const char *what, struct outcome *outcome)
{
    struct fault f = device_fault(&o->device);
    const char *fault = plugin_fault(o->plugin.opened);
    if (fault)
        return outcome_set(outcome, "failed", "%s", fault);
    return !f.kind || (f.kind == FAULT_MEMORY
                           ? outcome_set(outcome, "oom", "no memory is left for %s (%s)", what, f.words)
                           : outcome_set(outcome, "failed", "%s: %s: %s", o->device.name, f.where, f.words));
}

/* The first run on a device, in which libraries load code and take memory; if it will be replayed as a graph,
 * it is then captured, during which they may not. */
static bool run_first(const struct options *o, struct tape *t, struct outcome *outcome)
{
    if (!o->device.context)
        return true;
    tape_init(t);
    tape_run(t);
    if (o->cuda_graph)
        tape_capture(t);
    tape_wait(t);
    return workload_went_on(o, "what its libraries need", outcome);
}

/* Whether kernels of others can compute the calls that they are chosen for. */
static bool all_supported(const struct tape *t, struct outcome *outcome)
{
    const char *why = NULL;
    const struct entry *e = NULL;
    for (int i = 0; i < tape_entry_count(t) && !why; i++) {
        e = tape_entry(t, i);
        why = plugin_refuses(e->kernel, e->args);
    }
    return !why || outcome_set(outcome, "skipped", "%s=%s: %s", e->form, e->kernel->variant, why);
}

static bool set_up(const struct tape *t, struct outcome *outcome)
{
    const char *why = NULL;
    for (int i = 0; i < tape_entry_count(t) && !why; i++)
        why = plugin_setup(tape_entry(t, i)->kernel, tape_entry(t, i)->args);
    return !why || outcome_set(outcome, "failed", "setup: %s", why);
}

bool workload_load(const struct workload *w, enum program_kind kind, struct recording *r,
                   struct outcome *outcome)
{
    const struct options *o = w->options;
    if (!all_supported(r->tape, outcome))
        return false;
    if (w->group.ranks)
        return workload_load_together(w, kind, r, outcome);
    tape_load(r->tape);
    double limit = workload_limit(o);
    return workload_went_on(o, "the code of its kernels", outcome) &&
           workload_fits(o, program_name(kind), tape_plan(r->tape)->arena, limit, outcome) &&
           workload_open_blas(w, r->tape, outcome) &&
           (tape_layout(r->tape) || (workload_went_on(o, "its arena", outcome) &&
                                     outcome_set(outcome, "oom", "the arena could not be allocated"))) &&
           run_first(o, r->tape, outcome) && set_up(r->tape, outcome);
}

void workload_unload(struct recording *r)
{
    for (int i = 0; i < tape_entry_count(r->tape); i++)
        plugin_teardown(tape_entry(r->tape, i)->kernel);
    tape_free(r->tape);
}

void workload_map_pages(const struct tape *t)
{
    memset(tape_arena(t), 0, (size_t)tape_planned(t)->arena);
}
