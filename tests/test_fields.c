/*
 * Every field of a result file satisfies an identity or equals an independent value, by the table in
 * tests/fields.def, in rows of small runs. The benchmark that runs is this program itself, for which the
 * machine is planted (ld's --wrap): its ceilings, its states, and, if asked for, its clocks.
 */
#include <sys/resource.h>

#include "bench/base/clock.h"
#include "bench/flops/executed.h"
#include "bench/machine/calibration.h"
#include "bench/machine/link.h"
#include "bench/machine/probe.h"
#include "bench/row/passes.h"
#include "bench/sweep/harness.h"
#include "bench/time/apart.h"
#include "bench/time/noise.h"
#include "bench/time/stopwatch.h"
#include "kernels/ranks.h"
#include "tests/fields_names.h"
#include "tests/test.h"

/* --- the planted machine */

static int next_call(void)
{
    static int calls;
    return ++calls;
}

/* One state of the machine; no two probes are equal. */
struct probe __wrap_probe_take(const struct peak *peak, int threads)
{
    (void)peak;
    (void)threads;
    double by = 1 + 1e-5 * (next_call() * 37 % 101);
    return (struct probe){{by * 1e-7, by * 1e-5, by * 1e-9}};
}

/* On one thread bytes come from memory, but for the 4 KiB of the working set that the second level holds; on
 * several all come from there. No program is faster. */
bool __wrap_calibrate(const struct peak *peak, int threads, double seconds, struct calibration *c,
                      struct message *error)
{
    (void)seconds;
    (void)error;
    *c = calibration_conditions(peak, threads);
    snprintf(c->time, sizeof c->time, "2001-02-03T04:05:06Z");
    c->peak = 3e5;
    if (threads == 3)
        c->peak = 1e-3;
    c->points = 1;
    c->turns = CALIBRATION_TURNS;
    c->sweep[0] = (struct bandwidth){1 << 20, 1 << 20, 5e4, 5e4, 5e4, 5e4};
    c->level[MEMORY_L2] = (struct bandwidth){threads == 1 ? 1 << 12 : 1 << 30, 1 << 20, 7e4, 7e4, 7e4, 7e4};
    c->level[MEMORY_DRAM] = (struct bandwidth){INT64_C(1) << 40, 1 << 30, 2e4, 2e4, 2e4, 2e4};
    for (int i = 0; i < CALIBRATION_TURNS; i++)
        c->turn[i] = (struct turn){0, __wrap_probe_take(NULL, 1), __wrap_probe_take(NULL, 1)};
    return true;
}

struct noise __wrap_noise_probe(int threads, double seconds)
{
    (void)seconds;
    return (struct noise){.cores = threads,
                          .threads = threads,
                          .load = 0.25,
                          .lost = 0.125,
                          .largest_gap = 0.5,
                          .frequency = 3e9,
                          .frequency_max = 4e9,
                          .governor = "planted"};
}

static bool clocks_are_planted(void)
{
    return getenv(FIELDS_CLOCK) != NULL;
}

/* Marks that are 1, 2, 3 ... microseconds apart, and a little more with every run. */
void __real_stopwatch_resolve(struct stopwatch *w, int count);
void __wrap_stopwatch_resolve(struct stopwatch *w, int count)
{
    __real_stopwatch_resolve(w, count);
    double by = 1e-6 * (1 + 1e-6 * (next_call() * 389 % 1009));
    for (int i = 1; i < count && clocks_are_planted(); i++)
        w->at[i] = w->at[0] + by * i * (i + 1) / 2;
}

/* Every look at the usage adds 3, 5, 7 and 11, and a second. */
int __real_getrusage(int who, struct rusage *usage);
int __wrap_getrusage(int who, struct rusage *usage)
{
    static int looks;
    int status = __real_getrusage(who, usage);
    if (!clocks_are_planted())
        return status;
    looks++;
    usage->ru_minflt = 3 * looks;
    usage->ru_majflt = 5 * looks;
    usage->ru_nvcsw = 7 * looks;
    usage->ru_nivcsw = 11 * looks;
    return status;
}

/* Between two looks the host took one second of a hundred. */
struct lost __real_lost_now(const char *root);
struct lost __wrap_lost_now(const char *root)
{
    static int looks;
    looks++;
    return clocks_are_planted() ? (struct lost){0, looks, 99 * looks} : __real_lost_now(root);
}

double __real_clock_cpu(void);
double __wrap_clock_cpu(void)
{
    static int looks;
    return clocks_are_planted() ? ++looks : __real_clock_cpu();
}

bool __real_cold_start_measure(const struct options *o, const struct config *c,
                               double seconds[COLD_START_STEPS], struct message *missing);
bool __wrap_cold_start_measure(const struct options *o, const struct config *c,
                               double seconds[COLD_START_STEPS], struct message *missing)
{
    static const double planted[COLD_START_STEPS] = {1, 2, 3, 4, 5, 15};
    if (!clocks_are_planted())
        return __real_cold_start_measure(o, c, seconds, missing);
    memcpy(seconds, planted, sizeof planted);
    return true;
}

/* What programs and encodings execute is counted under valgrind elsewhere (test_executed.c), since it takes
 * long. */
bool __wrap_executed_by_tape(const struct executed_request *r, struct tape *t, struct executed *out,
                             struct message *error)
{
    (void)r;
    (void)t;
    (void)error;
    *out = (struct executed){98765, "planted source", "planted set", 77, "planted differences"};
    return true;
}

bool __wrap_executed_by_encoding(const struct executed_request *r, const struct encoding_config *pe,
                                 const struct batch *b, int64_t flops, struct executed *out,
                                 struct message *error)
{
    (void)r;
    (void)pe;
    (void)b;
    (void)flops;
    (void)error;
    *out = (struct executed){87654, "encoding source", "encoding set", 66, "encoding differences"};
    return true;
}

/* Every message takes 2 us, and a second for 50 GB. */
struct link __wrap_link_measure(const struct ranks *r, double seconds)
{
    (void)seconds;
    struct link l = link_given(2e-6, 5e10);
    l.ranks = r->count;
    l.hosts = 1;
    return l;
}

/* Ranks wait for others half of the time. */
void __real_exchange_measure(struct tape *t, int runs, struct row_program *to);
void __wrap_exchange_measure(struct tape *t, int runs, struct row_program *to)
{
    __real_exchange_measure(t, runs, to);
    to->communication.exposed = to->communication.time / 2;
}

static int be_bench(const char *kind, int argc, char **argv)
{
    const struct bench bench = {.name = "bench_fields",
                                .axis = AXIS_NODES,
                                .values = "100",
                                .whole = strcmp(kind, "whole") == 0,
                                .kernels = strcmp(kind, "kernels") == 0};
    return bench_main(&bench, argc, argv);
}

/* --- the test */

struct verdict {
    int wrong, unsaid; /* unsaid: statements that need a run that this build cannot do */
};

/* Judges a field of a row by a statement; returns whether it says anything. */
static bool judge(const struct field_view *v, const char *must, struct verdict *verdict)
{
    char why[512] = "";
    int held = statement_holds(must, field_named, v, why, sizeof why);
    if (held == 0)
        print_error("%s of run %s: not %s: %s\n", v->path, v->of->run->label, must, why);
    verdict->wrong += held == 0;
    return held >= 0;
}

/* Whether a statement names a run that this build cannot do. */
static bool needs_missing_run(const struct field_runs *all, const char *must)
{
    bool missing = false;
    for (size_t i = 0; i < all->count; i++) {
        char name[64];
        snprintf(name, sizeof name, "run.label = '%s'", all->list[i].run->label);
        missing = missing || (!all->list[i].record && strstr(must, name));
    }
    return missing;
}

/* Judges a field of all rows that have it by a statement, which must say something of one of them. */
static void judge_rows(struct field_view *v, const char *must, struct verdict *verdict)
{
    bool said = false;
    for (size_t i = 0; i < v->all->count; i++) {
        v->of = &v->all->list[i];
        for (v->place = 0; v->of->record && v->place < row_count(v->of->record); v->place++) {
            v->row = row_at(v->of->record, v->place);
            if (row_has(v->row, v->path))
                said = judge(v, must, verdict) || said;
        }
    }
    bool excused = !said && needs_missing_run(v->all, must);
    if (!said && !excused)
        print_error("%s: no row for: %s\n", v->path, must);
    verdict->wrong += !said && !excused;
    verdict->unsaid += excused;
}

static bool any_row_has(const struct field_runs *all, const char *path)
{
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; all->list[i].record && k < row_count(all->list[i].record); k++)
            if (row_has(row_at(all->list[i].record, k), path))
                return true;
    return false;
}

static void judge_field(const struct field_runs *all, const struct field *f, struct verdict *verdict)
{
    struct field_view v = {.all = all, .path = f->path};
    bool has_line = false;
    for (const struct field_line *line = field_lines; line < field_lines + field_lines_count; line++) {
        if (!field_matches(f->path, line->field, &v.match))
            continue;
        has_line = true;
        if (line->must) {
            judge_rows(&v, line->must, verdict);
        } else if (any_row_has(all, f->path)) {
            print_error("%s is there, but: %s\n", f->path, line->why);
            verdict->wrong++;
        }
    }
    if (!has_line)
        print_error("%s: no line in tests/fields.def\n", f->path);
    verdict->wrong += !has_line;
}

static void test_fields(void **state)
{
    struct verdict verdict = {0, 0};
    struct field_runs all;
    field_runs_make(&all, *state);
    for (size_t i = 0; i < schema_fields_count; i++)
        judge_field(&all, &schema_fields[i], &verdict);
    field_runs_free(&all);
    if (verdict.unsaid > 0)
        print_message("skipped %d statements: no MPI, METIS or ARPACK\n", verdict.unsaid);
    assert_int_equal(verdict.wrong, 0);
}

static int setup(void **state)
{
    return house_of(state, "tests/test_fields");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields)};
    const char *kind = getenv(FIELDS_KIND);
    if (kind)
        return be_bench(kind, argc, argv);
    return cmocka_run_group_tests(tests, setup, house_teardown);
}
