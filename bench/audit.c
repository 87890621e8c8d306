/*
 * audit LIBRARY.so: is a kernel of one's own right, and does it keep to its word? See bench/audit/audit.h.
 *
 * The functions by which a kernel could take memory or start threads are interposed here and not in the
 * library, from which every program would take them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/record/value.h"
#include "bench/audit/audit.h"
#include "bench/base/affinity.h"
#include "bench/base/child.h"
#include "bench/base/interrupt.h"
#include "bench/base/suggest.h"
#include "bench/cli/axes.h"
#include "bench/cli/tool.h"
#include "bench/machine/machine.h"
#include "bench/sweep/against.h"
#include "kernels/plugin_rows.h"

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer) && defined(__GLIBC__)

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static volatile bool counting;
static volatile int allocations, threads;

/* Whether it is code of an OpenMP runtime, which is ours to judge and not the kernel's. */
static int has_address(struct dl_phdr_info *object, size_t size, void *address)
{
    (void)size;
    const char *name = object->dlpi_name;
    bool within = false;
    for (int i = 0; i < object->dlpi_phnum && name && (strstr(name, "gomp") || strstr(name, "omp.so")); i++) {
        uintptr_t begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        within = within ||
                 ((uintptr_t)address >= begin && (uintptr_t)address < begin + object->dlpi_phdr[i].p_memsz);
    }
    return within;
}

static void count_call(volatile int *calls, void *caller)
{
    if (__atomic_load_n(&counting, __ATOMIC_RELAXED) && !dl_iterate_phdr(has_address, caller))
        __atomic_add_fetch(calls, 1, __ATOMIC_RELAXED);
}

void *malloc(size_t size)
{
    count_call(&allocations, __builtin_return_address(0));
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    count_call(&allocations, __builtin_return_address(0));
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    count_call(&allocations, __builtin_return_address(0));
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count_call(&allocations, __builtin_return_address(0));
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    count_call(&allocations, __builtin_return_address(0));
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    count_call(&allocations, __builtin_return_address(0));
    return (void *)syscall(SYS_mmap, at, size, protection, flags, file, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *data)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT,
                                                                                       "pthread_create");
    count_call(&threads, __builtin_return_address(0));
    return next(thread, attributes, body, data);
}

static void count_from_now(bool count)
{
    counting = false;
    if (count)
        allocations = threads = 0;
    counting = count;
}

static int allocations_counted(void)
{
    return allocations;
}

static int threads_counted(void)
{
    return threads;
}

static const struct counted interposed = {count_from_now, allocations_counted, threads_counted};
static const struct counted *const counted = &interposed;
#else
static const struct counted *const counted = NULL;
#endif

struct asked {
    struct tool_options tool;
    bool own;
    int format; /* index of `formats` */
    double patience, budget;
    char axis[16];      /* over which kernels are timed */
    const char *values; /* of it */
    bool ops[OPS];
};

/* What the children write, in memory shared with them. */
struct shared {
    struct audited_rows rows;
    struct audit_verdict verdict;
    int runs;
};

struct work {
    const struct asked *options;
    const char *library; /* null: our own kernels */
    struct shared *shared;
    const struct audit_check *check;
    int row, failed;
    struct value *lines;
};

static void list_rows(void *context)
{
    const struct work *w = context;
    audited_rows_list(w->library, w->options->ops, &w->shared->rows);
}

/* In a child: one check of one row. */
static void check_row(void *context)
{
    const struct work *w = context;
    const struct audited_row *row = &w->shared->rows.row[w->row];
    struct opened_device device = row->on_device ? operands_device() : (struct opened_device){0};
    const struct backend *b = row->on_device ? device.backend : backend_cpu();
    struct message error;
    struct plugin *p = w->library ? plugin_open(w->library, error.text, sizeof error.text) : NULL;
    if (p && b)
        b = plugin_below(p, b, error.text, sizeof error.text);
    struct audited a = {.kernel = b ? backend_kernel(b, row->op, row->dtype, row->variant) : NULL,
                        .device = device.context ? &device : NULL,
                        .counted = counted,
                        .verdict = &w->shared->verdict};
    if (a.kernel && (p || !w->library))
        w->check->run(&a);
    else
        verdict_set(&a, OUTCOME_FAIL, "cannot be opened again: %s", error.text);
    plugin_settle(p, 3);
    if (plugin_fault(p)) { /* what was found after it means nothing */
        w->shared->verdict.outcome = OUTCOME_NONE;
        verdict_set(&a, OUTCOME_FAIL, "%s", plugin_fault(p));
    }
    operands_device_close(&device);
}

static const char *const outcomes[] = {"none", "pass", "note", "fail", "absent"};
static const char *const formats[] = {"table", "json", NULL};

/* A line of the result, which takes the figures of a time (null: none). */
static void put_verdict(const struct work *w, const char *check, const char *verdict, const char *finding,
                        struct value *figures)
{
    const struct audited_row *row = &w->shared->rows.row[w->row];
    char name[2 * VARIANT_TEXT];
    snprintf(name, sizeof name, "%s=%s", op_info(row->op)->name, row->variant);
    if (w->options->format == 0) {
        const char *loud = strcmp(verdict, "fail") == 0 ? "FAIL" : verdict;
        printf("%-32s %s  %-9s %-12s %s\n", name, dtype_name(row->dtype), check, loud, finding);
        fflush(stdout);
        value_free(figures);
        return;
    }
    struct value *line = value_new_object();
    value_set_text(line, "op", op_info(row->op)->name);
    value_set_text(line, "variant", row->variant);
    value_set_text(line, "type", dtype_name(row->dtype));
    value_set_text(line, "check", check);
    value_set_text(line, "verdict", verdict);
    value_set_text(line, "finding", finding);
    if (figures)
        value_set(line, "figures", figures);
    value_append(w->lines, line);
}

/* Runs one check; whether it passed. *hangs: it does not return, and nor would the next. */
static bool audit_once(struct work *w, bool *hangs)
{
    struct audit_verdict *v = &w->shared->verdict;
    struct message error;
    *v = (struct audit_verdict){.outcome = OUTCOME_NONE};
    if (*hangs) {
        *v = (struct audit_verdict){.outcome = OUTCOME_ABSENT, .text = "does not return, see above"};
    } else if (!audit_isolated(check_row, w, &v->runs, w->options->patience, &error)) {
        v->outcome = OUTCOME_FAIL;
        snprintf(v->text, sizeof v->text, "%.250s (%.140s)", error.text, v->at);
        *hangs = strstr(error.text, "does not return") != NULL;
    }
    put_verdict(w, w->check->name, outcomes[v->outcome], v->text, NULL);
    return v->outcome != OUTCOME_FAIL;
}

static void measure_row(void *context)
{
    if (contender_measure(context) == EXIT_USAGE)
        exit(EXIT_USAGE);
}

static void put_time(void *context, const char *check, const char *verdict, const char *finding,
                     struct value *figures)
{
    struct work *w = context;
    w->failed += strcmp(verdict, "fail") == 0;
    put_verdict(w, check, verdict, finding, figures);
}

/* Times a kernel that is right in turns with ours. */
static void time_row(struct work *w)
{
    enum { RUNS_OF_OURS = 30 }; /* of the budget: what warm-ups, checks and peak rates may take besides */
    const struct asked *o = w->options;
    const struct audited_row *row = &w->shared->rows.row[w->row];
    struct message error;
    char folder[PATH_MAX], file[PATH_MAX + 16];
    if (row->dtype != F32) {
        put_verdict(w, "times", "absent", "benchmarks are in f32", NULL);
        return;
    }
    if (!scratch_make(folder, &error)) {
        put_verdict(w, "times", "absent", error.text, NULL);
        return;
    }
    snprintf(file, sizeof file, "%s/rows.jsonl", folder);
    struct contender b = {
        w->library, row->on_device ? "cuda" : "cpu", row->variant, row->op, o->axis, o->values, o->budget,
        file};
    if (!audit_isolated(measure_row, &b, &w->shared->runs, 60 + RUNS_OF_OURS * o->budget, &error) ||
        !contender_judge(&b, put_time, w, &error))
        put_time(w, "times", "fail", error.text, NULL);
    scratch_remove(folder);
}

static void audit_all(struct work *w)
{
    for (w->row = 0; w->row < w->shared->rows.count; w->row++) {
        bool hangs = false;
        int failed = w->failed;
        for (w->check = audit_checks; w->check->name && !interrupt_signal(); w->check++)
            w->failed += !audit_once(w, &hangs);
        if (w->library && w->options->budget > 0 && w->failed == failed && !interrupt_signal())
            time_row(w);
    }
    if (!w->options->format)
        return;
    struct value *result = value_new_object();
    value_set_text(result, "library", w->library ? w->library : "");
    value_set(result, "verdicts", w->lines);
    w->lines = NULL;
    value_write(result, stdout);
    putchar('\n');
    value_free(result);
}

static int audit_files(void *options, int count, char **files, struct message *error)
{
    const struct asked *o = options;
    if (o->own ? count > 0 : count != 1)
        return refuse(error, "needs a library, or --own; usage: audit [FLAGS] LIBRARY.so");
    if (!machine_isa_exists(error))
        return EXIT_USAGE;
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        abort();
    const struct audited_rows *rows = &shared->rows;
    struct work w = {
        .options = o, .library = o->own ? NULL : files[0], .shared = shared, .lines = value_new_array()};
    interrupt_watch();
    if (!audit_isolated(list_rows, &w, &shared->runs, o->patience, error) || rows->failed) {
        struct message how = *error;
        return refuse(error, "%s%s%s", rows->failed ? "" : w.library, rows->failed ? "" : ": loading it ",
                      rows->failed ? rows->error.text : how.text);
    }
    if (*rows->error.text)
        fprintf(stderr, "note: %s\n", rows->error.text);
    if (rows->count == 0 && !*rows->error.text)
        return refuse(error, "%s: has no kernel to check", w.library ? w.library : "--own");
    audit_all(&w);
    value_free(w.lines);
    if (w.failed)
        complain(error, "%d check%s failed", w.failed, w.failed == 1 ? "" : "s");
    if (interrupt_signal())
        complain(error, "stopped by %s", interrupt_name());
    return w.failed || interrupt_signal() ? EXIT_MISSED : EXIT_GOOD;
}

static const char *audit_op(int index)
{
    return index < OPS ? op_info((enum op)index)->name : NULL;
}

static bool read_ops(const struct argument *a, struct message *error)
{
    struct asked *o = a->options;
    char nearest[SUGGESTION_TEXT];
    return names_read(a->value, audit_op, o->ops, nearest) ||
           complain(error, "--op %.200s: one or more of the ops of docs/ops.md, each once%s", a->value,
                    nearest);
}

static bool read_over(const struct argument *a, struct message *error)
{
    struct asked *o = a->options;
    struct axis_values values = {0};
    size_t length = strcspn(a->value, "=");
    enum axis axis = axis_named(a->value, length);
    if ((axis != AXIS_NODES && axis != AXIS_DEGREE) || !a->value[length])
        return complain(error, "--over %.200s: nodes=VALUES or degree=VALUES, as nodes=100-6400*4", a->value);
    o->values = a->value + length + 1;
    snprintf(o->axis, sizeof o->axis, "%.*s", (int)length, a->value);
    bool good = axis_parse(axis, o->values, &values, error);
    axis_values_free(&values);
    return good;
}

int main(int argc, char **argv)
{
    static const struct flag flags[] = {
        {0, "own", NULL, "audit the suite's own default kernels", FLAG_ON,
         .field = offsetof(struct asked, own)},
        {0, "op", "LIST", "ops to audit (default: all of the library)", FLAG_OTHER, .read = read_ops},
        {0, "format", "NAME", "table (default) or json", FLAG_CHOICE, .field = offsetof(struct asked, format),
         .choices = formats},
        {0, "patience", "SECONDS", "how long a call may take (default 10)", FLAG_SECONDS,
         .field = offsetof(struct asked, patience), .min = 0.1, .max = 1e6},
        {0, "budget", "SECONDS", "of timing alternately with ours, for each kernel (default 10; 0: none)",
         FLAG_SECONDS, .field = offsetof(struct asked, budget), .min = 0, .max = 1e6},
        {0, "over", "AXIS=VALUES", "sizes at which kernels are timed (default nodes=100-6400*4)", FLAG_OTHER,
         .read = read_over},
        TOOL_FLAGS,
        {.name = NULL}};
    static const struct syntax syntax = {
        .doc = "checks the kernels of a shared library, and times them alternately with ours",
        .operands = "LIBRARY.so",
        .limit = "one library",
        .most = 1,
        .flags = flags,
        .status = "0 all checks pass, 1 one fails, 2 the command line or the library is wrong.\n",
    };
    struct asked o = {.patience = 10, .budget = 10, .axis = "nodes", .values = "100-6400*4"};
    threads_prepare(argv);
    return tool_main(&syntax, &o.tool, audit_files, argc, argv);
}
