/* The life of a row. Each step fills in its part; what is not reached is null with the reason. */
#include "bench/row/measure.h"

#include <math.h>

#include "analysis/tables/units.h"
#include "bench/base/clock.h"
#include "bench/base/interrupt.h"
#include "bench/machine/machine.h"
#include "bench/row/cold_start.h"
#include "bench/row/fields.h"
#include "bench/row/passes.h"
#include "bench/row/verify.h"
#include "bench/show/dump.h"
#include "bench/time/sample.h"
#include "models/tape/count.h"
#include "models/tape/listing.h"

/* Between two looks at a GPU while it is sampled. */
static const double look_seconds = 0.05;

/* An op whose loops do more FLOPs than this is not counted: it would take seconds. */
static const int64_t count_limit = 1000000000;

/* A row while it is made. */
struct making {
    const struct job *job;
    json_t *row;
    struct batch batch;
    struct verdict verdict;
    double deadline; /* of the clock, for sampling */
    int programs;    /* still to be sampled until then */
};

static int programs_asked(const struct options *o)
{
    int count = 0;
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        count += o->programs[p];
    return count;
}

static struct recording record_config(const struct options *o, const struct config *c, const struct batch *b,
                                      enum program_kind kind)
{
    return config_record(c, o, b, kind, o->device.backend, F32);
}

static void fail_row(json_t *row, const char *status, const char *reason)
{
    row_set_text(row, "status", status);
    row_set_text(row, "reason", reason);
}

double program_limit(const struct options *o)
{
    const struct device_choice *d = &o->device;
    return o->mem_limit > 0 ? o->mem_limit
           : d->context     ? (double)d->backend->device->available(d->context)
                            : (double)machine_memory_free();
}

/* Of the host's memory. */
static double host_limit(const struct options *o)
{
    return o->mem_limit > 0 ? o->mem_limit : (double)machine_memory_free();
}

/* Whether so much memory may be taken; if not, the row says what needs it. */
static bool fits(json_t *row, const struct options *o, const char *what, int64_t bytes, double limit)
{
    if ((double)bytes <= limit)
        return true;
    char need[UNITS_TEXT], have[UNITS_TEXT], reason[256];
    units_format(need, (double)bytes, UNITS_BINARY, "B");
    units_format(have, limit, UNITS_BINARY, "B");
    snprintf(reason, sizeof reason, "%s needs %s (%lld bytes), %s %s", what, need, (long long)bytes,
             o->mem_limit > 0 ? "--mem-limit is" : "free are", have);
    fail_row(row, "oom", reason);
    return false;
}

/* Of a fixed number of runs, those of the next turn: 7 in 5 turns are 2, 2, 2, 1 and none. 0: not fixed. */
static int runs_of_turn(const struct job *job, enum program_kind kind, int turns)
{
    int part = (job->options->runs + turns - 1) / turns;
    int left = job->options->runs - (job->taken ? (int)job->taken[kind].n : 0);
    return part == 0 || part < left ? part : left;
}

/* Samples in one of `turns` turns: with that part of the runs, of the fewest samples and of the budget. */
static struct samples sample_program(const struct job *job, enum program_kind kind, const struct recording *r,
                                     int turns, double deadline)
{
    const struct options *o = job->options;
    struct sampling rule = {.warmup = o->warmup,
                            .runs = runs_of_turn(job, kind, turns),
                            .min_samples = (o->min_samples + turns - 1) / turns,
                            .max_noise = o->max_noise,
                            .budget = job->share[kind] / turns,
                            .deadline = deadline,
                            .nvml = o->device.nvml,
                            .look = look_seconds,
                            .watch = r->loss,
                            .progress = progress_samples,
                            .context = job->progress};
    job->progress->program = program_name(kind);
    job->progress->share = job->share[kind];
    progress_samples(job->progress, 0, 0);
    pass_prepare(o, r->tape);
    struct samples s = sample_tape(r->tape, &rule);
    progress_clear(job->progress);
    return s;
}

static void warn_samples(const struct samples *s, const char *program)
{
    struct drift drift = drift_find(s->seconds, (size_t)s->n);
    struct slow_start slow = slow_start_find(s->seconds, (size_t)s->n);
    noise_warn_usage(&s->used, s->n, s->elapsed, program, stderr);
    noise_warn_samples(&drift, &slow, program, stderr);
    noise_warn_throttle(&s->seen, program, stderr);
}

/* What the samples say, and what would have disturbed them: it comes afterwards. */
static void use_samples(struct making *m, enum program_kind kind, struct recording *r,
                        const struct samples *s, bool taken)
{
    const struct job *job = m->job;
    if (tape_learn(r->tape))
        facts_plan(m->row, kind, r->tape);
    facts_samples(m->row, kind, s, &m->batch);
    if (job->probe)
        return;
    facts_roofline(m->row, kind, ceilings_for(job->ceilings, job->config.threads), job->ceilings->missing);
    warn_samples(s, program_name(kind));
    struct pass pass = {.job = job, .row = m->row, .batch = &m->batch, .kind = kind};
    pass_time_otherwise(&pass, r->tape, taken);
    pass_look_at_gpu(&pass, r->tape, s);
    if (!facts_resident(m->row, kind, r->tape))
        fail_row(m->row, "wrong", "a run makes more memory resident than was planned");
    if (kind == PROGRAM_STEP)
        row_set_real(m->row, "loss", s->first);
    pass_pictures(&pass, r->tape, s->n);
    if (!facts_counted(m->row, kind, tape_count(r->tape, count_limit)))
        fail_row(m->row, "wrong", "the FLOPs counted are not those of the formulas");
    pass_count_executed(&pass, r->tape);
    verify(&m->verdict, job->options, &job->config, &m->batch, kind, r);
    if (interrupt_signal()) /* replays were cancelled: there will be no row */
        return;
    struct message error;
    if (job->options->dump && kind == PROGRAM_STEP &&
        !dump_write(job->options, &job->config, &m->batch, r, &error))
        fail_row(m->row, "failed", error.text);
}

/* Samples that --timeout ended too early make the row a skipped one. */
static void judge_samples(struct making *m, enum program_kind kind, const struct samples *s)
{
    const struct options *o = m->job->options;
    int needed = o->runs > 0 ? o->runs : SAMPLES_MIN;
    if (s->n >= needed || !row_is_ok(m->row))
        return;
    char reason[256];
    snprintf(reason, sizeof reason, "%s: %d of %d samples in its part of --timeout, %g s", program_name(kind),
             s->n, needed, o->timeout);
    fail_row(m->row, "skipped", reason);
}

/* Everything that needs the program in memory: the timing first. */
static void run_program(struct making *m, enum program_kind kind, struct recording *r)
{
    const struct job *job = m->job;
    bool taken = job->taken && job->taken[kind].n > 0;
    double now = clock_now(), until = now + (m->deadline - now) / m->programs--;
    struct samples s = taken ? job->taken[kind] : sample_program(job, kind, r, 1, until);
    if (s.n > 0 && !interrupt_signal())
        use_samples(m, kind, r, &s, taken);
    judge_samples(m, kind, &s);
    if (!taken)
        samples_free(&s);
}

/* An encoding that is not right makes the row say so. */
static bool judge_encoding(const struct making *m, const struct encoded *encoded)
{
    const struct encoding *e = &encoded->encoding;
    char reason[MESSAGE_SIZE];
    if (e->excess > 1) {
        snprintf(reason, sizeof reason,
                 "%s did not converge: the largest residual, %.3g, is %.3g times what is allowed", e->method,
                 e->residual, e->excess);
        fail_row(m->row, "failed", reason);
    } else if (encoded->displaced > 0) {
        snprintf(reason, sizeof reason,
                 "%s left out copies of eigenvalues: in the place of %lld of %lld pairs belong smaller ones",
                 e->method, (long long)encoded->displaced, (long long)(e->nullity + e->iterated));
        fail_row(m->row, "wrong", reason);
    }
    return e->excess <= 1 && encoded->displaced <= 0;
}

/* Computes what the model is to be given; if it cannot be had, the row says why. */
static bool open_encoding(struct making *m, struct job *job)
{
    const struct options *o = job->options;
    if (job->config.parts.pe.kind == ENCODING_NONE)
        return true;
    row_set_count(m->row, "encoding.storage", encoding_storage(&job->config.parts.pe, &m->batch));
    if (o->device.meta)
        return true;
    if (!encode(job->encoded, o, &job->config, &m->batch, job->share_encoding, m->deadline)) {
        fail_row(m->row, job->encoded->cancelled ? "skipped" : "failed", job->encoded->error.text);
        return false;
    }
    job->config.encoding = &job->encoded->encoding;
    facts_encoding(m->row, job->encoded, &job->config, o->device.backend->device);
    return judge_encoding(m, job->encoded);
}

static void measure_program(struct making *m, enum program_kind kind)
{
    const struct options *o = m->job->options;
    struct recording r = record_config(o, &m->job->config, &m->batch, kind);
    const struct plan *plan = tape_plan(r.tape);
    facts_plan(m->row, kind, r.tape);
    if (!o->device.meta && fits(m->row, o, program_name(kind), plan->arena, program_limit(o))) {
        if (tape_layout(r.tape))
            run_program(m, kind, &r);
        else
            fail_row(m->row, "oom", "the system refused the arena");
    }
    tape_free(r.tape);
}

/* A result beyond the limits makes the row wrong, whatever else it is. */
static void judge(struct making *m)
{
    const struct check *c = &m->verdict.check;
    facts_check(m->row, &m->verdict);
    if (c->excess <= 1)
        return;
    char reason[256];
    snprintf(reason, sizeof reason, "%s: %.3g times the error allowed", c->tensor, c->excess);
    fail_row(m->row, "wrong", reason);
}

static bool make_batch(const struct options *o, const struct config *c, struct batch *b, char *error,
                       size_t size)
{
    return o->device.meta ? batch_shape(b, &c->graph, error, size)
                          : batch_generate(b, &c->graph, error, size);
}

/* Makes the batch of a row, if its generation fits the memory (a file says its size only when it is read); if
 * there is none, the row says why. */
static bool open_batch(struct making *m)
{
    const struct options *o = m->job->options;
    const struct config *c = &m->job->config;
    char error[MESSAGE_SIZE] = "";
    bool drawn = !o->device.meta && !graph_is_file(c->graph.family);
    bool made = !drawn || batch_shape(&m->batch, &c->graph, error, sizeof error);
    int64_t bytes = csr_bytes(&m->batch.adj) + batch_scratch(&m->batch);
    bool room = !drawn || !made || fits(m->row, o, "generating the graph", bytes, host_limit(o));
    batch_free(&m->batch);
    if (!room)
        return false;
    if (!made || !make_batch(o, c, &m->batch, error, sizeof error)) {
        fail_row(m->row, "failed", error);
        return false;
    }
    return true;
}

/* The clock after so many seconds; 0 are without end. */
static double deadline(double seconds)
{
    return seconds > 0 ? clock_now() + seconds : INFINITY;
}

void take_turn(const struct job *job, enum program_kind kind, int turns)
{
    const struct options *o = job->options;
    struct batch b;
    char error[MESSAGE_SIZE];
    struct config c = job->config;
    if (o->runs > 0 && runs_of_turn(job, kind, turns) == 0)
        return;
    if (!config_runs(o, &c, kind) || !make_batch(o, &c, &b, error, sizeof error))
        return;
    if (!encode(job->encoded, o, &c, &b, job->share_encoding, deadline(o->timeout))) {
        batch_free(&b);
        return;
    }
    c.encoding = &job->encoded->encoding;
    struct recording r = record_config(o, &c, &b, kind);
    if ((double)tape_plan(r.tape)->arena <= program_limit(o) && tape_layout(r.tape)) {
        struct samples turn = sample_program(job, kind, &r, turns, deadline(o->timeout / turns));
        samples_join(&job->taken[kind], &turn);
    }
    tape_free(r.tape);
    batch_free(&b);
}

static const char *why_not(const struct making *m, enum program_kind p)
{
    const struct options *o = m->job->options;
    const struct config *c = &m->job->config;
    return !o->programs[p] ? p == PROGRAM_KERNEL ? "programs of a model"
                             : c->kernel         ? "an op alone"
                                                 : "not asked for (--phase)"
           : c->graph.nodes > o->model_nodes
               ? "a graph of this size is only encoded, unless --phase asks for more"
               : "the same by whatever solver, so measured with the first alone, "
                 "unless --phase asks for more";
}

/* All programs that are asked for, and what bench_model adds. */
static void measure_programs(struct making *m)
{
    const struct job *job = m->job;
    const struct options *o = job->options;
    for (enum program_kind p = 0; p < PROGRAMS && !interrupt_signal(); p++) {
        if (config_runs(o, &job->config, p))
            measure_program(m, p);
        else
            row_set_null(m->row, program_name(p), why_not(m, p));
    }
    facts_break_even(m->row);
    if (!o->bench->whole || o->device.meta)
        row_set_null(m->row, "first_answer",
                     o->device.meta ? "planned only (--device meta)" : "measured by bench_model");
    else
        cold_start_measure(m->row, o, &job->config);
    if (job->profile)
        cold_start_print(m->row, job->profile);
}

/* A tenth of the row's part of the budget, so that short runs (--against) mostly measure. */
static double probe_seconds(const struct job *job)
{
    double seconds = job->share_encoding;
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        seconds += job->share[p];
    return fmin(0.05, seconds / 10);
}

json_t *measure(const struct job *job)
{
    const struct options *o = job->options;
    struct job own = *job;
    struct making m = {.job = &own,
                       .row = json_object(),
                       .deadline = deadline(job->probe ? 0 : o->timeout),
                       .programs = programs_asked(o)};
    fail_row(m.row, "ok", "");
    facts_config(m.row, &job->config, o);
    if (!open_batch(&m)) {
        facts_unmeasured(m.row, o->device.meta);
        return m.row;
    }
    facts_batch(m.row, &m.batch, o->device.meta);
    if (m.batch.clamped)
        fprintf(stderr,
                "note: %lld nodes cannot have a mean degree of %g: there are as many edges as can be\n",
                (long long)job->config.graph.nodes, job->config.graph.degree);
    if (!o->device.meta) {
        struct noise noise = noise_probe(job->config.threads, probe_seconds(job));
        facts_noise(m.row, &noise);
        if (job->row == 0)
            noise_warn(&noise, stderr);
    }
    if (open_encoding(&m, &own)) {
        if (job->probe) /* of programs alone */
            m.deadline = deadline(o->timeout);
        measure_programs(&m);
        judge(&m);
    }
    batch_free(&m.batch);
    if (interrupt_signal()) {
        json_decref(m.row);
        return NULL;
    }
    facts_unmeasured(m.row, o->device.meta);
    return m.row;
}

json_t *skip_row(const struct job *job, const char *reason)
{
    json_t *row = json_object();
    fail_row(row, "skipped", reason);
    facts_config(row, &job->config, job->options);
    facts_unmeasured(row, job->options->device.meta);
    return row;
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
        fprintf(out, "%s of %s at %lld nodes\n", program_name(p), c->model->name, (long long)b.adj.nodes);
        tape_list(r.tape, out);
        tape_free(r.tape);
    }
    batch_free(&b);
    return true;
}
