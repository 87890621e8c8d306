/* The checks of an audit: see audit.h. */
#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/audit/audit.h"
#include "kernels/gtmark_plugin.h"
#include "kernels/plugin_rows.h"
#include "kernels/rng.h"

void verdict_set(const struct audited *a, enum outcome outcome, const char *format, ...)
{
    if (a->verdict->outcome)
        return;
    va_list list;
    va_start(list, format);
    vsnprintf(a->verdict->text, sizeof a->verdict->text, format, list);
    va_end(list);
    a->verdict->outcome = outcome;
}

/* Samples. */

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
    audit_watch(a, o);
}

/* Visits a sample: its operands in the kernel's type. */
typedef void sample_visitor(const struct audited *a, const struct operands *inputs, void *context);

enum samples { SAMPLES_ALL, SAMPLES_SMALL, SAMPLES_FEW };

/*
 * All samples; without those of large shapes; or of each shape those with all operands. Samples that the
 * kernel refuses are left out. Returns their number, and that of the refused with the last reason.
 */
static int visit_samples(const struct audited *a, enum samples which, sample_visitor *visit, void *context,
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
            audit_watch(a, NULL);
            visited += !why;
            operands_free(inputs);
            operands_free(exact);
        }
    }
    return visited;
}

/* If nothing was found. */
static void say_passed(const struct audited *a, int visited, const char *refusal, const char *text)
{
    if (visited == 0)
        verdict_set(a, OUTCOME_ABSENT, "every sample is refused: %s", refusal ? refusal : "");
    verdict_set(a, OUTCOME_PASS, "%s: %d samples", text, visited);
}

/* The same, for checks to which refusals are nothing new. Passes, with the text, if nothing was found. */
static void visit_or_pass(const struct audited *a, enum samples which, sample_visitor *visit,
                          const char *text)
{
    const char *refusal = NULL;
    int refused, visited = visit_samples(a, which, visit, NULL, &refusal, &refused);
    say_passed(a, visited, refusal, text);
}

/* *intact: whether it left alone what lies behind its scratch. References run on the host. */
static struct operands *run_traced(const struct audited *a, const struct operands *inputs,
                                   const struct kernel *k, int threads, bool *intact)
{
    struct operands *o = operands_copy(inputs, k->dtype, inputs->sample.pad);
    audit_watch(a, o);
    *intact = k == a->kernel && a->device ? operands_run_on(o, k, a->device, threads == 1)
                                          : operands_run(o, k, threads, 0, 0);
    a->verdict->runs++;
    return o;
}

/* Where memory was touched is for the check of memory. */
static struct operands *run_copy(const struct audited *a, const struct operands *inputs,
                                 const struct kernel *k, int threads)
{
    bool ignored;
    return run_traced(a, inputs, k, threads, &ignored);
}

/* Results. */

enum { TRIED_MAX = 4096 };

struct results {
    struct tried tried[TRIED_MAX];
    int count, wrong;
    double error, own; /* the largest over the limit: of the kernel, of ref in the same type */
    char first[400];   /* wrong sample, in words */
};

static int64_t largest_hub(const struct operands *o)
{
    struct mat row = operand_of(o, "adj.row");
    int64_t most = 0;
    for (int64_t i = 0; i + 1 < row.rows; i++) {
        int64_t edges = (int64_t)(mat_get(row, i + 1, 0) - mat_get(row, i, 0));
        most = edges > most ? edges : most;
    }
    return most;
}

/* The entry of an operand that is furthest from the reference, in words. */
static void describe_error(const struct operands *ours, const struct operands *oracle, const char *name,
                           char *text, size_t size)
{
    struct mat x = operand_of(ours, name), r = operand_of(oracle, name);
    int64_t row = 0, column = 0;
    double most = -1;
    for (int64_t i = 0; i < r.rows; i++)
        for (int64_t k = 0; k < r.cols; k++) {
            double d = fabs(mat_get(x, i, k) - mat_get(r, i, k));
            if (isnan(d) ? !isnan(most) : d > most) {
                most = d;
                row = i;
                column = k;
            }
        }
    static const unsigned char unwritten[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    size_t element = dtype_size(x.dtype);
    const char *at = (const char *)x.data + (size_t)(row * x.ld + column) * element;
    if (memcmp(at, unwritten, element) == 0)
        snprintf(text, size, "%s (%d, %d) is not written", name, (int)row, (int)column);
    else
        snprintf(text, size, "%s (%d, %d) is %.6g, not %.6g", name, (int)row, (int)column,
                 mat_get(x, row, column), mat_get(r, row, column));
}

static void try_result(const struct audited *a, const struct operands *inputs, void *context)
{
    struct results *all = context;
    const struct kernel *ref = backend_kernel(&backend_ref, a->kernel->op, F64, NULL);
    const struct kernel *narrow = backend_kernel(&backend_ref, a->kernel->op, a->kernel->dtype, NULL);
    struct operands *oracle = operands_copy(inputs, F64, 0), *ours = run_copy(a, inputs, a->kernel, 1);
    struct operands *own = run_copy(a, inputs, narrow, 1);
    operands_run(oracle, ref, 1, 0, 0);
    const char *worst, *ignored;
    double error = operands_error(ours, oracle, &worst);
    bool wrong = !(error <= kernel_allowance(a->kernel));
    all->error = wrong ? all->error : fmax(all->error, error);
    all->own = fmax(all->own, operands_error(own, oracle, &ignored));
    if (wrong && !all->wrong++) {
        describe_error(ours, oracle, worst, all->first, 120);
        snprintf(all->first + strlen(all->first), 210, " (%s)", a->verdict->at);
    }
    if (all->count < TRIED_MAX)
        all->tried[all->count++] = (struct tried){inputs->sample, largest_hub(inputs), wrong};
    operands_free(oracle);
    operands_free(ours);
    operands_free(own);
}

static void check_results(const struct audited *a)
{
    static struct results all;
    const char *refusal = NULL;
    char common[100], left_out[160] = "";
    int refused, visited = visit_samples(a, SAMPLES_ALL, try_result, &all, &refusal, &refused);
    if (refused)
        snprintf(left_out, sizeof left_out, "; refuses %d others: %.100s", refused, refusal);
    if (visited == 0) {
        verdict_set(a, OUTCOME_FAIL, "refuses every sample: %s", refusal ? refusal : "");
    } else if (all.wrong) {
        audit_common(all.tried, all.count, common, sizeof common);
        verdict_set(a, OUTCOME_FAIL, "wrong in %d of %d samples%s%s: %s%s", all.wrong, visited,
                    *common ? ", " : "", common, all.first, left_out);
    }
    verdict_set(a, OUTCOME_PASS, "%d samples; error at most %.2g of the limit, of the reference %.2g%s",
                visited, all.error, all.own, left_out);
}

/* Memory. */

static struct operands *run_kept(const struct audited *a, const struct operands *inputs, int threads)
{
    bool intact;
    struct operands *o = run_traced(a, inputs, a->kernel, threads, &intact);
    if (!intact)
        verdict_set(a, OUTCOME_FAIL, "writes past the end of its scratch");
    if (!operands_guarded(o))
        verdict_set(a, OUTCOME_FAIL, "writes outside of its outputs, or between their rows");
    return o;
}

/* On a device there are no guard pages, and all that shows is what was written. */
static void try_device_memory(const struct audited *a, const struct operands *inputs, void *context)
{
    (void)context;
    struct operands *o = run_kept(a, inputs, 1);
    const struct op_info *info = op_info(o->sample.op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *p = &info->operands[i];
        if (o->blocks[i].bytes && !operand_writes(p) &&
            memcmp(o->blocks[i].bytes, inputs->blocks[i].bytes, o->blocks[i].size) != 0)
            verdict_set(a, OUTCOME_FAIL, "writes its input %s", p->name);
    }
    operands_free(o);
}

/* Twice with the same operands, so that what is kept of the first call shows. */
static void try_memory(const struct audited *a, const struct operands *inputs, void *context)
{
    (void)context;
    struct operands guarded = *inputs;
    for (int i = 0; i < 4; i++) {
        int threads = i < 2 ? 1 : 3;
        guarded.sample.guard = i % 2 ? GUARD_BEFORE : GUARD_AFTER;
        struct operands *o = run_kept(a, &guarded, threads);
        if (!operands_run(o, a->kernel, threads, 0, 0))
            verdict_set(a, OUTCOME_FAIL, "writes past the end of its scratch");
        guarded_free(o->closed);
        operands_free(o);
    }
}

static void check_memory(const struct audited *a)
{
    if (a->device)
        visit_or_pass(a, SAMPLES_SMALL, try_device_memory,
                      "nothing outside of its outputs and its scratch is written");
    else
        visit_or_pass(a, SAMPLES_SMALL, try_memory,
                      "nothing outside of its operands and its scratch is accessed");
}

/* The same bits. */

static void try_bits(const struct audited *a, const struct operands *inputs, int threads, int times,
                     const char *what)
{
    struct operands *first = run_copy(a, inputs, a->kernel, times > 1 ? threads : 1);
    for (int i = 0; i < times && !a->verdict->outcome; i++) {
        struct operands *again = run_copy(a, inputs, a->kernel, threads);
        if (!operands_same_bits(first, again))
            verdict_set(a, OUTCOME_FAIL, "%s (%s)", what, a->verdict->at);
        operands_free(again);
    }
    operands_free(first);
}

static void try_threads(const struct audited *a, const struct operands *inputs, void *context)
{
    (void)context;
    try_bits(a, inputs, 2, 1, "2 threads give other bits than 1");
    try_bits(a, inputs, 3, 1, "3 threads give other bits than 1");
}

static void try_runs(const struct audited *a, const struct operands *inputs, void *context)
{
    (void)context;
    try_bits(a, inputs, 1, 4, "differs from run to run, on one thread");
    try_bits(a, inputs, 3, 4, "differs from run to run");
}

static void check_thread_counts(const struct audited *a)
{
    if (a->device)
        verdict_set(a, OUTCOME_ABSENT, "a GPU has no number of threads to choose");
    else
        visit_or_pass(a, SAMPLES_FEW, try_threads, "the same bits on 1, 2 and 3 threads");
}

static void check_runs(const struct audited *a)
{
    visit_or_pass(a, SAMPLES_FEW, try_runs, "the same bits in every run");
}

/* What else calls do. */

/* The threads of this process, which OpenMP keeps. */
static int tasks(void)
{
    DIR *list = opendir("/proc/self/task");
    int count = 0;
    for (struct dirent *e; list && (e = readdir(list)) != NULL;)
        count += e->d_name[0] != '.';
    if (list)
        closedir(list);
    return count;
}

static void measure_calls(const struct audited *a, const struct operands *inputs, int threads)
{
    enum { CALLS = 3 };
    int flags = plugin_flags(a->kernel);
    struct operands *o = operands_copy(inputs, a->kernel->dtype, inputs->sample.pad);
    operands_run(o, a->kernel, threads, 0, 0); /* starts the threads of OpenMP */
    struct rusage before, after;
    struct guarded scratch;
    o->args.call = (struct call){.kernel = a->kernel, .threads = threads, .eager = true};
    scratch = guarded_new(a->kernel->scratch ? (size_t)a->kernel->scratch(&o->args) : 0, 64, GUARD_AFTER);
    o->args.call.scratch = scratch.bytes;
    a->counted->reset(true);
    getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < CALLS; i++)
        a->kernel->run(&o->args);
    getrusage(RUSAGE_THREAD, &after);
    a->counted->reset(false);
    int allocations = a->counted->allocations(), started = a->counted->threads();
    if (allocations && !(flags & GTMARK_ALLOCATES))
        verdict_set(a, OUTCOME_FAIL, "allocates memory, %d times in %d calls, and does not declare it",
                    allocations, CALLS);
    if (started && !(flags & GTMARK_STARTS_THREADS))
        verdict_set(a, OUTCOME_FAIL, "starts threads, %d in %d calls, and does not declare it", started,
                    CALLS);
    if (tasks() > a->tasks + 1 && !(flags & GTMARK_STARTS_THREADS)) /* two threads in all */
        verdict_set(a, OUTCOME_FAIL, "uses more threads than it may: %d", tasks() - a->tasks + 1);
    if (threads == 1 && !(flags & GTMARK_STARTS_THREADS) && after.ru_nvcsw - before.ru_nvcsw >= CALLS)
        verdict_set(a, OUTCOME_FAIL, "waits: gives up the processor %ld times in %d calls on one thread",
                    after.ru_nvcsw - before.ru_nvcsw, CALLS);
    guarded_free(scratch);
    operands_free(o);
}

static void try_calls(const struct audited *a, const struct operands *inputs, void *context)
{
    (void)context;
    measure_calls(a, inputs, 1);
    measure_calls(a, inputs, 2);
}

static void check_calls(const struct audited *a)
{
    struct audited counting = *a;
    counting.tasks = tasks();
    if (a->device)
        verdict_set(a, OUTCOME_ABSENT, "on a GPU the driver allocates and waits too");
    else if (!a->counted)
        verdict_set(a, OUTCOME_ABSENT, "AddressSanitizer replaces the allocator");
    else
        visit_or_pass(&counting, SAMPLES_FEW, try_calls,
                      plugin_flags(a->kernel) ? "nothing that the entry does not declare"
                                              : "no allocation, no new thread, no waiting");
}

/* Values that are not finite. */

/* Whether two values differ by more than their rounding. */
static bool apart(double x, double y)
{
    return !(fabs(x - y) <= 1e-9 * (fabs(x) + fabs(y)));
}

/* The first output with an entry that is finite in b and not in a, and, unless they are null, differs between
 * the other two; null: none. */
static const char *less_finite(const struct operands *a, const struct operands *b, const struct operands *one,
                               const struct operands *other)
{
    for (const struct operand *p = NULL; (p = operands_output(a, p));) {
        struct mat x = *operand_mat(p, &a->args), y = *operand_mat(p, &b->args);
        for (int64_t r = 0; r < x.rows; r++)
            for (int64_t c = 0; c < x.cols; c++)
                if (!isfinite(mat_get(x, r, c)) && isfinite(mat_get(y, r, c)) &&
                    (!one || apart(mat_get(*operand_mat(p, &one->args), r, c),
                                   mat_get(*operand_mat(p, &other->args), r, c))))
                    return p->name;
    }
    return NULL;
}

/* Runs a kernel with another value of an input's entry. */
static struct operands *run_with(const struct audited *a, const struct operands *inputs,
                                 const struct kernel *k, struct mat m, double value)
{
    uint64_t seed = inputs->sample.seed;
    int64_t row = (int64_t)(rng_bits(seed, 0) % (uint64_t)m.rows),
            column = (int64_t)(rng_bits(seed, 1) % (uint64_t)m.cols);
    double before = mat_get(m, row, column);
    mat_set(m, row, column, value);
    struct operands *o = run_copy(a, inputs, k, 1);
    mat_set(m, row, column, before);
    return o;
}

/*
 * With NaN or infinity in an input. NaN is hidden if an output is finite that depends on the input, by two
 * other values of it, and that the reference makes NaN or infinite. The rest is worth a note: infinities that
 * clamped exponentials make finite; terms that are 0 in one of the two, and 0 times NaN in the other.
 */
static void try_value(const struct audited *a, const struct operands *inputs, const struct operand *p,
                      double value, char note[AUDIT_TEXT])
{
    static const double others[2] = {8, -8};
    enum op op = a->kernel->op;
    const struct kernel *exact = backend_kernel(&backend_ref, op, F64, NULL),
                        *ref = backend_kernel(&backend_ref, op, a->kernel->dtype, NULL);
    struct mat m = *operand_mat(p, &inputs->args);
    struct operands *ours = run_with(a, inputs, a->kernel, m, value),
                    *theirs = run_with(a, inputs, ref, m, value),
                    *one = run_with(a, inputs, exact, m, others[0]),
                    *other = run_with(a, inputs, exact, m, others[1]);
    const char *name = isnan(value) ? "NaN" : "infinity", *hidden = less_finite(theirs, ours, one, other),
               *less = less_finite(theirs, ours, NULL, NULL), *more = less_finite(ours, theirs, NULL, NULL);
    if (hidden && isnan(value))
        verdict_set(a, OUTCOME_FAIL, "hides NaN in %s: %s is finite (%s)", p->name, hidden, a->verdict->at);
    if ((less || more) && !*note)
        snprintf(note, AUDIT_TEXT, "with %s in %s, %s is %sfinite where the reference is%s (%s)", name,
                 p->name, less ? less : more, less ? "" : "not ", less ? " not" : "", a->verdict->at);
    operands_free(ours);
    operands_free(theirs);
    operands_free(one);
    operands_free(other);
}

static void try_special(const struct audited *a, const struct operands *inputs, void *context)
{
    const struct op_info *info = op_info(a->kernel->op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *p = &info->operands[i];
        if (!operand_is_mat(p) || operand_writes(p) || p->dtype != DTYPE_NONE ||
            !mat_present(*operand_mat(p, &inputs->args)))
            continue;
        try_value(a, inputs, p, NAN, context);
        try_value(a, inputs, p, INFINITY, context);
    }
}

static void check_special(const struct audited *a)
{
    char note[AUDIT_TEXT] = "";
    const char *refusal = NULL;
    int refused, visited = visit_samples(a, SAMPLES_FEW, try_special, note, &refusal, &refused);
    if (*note)
        verdict_set(a, OUTCOME_NOTE, "%s", note);
    say_passed(a, visited, refusal, "NaN and infinity spread as in the reference");
}

const struct audit_check audit_checks[] = {
    {"results", check_results},
    {"memory", check_memory},
    {"threads", check_thread_counts},
    {"runs", check_runs},
    {"calls", check_calls},
    {"special", check_special},
    {.name = NULL},
};
