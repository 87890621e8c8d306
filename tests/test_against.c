/*
 * An old build and this one in turns: the "old build" is a script that outputs rows with times so far from
 * this build's that no other program on the machine can affect the verdicts.
 */
#include <glob.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/record/result_file.h"
#include "analysis/record/schema.h"
#include "bench/sweep/against.h"
#include "bench/sweep/estimate.h"
#include "tests/events.h"
#include "tests/files.h"
#include "tests/records.h"
#include "tests/sweeps.h"
#include "tests/test.h"

#define SMALL                                                                                                \
    "--hidden 16 --heads 2 --layers 1 --runs 2 --warmup 0 --threads 1 --no-check --pe rwse:2:4 --budget 1 "
#define TINY     "--nodes 8 " SMALL
#define TWO_ROWS "--nodes 8,16 " SMALL

/* Writes this script as the old build. */
static void write_old(const struct house *h, const char *script)
{
    char path[160];
    snprintf(path, sizeof path, "%s/old", h->work);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "#!/bin/sh\n%s\n", script);
    fclose(out);
    assert_int_equal(chmod(path, 0700), 0);
}

/* Seconds of a program of the old build. In those of this build nobody can wait for a processor so long. */
static const double fast = 1e-9, slow = 1e6;

/* Writes this build's rows to a file, each with its seconds as all its times; 0: without times. -seconds:
 * only the encoding is not timed. */
static void plant_rows(const struct house *h, const char *name, double first, double second)
{
    static const char *const programs[] = {"encoding", "forward", "step"};
    struct record *record = run_json(h, TWO_ROWS "--output plant.json", 0);
    for (size_t i = 0; i < row_count(record); i++) {
        struct row *row = row_at(record, i);
        double seconds = i ? second : first;
        for (int p = 0; p < 3; p++, seconds = fabs(seconds)) {
            char median[SCHEMA_PATH];
            snprintf(median, sizeof median, "%s.time.median", programs[p]);
            assert_true(real_at(row, median) > 0);
            if (seconds > 0)
                row_set_real(row, median, seconds);
            else
                row_omit(row, median, "planted");
        }
    }
    char path[160], error[MESSAGE_SIZE];
    snprintf(path, sizeof path, "%s/%s", h->work, name);
    assert_true(record_save(record, path, error));
    record_free(record);
}

/* Writes an old build that outputs such rows, with `later` if a shell's test of $n, the number of the run, is
 * false. */
static void plant_by(const struct house *h, const char *test, double first, double later)
{
    char script[512];
    plant_rows(h, "first.json", first, first);
    plant_rows(h, "later.json", later, later);
    snprintf(script, sizeof script,
             "cd '%s' || exit 2\necho >>runs\nn=$(wc -l <runs)\n"
             "[ %s ] && rows=first.json || rows=later.json\n"
             "while [ $# -gt 0 ]; do [ \"$1\" = --output ] && cp $rows \"$2\"; shift; done\nexit 0",
             h->work, test);
    write_old(h, script);
    snprintf(script, sizeof script, "%s/runs", h->work);
    remove(script);
}

/* With `later` after the first rounds. */
static void plant(const struct house *h, double first, double later)
{
    char test[32];
    snprintf(test, sizeof test, "$n -le %d", AGAINST_ROUNDS);
    plant_by(h, test, first, later);
}

/* The output has this text, which may be wrapped. */
static void assert_says(const char *output, const char *text)
{
    char *all = unwrapped(output);
    if (!strstr(all, text))
        fail_msg("no '%s' in:\n%s", text, output);
    free(all);
}

/* Both rows are slower in the first rounds. The second rounds do not confirm it of the second row, which then
 * does not count. */
TEST(test_slower)
{
    const struct house *h = *state;
    plant(h, fast, fast);
    plant_rows(h, "later.json", fast, slow);
    struct ended e = run_words(h, TWO_ROWS "--against ./old", 1);
    assert_says(e.err, "--against: 40 rounds of both builds");
    assert_says(e.err, "\nround 11 of 40, time left: ");
    const char *encoding = strstr(e.out, "encoding ");
    assert_true(encoding && strstr(encoding, "  slower"));
    assert_says(e.out, "slower in the first rounds, not again");
    assert_says(e.out, "missed: 3 slower\n");
    assert_null(strstr(e.out, "faster"));
    ended_free(&e);
}

TEST(test_faster)
{
    const struct house *h = *state;
    plant(h, slow, fast);
    struct ended e =
        run_words(h, TINY "--against old --gate allow-unchecked", 0); /* a file, not looked up in PATH */
    assert_says(e.out, "faster");
    assert_null(strstr(e.out, "  slower"));
    ended_free(&e);
    e = run_words(h, "--nodes 8,24 --hidden 16 --heads 2 --layers 1 --runs 2 --against ./old", 1);
    assert_says(e.err, "--against: the old build does the work of no row: ");
    ended_free(&e);
}

/* A row that the old build does not run, an encoding that it did not time in each round, and the three
 * programs of a row that this build has no memory for. */
TEST(test_uncompared)
{
    if (getenv("GTMARK_SMALL"))
        skip();
    char words[256];
    plant_by(*state, "$n -ne 7", slow, -slow);
    struct record *planted = record_in(*state, "work/plant.json");
    snprintf(words, sizeof words, "--nodes 4,8,16 %s --mem-limit %lldB --against ./old", SMALL,
             (long long)count_at(row_at(planted, 0), "step.memory.planned"));
    record_free(planted);
    struct ended e = run_words(*state, words, 1);
    assert_says(e.out, "not timed in every round");
    assert_says(e.out, "not in A (nodes 4, not 8): 4 nodes");
    assert_says(e.out, "missed: 5 not compared; --gate allow-uncompared accepts this");
    assert_says(e.out, "missed: row 2: not ok by this build");
    assert_says(e.out, "B, training step: 1 faster, 1 inconclusive;");
    assert_null(strstr(e.out, "  slower"));
    ended_free(&e);
}

/* Noise that leaves it open is a miss with --gate strict. */
TEST(test_strict)
{
    if (getenv("GTMARK_SMALL"))
        skip();
    plant_by(*state, "$((n % 2)) -eq 0", slow, fast);
    struct ended e = run_words(*state, TINY "--against ./old --gate strict", 1);
    assert_says(e.out, "]  inconclusive\n");
    assert_says(e.out, "missed: 3 inconclusive (--gate strict)");
    ended_free(&e);
}

/* Rows that cannot be compared do not pass. */
TEST(test_no_times)
{
    if (getenv("GTMARK_SMALL"))
        skip();
    plant(*state, 0, 0);
    struct ended e = run_words(*state, TINY "--against ./old", 1);
    assert_says(e.out, "nothing could be compared");
    ended_free(&e);
}

/* A program that is not a benchmark. */
TEST(test_other_program)
{
    struct ended e = run_words(*state, TINY "--against /bin/false", 1);
    assert_says(e.err, "/bin/false");
    ended_free(&e);
}

TEST(test_failing_old)
{
    write_old(*state, "echo old: --colour: no such flag >&2; exit 2");
    struct ended e = run_words(*state, TINY "--against ./old", 1);
    assert_says(e.err, "exit status 2: old: --colour: no such flag");
    ended_free(&e);
}

static int number_in(const char *path)
{
    int number = 0;
    FILE *in = fopen(path, "r");
    assert_true(in && fscanf(in, "%d", &number) == 1);
    fclose(in);
    return number;
}

/* The running side is killed too, and its files are removed. */
TEST(test_signal)
{
    const struct house *h = *state;
    char pattern[160], started[160];
    write_old(h, "echo $$ >starting; mv starting started; exec sleep 1000");
    snprintf(started, sizeof started, "%s/started", h->work);
    assert_int_equal(setenv("TMPDIR", h->work, 1), 0);
    FILE *err = tmpfile();
    pid_t pid = program_start(h, TINY "--against ./old", NULL, fileno(err), fileno(err));
    wait_for_file(pid, started);
    int old = number_in(started);
    kill(pid, SIGTERM);
    assert_int_equal(program_wait(pid), 128 + SIGTERM);
    assert_int_equal(kill(old, 0), -1);
    snprintf(pattern, sizeof pattern, "%s/gtmark-*", h->work);
    glob_t left;
    assert_int_equal(glob(pattern, 0, NULL, &left), GLOB_NOMATCH);
    char text[512] = "";
    rewind(err);
    text[fread(text, 1, sizeof text - 1, err)] = '\0';
    fclose(err);
    assert_non_null(strstr(text, "SIGTERM: ended before the verdicts"));
    unsetenv("TMPDIR");
}

/* Two programs of two rows warm up for 0.01 s each; what a run takes is not known without a calibration. */
TEST(test_least_duration)
{
    static const struct bench bench = {.name = "bench_x", .axis = AXIS_NODES, .values = "8,16"};
    struct options o = options_of(&bench, "--no-roofline --hidden 16 --heads 2");
    assert_true(fabs(estimate_least(&o) - 0.04) < 1e-9);
    options_free(&o);
    o = options_of(&bench, "--no-roofline --hidden 16 --heads 2 --warmup 0");
    assert_true(estimate_least(&o) == 0);
    options_free(&o);
}

/* bench_model profiles by default. */
TEST(test_whole)
{
    static const struct bench whole = {.name = "bench_model", .whole = true}, other = {.name = "bench_x"};
    struct message error;
    struct options o = {.bench = &whole, .profile = true, .against = "/bin/true"};
    assert_true(against_possible(&o, &error));
    o.bench = &other;
    assert_false(against_possible(&o, &error));
}

GROUP("tests", house_setup, house_teardown)
