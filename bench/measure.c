/* The life of a row. Each step fills in its part; what is not reached is null with the reason. */
#include "bench/measure.h"

#include <math.h>

#include "analysis/units.h"
#include "bench/facts.h"
#include "bench/machine.h"
#include "bench/profile.h"
#include "bench/sample.h"
#include "models/count.h"
#include "models/listing.h"

/* An op whose loops do more FLOPs than this is not counted: it would take seconds. */
static const int64_t count_limit = 1000000000;

static struct tape_config tape_config_of(const struct options *o, const struct config *c)
{
    struct tape_config t = {.backend = o->backend, .dtype = F32, .threads = c->threads, .seed = o->seed};
    for (enum op op = 0; op < OPS; op++)
        t.variant[op] = o->variant[op];
    return t;
}

static struct recording record_config(const struct options *o, const struct config *c, const struct batch *b,
                                      enum program_kind kind)
{
    return record_program(kind, c->model, &c->sizes, b, tape_config_of(o, c));
}

static void fail_row(json_t *row, const char *status, const char *reason)
{
    row_set_text(row, "status", status);
    row_set_text(row, "reason", reason);
}

/* Whether the arena fits; if not, the row says what it needs. */
static bool fits(json_t *row, const struct options *o, enum program_kind kind, int64_t bytes)
{
    double limit = o->mem_limit > 0 ? o->mem_limit : (double)machine_memory_free();
    if ((double)bytes <= limit)
        return true;
    char need[UNITS_TEXT], have[UNITS_TEXT], reason[256];
    units_format(need, (double)bytes, UNITS_BINARY, "B");
    units_format(have, limit, UNITS_BINARY, "B");
    snprintf(reason, sizeof reason, "%s needs %s (%lld bytes), %s %s", program_name(kind), need,
             (long long)bytes, o->mem_limit > 0 ? "--mem-limit is" : "free are", have);
    fail_row(row, "oom", reason);
    return false;
}

static void sample_program(json_t *row, const struct job *job, enum program_kind kind, struct recording *r)
{
    const struct options *o = job->options;
    struct sampling rule = {.warmup = o->warmup,
                            .runs = o->runs,
                            .min_samples = o->min_samples,
                            .max_noise = o->max_noise,
                            .budget = job->share[kind],
                            .watch = r->loss,
                            .progress = progress_samples,
                            .context = job->progress};
    job->progress->program = program_name(kind);
    job->progress->share = job->share[kind];
    progress_samples(job->progress, 0, 0);
    int64_t resident = machine_resident();
    tape_init(r->tape);
    struct samples s = sample_tape(r->tape, &rule);
    progress_clear(job->progress);
    facts_samples(row, kind, &s, resident, job->config.graph.graphs);
    if (kind == PROGRAM_STEP)
        row_set_real(row, "loss", s.first);
    if (job->profile) {
        char title[128];
        snprintf(title, sizeof title, "%s at %lld nodes", program_name(kind),
                 (long long)job->config.graph.nodes);
        profile_print(r->tape, s.n < 10 ? s.n : 10, title, job->profile);
    }
    samples_free(&s);
    int64_t counted = tape_count(r->tape, count_limit);
    facts_counted(row, kind, counted);
}

static void measure_program(json_t *row, const struct job *job, const struct batch *b, enum program_kind kind)
{
    struct recording r = record_config(job->options, &job->config, b, kind);
    const struct plan *plan = tape_plan(r.tape);
    facts_plan(row, kind, r.tape);
    if (!job->options->meta && fits(row, job->options, kind, plan->arena)) {
        if (tape_layout(r.tape))
            sample_program(row, job, kind, &r);
        else
            fail_row(row, "oom", "the system refused the arena");
    }
    tape_free(r.tape);
}

static bool make_batch(const struct options *o, const struct config *c, struct batch *b, char *error,
                       size_t size)
{
    return o->meta ? batch_shape(b, &c->graph, error, size) : batch_generate(b, &c->graph, error, size);
}

json_t *measure(const struct job *job)
{
    const struct options *o = job->options;
    json_t *row = json_object();
    struct batch b;
    char error[MESSAGE_SIZE];
    fail_row(row, "ok", "");
    facts_config(row, &job->config, o);
    if (!make_batch(o, &job->config, &b, error, sizeof error)) {
        fail_row(row, "failed", error);
        row_set_rest_null(row, error);
        return row;
    }
    facts_batch(row, &b, o->meta);
    if (b.clamped)
        fprintf(stderr, "note: %lld nodes cannot have a mean degree of %g: the graph is complete\n",
                (long long)job->config.graph.nodes, job->config.graph.degree);
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        if (o->programs[p])
            measure_program(row, job, &b, p);
        else
            row_set_null(row, program_name(p), "not asked for (--phase)");
    }
    batch_free(&b);
    facts_unmeasured(row, o->meta);
    return row;
}

double predicted_cost(const struct options *o, const struct config *c, enum program_kind kind)
{
    static const double flops_per_byte = 10; /* where a CPU's time turns from memory to arithmetic, roughly */
    struct batch b;
    char error[MESSAGE_SIZE];
    if (!batch_shape(&b, &c->graph, error, sizeof error))
        return 0;
    struct recording r = record_config(o, c, &b, kind);
    struct cost cost = {0};
    for (enum phase p = 0; p < PHASES; p++)
        cost = cost_add(cost, tape_cost(r.tape, p));
    tape_free(r.tape);
    batch_free(&b);
    return fmax((double)cost.flops, flops_per_byte * (double)cost.bytes);
}

bool list_tapes(const struct options *o, const struct config *c, FILE *out, struct message *error)
{
    struct batch b;
    char text[MESSAGE_SIZE];
    if (!batch_shape(&b, &c->graph, text, sizeof text))
        return complain(error, "%s", text);
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        if (!o->programs[p])
            continue;
        struct recording r = record_config(o, c, &b, p);
        fprintf(out, "%s of %s at %lld nodes\n", program_name(p), c->model->name, (long long)c->graph.nodes);
        tape_list(r.tape, out);
        tape_free(r.tape);
    }
    batch_free(&b);
    return true;
}
