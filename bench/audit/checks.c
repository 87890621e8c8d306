#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/audit/audit.h"
#include "kernels/gtmark_plugin.h"
#include "kernels/plugin_rows.h"

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
static void describe_error(const struct operands *ours, const struct operands *reference, const char *name,
                           char *text, size_t size)
{
    struct mat x = operand_of(ours, name), r = operand_of(reference, name);
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
        snprintf(text, size, "%s (%d, %d) is not written, or follows from what is not", name, (int)row,
                 (int)column);
    else
        snprintf(text, size, "%s (%d, %d) is %.6g, not %.6g", name, (int)row, (int)column,
                 mat_get(x, row, column), mat_get(r, row, column));
}

static void try_result(const struct audited *a, const struct operands *inputs, void *context)
{
    struct results *all = context;
    const struct kernel *ref = backend_kernel(&backend_ref, a->kernel->op, F64, NULL);
    const struct kernel *narrow = backend_kernel(&backend_ref, a->kernel->op, a->kernel->dtype, NULL);
    struct operands *reference = operands_copy(inputs, F64, 0), *ours = run_copy(a, inputs, a->kernel, 1);
    struct operands *own = run_copy(a, inputs, narrow, 1);
    operands_run(reference, ref, 1, 0, 0);
    const char *worst, *ignored;
    double error = operands_error(ours, reference, &worst);
    bool wrong = !(error <= kernel_allowance(a->kernel));
    all->error = wrong ? all->error : fmax(all->error, error);
    all->own = fmax(all->own, operands_error(own, reference, &ignored));
    if (wrong && !all->wrong++) {
        describe_error(ours, reference, worst, all->first, 120);
        snprintf(all->first + strlen(all->first), 210, " (%s)", a->verdict->at);
    }
    if (all->count < TRIED_MAX)
        all->tried[all->count++] = (struct tried){inputs->sample, largest_hub(inputs), wrong};
    operands_free(reference);
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

const struct audit_check audit_checks[] = {
    {"results", check_results},
    {"memory", check_memory},
    {"threads", check_thread_counts},
    {"runs", check_runs},
    {"calls", check_calls},
    {"special", check_special},
    {.name = NULL},
};
