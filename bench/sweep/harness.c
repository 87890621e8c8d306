/* The harness. Everything on stdout is the result; context, progress and warnings go to stderr. */
#include "bench/sweep/harness.h"

#include <malloc.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/file.h"
#include "analysis/record/plain.h"
#include "analysis/record/record.h"
#include "analysis/tables/units.h"
#include "analysis/tables/wrap.h"
#include "bench/base/affinity.h"
#include "bench/base/child.h"
#include "bench/base/clock.h"
#include "bench/base/interrupt.h"
#include "bench/base/paths.h"
#include "bench/cli/command_line.h"
#include "bench/flops/captured.h"
#include "bench/machine/device.h"
#include "bench/machine/machine.h"
#include "bench/row/workload.h"
#include "bench/sweep/against.h"
#include "bench/sweep/estimate.h"
#include "bench/sweep/jobs.h"
#include "bench/sweep/report.h"
#include "bench/sweep/resume.h"
#include "bench/sweep/search.h"
#include "kernels/ranks.h"

/* Describes the devices and measures their transfer rates; the first is selected last. */
static struct value *described(struct device_choice *d)
{
    struct value *devices = device_json(d);
    struct message error;
    for (int i = d->count - 1; i >= 0; i--)
        if (device_select(d, i, &error) && d->context)
            value_set(value_at(devices, (size_t)i), "transfer", transfer_json(d));
    return devices;
}

static struct record *new_record(const struct bench *b, struct options *o, int argc, char **argv)
{
    char *command = command_text(argc, argv);
    struct record *record = record_new(b->name, command, machine_context(described(&o->device), o->seed));
    free(command);
    value_set(record_head(record), "settings", resume_settings(o));
    if (o->shard.of)
        value_set(record_head(record), "shard", shard_value(o));
    if (o->tags)
        value_set(record_head(record), "tags", value_copy(o->tags));
    return record;
}

static void print_planned(const struct device_choice *d)
{
    char beside[UNITS_TEXT], launch[UNITS_TEXT];
    units_format(beside, (double)d->backend->device->beside, UNITS_BINARY, "B");
    units_format(launch, d->backend->device->per_entry, UNITS_SI, "s");
    fprintf(stderr, "note: planned for a GPU, which takes %s beside a program, and %s for each entry\n",
            beside, launch);
    if (*d->no_library)
        fprintf(stderr, "note: this plan has no scratch of the GPU's kernels, and all ops: %s\n",
                d->no_library);
}

static void print_context(const struct options *o, const char *path)
{
    const char *no_state =
        o->device.nvml && isnan(nvml_clock(o->device.nvml)) ? "NVML does not answer" : o->device.no_nvml;
    if (o->device.context && no_state)
        fprintf(stderr, "warning: clocks, throttling and energy of the GPU are not known: %s\n", no_state);
    if (*o->device.ignored)
        fprintf(stderr, "note: unset, since it changes what f32 means on a GPU: %s\n", o->device.ignored);
    if (o->plan_for == PLAN_FOR_CUDA)
        print_planned(&o->device);
    if (path) {
        fputs("results: ", stderr);
        plain_put(stderr, path);
        putc('\n', stderr);
    }
}

/* The path of the result file; null: none. False with a message. */
static bool choose_path(const struct bench *b, const struct options *o, char place[PATH_MAX],
                        const char **path, struct message *error)
{
    bool to_stdout = o->output.file && strcmp(o->output.file, "-") == 0;
    *path = to_stdout ? NULL : o->output.file;
    if (!*path && !o->device.meta && !to_stdout) {
        struct message why;
        char name[NAME_MAX];
        snprintf(name, sizeof name, o->shard.of ? "%s-%d-of-%d.jsonl" : "%s.jsonl", b->name, o->shard.index,
                 o->shard.of);
        if (!paths_default(name, place, &why))
            return complain(error, "%.400s; choose a file with --output", why.text);
        *path = place;
    }
    if (o->output.resume && !*path)
        return complain(error, "--resume: %s writes no result file",
                        to_stdout ? "--output -" : "--device meta without --output");
    return !*path || !o->output.trace || !paths_same(*path, o->output.trace) ||
           complain(error, "--trace %.300s: this is the result file; choose another", o->output.trace);
}

/* Takes the lock of the result file, before it is read and before a search, which can take minutes. */
static bool claim_path(const char *path, struct writer **writer, struct message *error)
{
    char why[MESSAGE_SIZE];
    if (path && file_is_regular(path, why))
        *writer = writer_open(path, stderr, why);
    return !path || *writer || complain(error, "--output %s", why);
}

static bool can_save(const char *path, struct message *error)
{
    char why[MESSAGE_SIZE];
    return !path || file_can_save(path, why) || complain(error, "--output %s", why);
}

static int say_interrupted(const struct bench *b, const char *when)
{
    fprintf(stderr, "%s: %s: ended ", b->name, interrupt_name());
    plain_put(stderr, when);
    putc('\n', stderr);
    return 128 + interrupt_signal();
}

/* After a signal: how many rows there are, and how to continue. */
static int leave_rows(const struct bench *b, const struct options *o, const struct report *r)
{
    size_t rows = rows_count(record_rows(r->record)) - r->resume->others;
    char when[PATH_MAX + 128];
    snprintf(when, sizeof when, "with %zu of %lld rows%s%s%s", rows,
             (long long)o->plan.count * o->device.count, r->path ? " in " : "", r->path ? r->path : "",
             r->path && !o->largest.kind && !o->crossover.kind
                 ? "; to continue, repeat the command with --resume"
                 : "");
    return say_interrupted(b, when);
}

/* Runs the sweep, printing and saving rows as they finish, and then the steps. Closes the writer. */
static int run_rows(const struct bench *b, struct options *o, struct peaks *peaks, struct resume *resume,
                    struct record *record, const char *path, struct writer *writer)
{
    struct message error, later;
    struct report report;
    bool good = false;
    bool begun = report_start(&report, o, record, resume, path, writer, &error);
    bool done = begun && sweep(o, peaks, &report, &good, &error);
    if (begun) /* after a failure too, with the rows so far */
        done = report_end(&report, done && !interrupt_signal(), done ? &error : &later) && done;
    done = report_close(&report, done ? &error : &later) && done;
    if (!done)
        return message_fail(b->name, &error, EXIT_MISSED);
    if (interrupt_signal())
        return leave_rows(b, o, &report);
    return take_steps(o, peaks, &report) == 0 && good ? EXIT_GOOD : EXIT_MISSED;
}

static void calibrate_ranks(struct options *o, struct value *head)
{
    struct value *links = value_new_array();
    int given = o->links.count;
    group_calibrate(o);
    for (int i = given; i < o->links.count; i++)
        value_append(links, link_json(&o->links.list[i]));
    if (value_size(links) > 0)
        value_set(head, "links", links);
    else
        value_free(links);
}

static int run_sweep(const struct bench *b, struct options *o, int argc, char **argv)
{
    struct message error, ignored;
    char place[PATH_MAX];
    const char *path;
    struct writer *writer = NULL;
    int status;
    bool claimed = choose_path(b, o, place, &path, &error) && claim_path(path, &writer, &error) &&
                   (o->output.resume || can_save(path, &error));
    interrupt_watch();
    bool found = claimed && (o->crossover.kind ? crossover_find(o) : !o->largest.kind || largest_find(o));
    if (!found) {
        writer_close(writer, ignored.text);
        return claimed ? say_interrupted(b, "before the search was over")
                       : message_fail(b->name, &error, EXIT_USAGE);
    }
    struct resume resume = {0};
    struct record *record = new_record(b, o, argc, argv);
    if (resume_open(&resume, o, path, &record, &error) && can_save(path, &error)) {
        struct peaks peaks;
        struct peaks_request request = options_peaks(o);
        print_context(o, path);
        o->sampling.began = clock_now();
        if (!o->device.meta)
            estimate_say(o, stderr);
        peaks_get(&peaks, &request);
        value_set(resume.run, "calibrations", peaks_json(&peaks));
        calibrate_ranks(o, resume.run);
        status = run_rows(b, o, &peaks, &resume, record, path, writer);
        peaks_free(&peaks);
    } else {
        status = message_fail(b->name, &error, EXIT_USAGE);
        writer_close(writer, ignored.text);
    }
    resume_close(&resume);
    record_free(record);
    return status;
}

static int run_against(const struct bench *b, const struct options *o, int argc, char **argv)
{
    struct message error;
    int missed = 0;
    if (!against_possible(o, &error))
        return message_fail(b->name, &error, EXIT_USAGE);
    interrupt_watch();
    if (!against(o, argc, argv, &missed, &error))
        return interrupt_signal() ? say_interrupted(b, "before the verdicts")
                                  : message_fail(b->name, &error, EXIT_MISSED);
    return missed ? EXIT_MISSED : EXIT_GOOD;
}

static int act_on_rows(const struct bench *b, struct options *o, int argc, char **argv)
{
    struct message error;
    if (!shard_choose(o, &error))
        return message_fail(b->name, &error, EXIT_USAGE);
    if (o->action == ACTION_RUN)
        return o->against ? run_against(b, o, argc, argv) : run_sweep(b, o, argc, argv);
    if (o->action == ACTION_LIST_TAPE)
        return estimate_list_tapes(o, &error) ? EXIT_GOOD : message_fail(b->name, &error, EXIT_MISSED);
    estimate_print(o, o->out);
    if (o->crossover.kind)
        crossover_predict(o, o->out);
    return EXIT_GOOD;
}

static int act(const struct bench *b, struct options *o, int argc, char **argv)
{
    enum action a = o->action;
    if (a == ACTION_RUN || a == ACTION_DRY_RUN || a == ACTION_LIST_TAPE)
        return act_on_rows(b, o, argc, argv);
    if (a == ACTION_HELP)
        options_help(b, o->out);
    else if (a == ACTION_VERSION)
        machine_version(b->name, o->out);
    else if (a == ACTION_LIST_MODELS)
        list_models(o->out, o->axes[AXIS_MODEL].others);
    else if (a == ACTION_LIST_PRESETS)
        list_presets(o->out);
    else if (a == ACTION_LIST_GRAPHS)
        list_graphs(o->out);
    else if (a == ACTION_LIST_OPS)
        list_ops(o->out, o->device.backend);
    else
        device_list(o->out);
    return EXIT_GOOD;
}

/* On rank 0 or alone. The status of the other ranks, which are silent, decides nothing. */
static int act_or_follow(const struct bench *b, struct options *o, int argc, char **argv)
{
    group_form(o);
    if (o->world && o->world->rank > 0) {
        group_serve(o);
        return EXIT_GOOD;
    }
    int status = act(b, o, argc, argv);
    orders_tell(o, (struct group_order){.kind = GROUP_END});
    return status;
}

static int bench_run(const struct bench *b, const struct ranks *world, FILE *out, int argc, char **argv)
{
    struct options o;
    struct message error;
    bool good = options_parse(b, world, argc, argv, &o, &error);
    o.out = out;
    int status = EXIT_USAGE;
    if (world)
        good = group_agrees(world, b->name, argc, argv, good, &error);
    if (good)
        status = act_or_follow(b, &o, argc, argv);
    else if (*error.text)
        message_fail(b->name, &error, status);
    options_free(&o);
    return status;
}

/* Every row takes and frees the same megabytes, which otherwise go back to the system each time; so does MPI
 * for every sum, half of whose time it would take to map the pages again. All threads share the heap: one of
 * their own would take 64 MiB of an address space that may be limited. */
static void keep_heap(bool of_rank)
{
    (void)of_rank;
#ifdef M_TOP_PAD /* of glibc */
    enum { MARGIN = 16 << 20, OF_SUMS = 256 << 20 };
    mallopt(M_TOP_PAD, MARGIN);
    mallopt(M_ARENA_MAX, 1);
    if (of_rank) {
        mallopt(M_MMAP_THRESHOLD, OF_SUMS);
        mallopt(M_TRIM_THRESHOLD, OF_SUMS);
    }
#endif
}

static int bench_ranks(const struct bench *b, FILE *out, int argc, char **argv)
{
    struct message error = {""};
    const struct ranks *world = ranks_open(error.text, sizeof error.text);
    keep_heap(world);
    if (*error.text)
        return message_fail(b->name, &error, EXIT_MISSED);
    int status = bench_run(b, world, out, argc, argv);
    if (world)
        world->close(world);
    return message_flush(b->name, out, status);
}

int bench_main(const struct bench *b, int argc, char **argv)
{
    threads_prepare(argv);
    omp_set_dynamic(0); /* a team has as many threads as were asked for, however busy the machine is */
    if (argc == 3 && strcmp(argv[1], capture_word) == 0)
        return capture_run(argv[2]);
    if (!message_begin(b->name))
        return EXIT_MISSED;
    const char *library = plugin_named(argc, argv);
    FILE *out = stdout;
    int status;
    struct guest_note *note = library ? supervise(b->name, library, &out, &status) : NULL;
    if (library && !note)
        return status;
    status = bench_ranks(b, out, argc, argv);
    if (note)
        note->status = status;
    return status;
}
