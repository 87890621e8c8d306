/* Runs whose rows have every field. */
#include "tests/fields.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "tests/sanitized.h"
#include "tests/test.h"

static const struct field_run runs[] = {
#define RUN(label, kind, exit, planted, words) {label, kind, words, exit, planted},
#include "tests/fields.def"
    {"shaped", "", "", 0, false},
};
enum { RUNS = sizeof runs / sizeof *runs };
_Static_assert((int)RUNS <= (int)FIELD_RUNS_MOST, "more runs than there is room for");

const struct field_line field_lines[] = {
#define HOLDS(field, statement) {field, statement, NULL},
#define NOT_HERE(field, why)    {field, NULL, why},
#include "tests/fields.def"
};
const size_t field_lines_count = sizeof field_lines / sizeof *field_lines;

/*
 * A row of samples that have everything to be told: a slow start, a drift, outliers, and five turns in
 * another state of the machine, where they are quicker.
 */
static struct record *shaped(void)
{
    enum { TURNS = 15, SAMPLES = 12 };
    static const char *const groups[] = {"forward.time", "step.time", "kernel.time", "encoding.time"};
    struct record *record = record_new("test", "test", value_new_object());
    struct row *row = row_new();
    struct turn list[TURNS];
    double samples[TURNS * SAMPLES], chance;
    char error[MESSAGE_SIZE];
    for (int i = 0; i < TURNS; i++) {
        double state = i % 3 == 2 ? 2 : 1;
        list[i] = (struct turn){SAMPLES, {{state * 1e-7, 1e-5, 1e-9}}, {{state * 1e-7, 1e-5, 1e-9}}};
        for (int k = 0; k < SAMPLES; k++)
            samples[i * SAMPLES + k] =
                (1 + 0.01 * i + 0.001 * (k * 7 % 12) + (i + k < 3) + (k == i && i > 7)) / state;
    }
    struct turns turns = {TURNS, list, samples};
    struct states states = states_find(list, TURNS);
    struct reported reported = reported_choose(&turns, &states);
    row_set_text(row, "status", "ok");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        row_set_times(row, groups[i], &turns, &reported);
    reported_free(&reported);
    assert_int_equal(row->forward.time.other_repetitions, 5);
    assert_int_equal(row->forward.time.slow_start, 3);
    assert_true(row_get_real(row, "forward.time.drift_p", &chance) && chance < 1e-9 &&
                row->forward.time.outliers > 3);
    assert_true(record_put(record, 0, false, row, error));
    return record;
}

/* The directory that this program was built in. */
static const char *build_directory(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    assert_true(length > 0);
    path[length] = '\0';
    for (int up = 0; up < 2; up++)
        *strrchr(path, '/') = '\0';
    return path;
}

/* A run of two ranks, where there are MPI and METIS; else null. */
static struct record *run_ranks(const struct house *h, const char *words)
{
    char command[4 * PATH_MAX], build[PATH_MAX], root[PATH_MAX], text[1 << 16];
    snprintf(command, sizeof command, "%s/mpi/libgtmark_mpi.so", build_directory(build));
    if (SANITIZED || !HAVE_METIS || access(command, R_OK) != 0) /* leaks of the MPI library are not ours */
        return NULL;
    assert_non_null(getcwd(root, sizeof root));
    snprintf(command, sizeof command,
             "cd %s && GTMARK_BUILD=%s %s/tests/mpirun.sh 2 %s %s --format json 2>/dev/null", h->work, build,
             root, h->program, words);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    if (pclose(out) != 0)
        fail_msg("%s: %s", command, text);
    return record_of(text);
}

/* A directed path of four nodes whose first is joined to itself, and an edge twice. */
static void write_graph(const struct house *h)
{
    static const struct {
        const char *name, *text;
    } files[] = {{"edges.txt", "0 0\n0 1\n1 2\n1 2\n2 3\n"}, {"features.txt", "1 2\n3 4\n5 6\n7 8\n"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", h->work, files[i].name);
        FILE *out = fopen(path, "w");
        assert_non_null(out);
        assert_true(fputs(files[i].text, out) >= 0 && fclose(out) == 0);
    }
}

/* The record of a run; null if this build has not what it needs. */
static struct record *run_one(const struct field_run *run, const struct house *h)
{
    char words[1024];
    snprintf(words, sizeof words, "%s --no-charts", run->words);
    if (!*run->kind)
        return shaped();
    if (strcmp(run->label, "mpi") == 0)
        return run_ranks(h, words);
    return HAVE_ARPACK || !strstr(words, "arpack") ? run_json(h, words, run->exit) : NULL;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static double cpu_of(const struct rusage *usage)
{
    return seconds_of(usage->ru_utime) + seconds_of(usage->ru_stime);
}

static struct field_rows rows_of(const struct field_run *run, const struct house *h)
{
    struct rusage before, after;
    double start = clock_now();
    getrusage(RUSAGE_CHILDREN, &before);
    setenv(FIELDS_KIND, run->kind, 1);
    if (run->planted)
        setenv(FIELDS_CLOCK, "planted", 1);
    struct field_rows rows = {.run = run, .record = run_one(run, h)};
    unsetenv(FIELDS_KIND);
    unsetenv(FIELDS_CLOCK);
    getrusage(RUSAGE_CHILDREN, &after);
    rows.seconds = clock_now() - start;
    rows.cpu = cpu_of(&after) - cpu_of(&before);
    rows.resident = 1024 * (double)after.ru_maxrss;
    return rows;
}

void field_runs_make(struct field_runs *all, const struct house *h)
{
    write_graph(h);
    for (all->count = 0; all->count < RUNS; all->count++)
        all->list[all->count] = rows_of(&runs[all->count], h);
}

void field_runs_free(struct field_runs *all)
{
    for (size_t i = 0; i < all->count; i++)
        record_free(all->list[i].record);
    all->count = 0;
}
