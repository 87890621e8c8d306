/*
 * Sweeps that are ended by signals, kill -9 or a full disk, and continue with --resume: no row is lost or
 * duplicated, and the file is a whole document at all times.
 */
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analysis/record/result_file.h"
#include "bench/row/timed.h"
#include "kernels/rng.h"
#include "tests/events.h"
#include "tests/files.h"
#include "tests/records.h"
#include "tests/refusals.h"
#include "tests/test.h"

#define WORK  "--hidden 16 --heads 2 --layers 1 --warmup 1 --threads 1 --output x.json "
#define TINY  WORK "--runs 3 --no-check "
#define SWEEP TINY "--repetitions 1 --nodes 8-23+1 "
enum { FIRST = 8, ROWS = 16 };

/* The text of the result file, or null. */
static char *file_text(const struct house *h)
{
    char path[PATH_MAX], *text = NULL;
    size_t capacity = 0;
    snprintf(path, sizeof path, "%s/x.json", h->work);
    FILE *in = fopen(path, "r");
    if (in && getdelim(&text, &capacity, '\0', in) < 0)
        fail_msg("%s is empty", path);
    if (in)
        fclose(in);
    return text;
}

/* The result file, and what a killed process left beside it. */
static void remove_files(const struct house *h)
{
    char pattern[PATH_MAX];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/x.json*", h->work);
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        unlink(found.gl_pathv[i]);
    globfree(&found);
}

/* The texts of the rows of a result file, and their nodes. */
struct saved {
    int count;
    char *text[2 * ROWS];
    int64_t nodes[2 * ROWS];
};

/* The rows of the result file. */
static void saved_of(const struct house *h, struct saved *r)
{
    char *all = file_text(h);
    *r = (struct saved){0};
    if (!all)
        return;
    free(all);
    struct record *record = record_in(h, "work/x.json");
    for (size_t i = 0; i < row_count(record); i++) {
        struct buffer text = {0};
        row_at(record, i)->position = COUNT_ABSENT; /* which depends on the sweep */
        row_put_members(row_at(record, i), &text);
        assert_true(r->count < 2 * ROWS);
        r->text[r->count] = strndup(text.text, text.size);
        r->nodes[r->count++] = count_at(row_at(record, i), "nodes");
        free(text.text);
    }
    record_free(record);
}

static void saved_free(struct saved *r)
{
    for (int i = 0; i < r->count; i++)
        free(r->text[i]);
    r->count = 0;
}

/* Every row of `before` is in `after`, byte for byte; no row of `after` is duplicated. */
static void assert_nothing_lost(const struct saved *before, const struct saved *after)
{
    for (int i = 0; i < before->count; i++) {
        int found = 0;
        for (int j = 0; j < after->count; j++)
            found += strcmp(before->text[i], after->text[j]) == 0;
        if (found != 1)
            fail_msg("the row of %lld nodes is there %d times", (long long)before->nodes[i], found);
    }
    for (int i = 0; i < after->count; i++)
        for (int j = 0; j < i; j++)
            assert_true(after->nodes[i] != after->nodes[j]);
}

/* The rows that are of an earlier run, as the line below the table says. */
static int rows_kept(const char *out)
{
    char *text = unwrapped(out), *kept = strstr(text, " kept from an earlier run");
    while (kept && kept > text && kept[-1] != '\n' && kept[-1] != ';')
        kept--;
    int count = kept ? atoi(kept) : 0;
    free(text);
    return count;
}

/* Resumes to the end: all rows are there in order, and those of `before` are unchanged. */
static void finish(const struct house *h, const struct saved *before)
{
    struct saved after;
    struct ended e = run_words(h, SWEEP "--resume", 0);
    assert_int_equal(rows_kept(e.out), before->count);
    ended_free(&e);
    saved_of(h, &after);
    assert_int_equal(after.count, ROWS);
    for (int i = 0; i < ROWS; i++)
        assert_int_equal(after.nodes[i], FIRST + i);
    assert_nothing_lost(before, &after);
    saved_free(&after);
}

/*
 * Starts the sweep and returns when it has printed so many rows; the rest comes from *out. As CSV with all
 * fields, a row is longer than a tenth of the pipe, so the sweep cannot run ahead to its end.
 */
static pid_t start_and_wait(const struct house *h, const char *more, int rows, int err, int *out)
{
    int writer;
    char words[512];
    snprintf(words, sizeof words, SWEEP "--format csv-full %s", more);
    small_pipe(out, &writer);
    pid_t pid = program_start(h, words, NULL, writer, err);
    close(writer);
    assert_true(read_until(*out, "\n", 1 + rows)); /* with the header */
    return pid;
}

/* Lets the sweep print the rest; returns how it ends. */
static int let_end(pid_t pid, int out)
{
    free(read_rest(out));
    return program_wait(pid);
}

static void check_signal(const struct house *h, int number, const char *name)
{
    struct saved rows;
    char text[1024] = "", says[64];
    int out;
    FILE *err = tmpfile();
    remove_files(h);
    pid_t pid = start_and_wait(h, "", 3, fileno(err), &out);
    kill(pid, number);
    assert_int_equal(let_end(pid, out), 128 + number);
    rewind(err);
    text[fread(text, 1, sizeof text - 1, err)] = '\0';
    fclose(err);
    snprintf(says, sizeof says, "%s: ended with ", name);
    assert_non_null(strstr(text, says));
    assert_non_null(strstr(text, "--resume"));
    saved_of(h, &rows);
    assert_between(rows.count, 3, ROWS - 1);
    finish(h, &rows);
    saved_free(&rows);
}

TEST(test_signals)
{
    check_signal(*state, SIGINT, "SIGINT");
    check_signal(*state, SIGTERM, "SIGTERM");
    check_signal(*state, SIGHUP, "SIGHUP");
    check_signal(*state, SIGQUIT, "SIGQUIT");
}

/* The turns of a row's program. */
static size_t turns_of(const struct row *row)
{
    return row->step.time.blocks.count;
}

/* A sweep that ended between its turns goes on with those that are missing; a complete one is left alone. */
TEST(test_missing_turns)
{
    static const char *const line = "--hidden 16 --heads 2 --layers 1 --phase step --threads 1 --no-charts "
                                    "--output x.json --nodes 8-11+1 --runs %d --repetitions %d --resume";
    char half[256], whole[256], path[PATH_MAX], error[MESSAGE_SIZE];
    const struct house *h = *state;
    snprintf(half, sizeof half, line, 6, 3);
    snprintf(whole, sizeof whole, line, 12, 6);
    snprintf(path, sizeof path, "%s/x.json", h->work);
    remove_files(h);
    struct ended e = run_words(h, half, 0);
    ended_free(&e);
    struct record *file = record_in(h, "work/x.json");
    value_set_count(value_get(record_head(file), "settings"), "runs", 12); /* as if they had been asked for */
    assert_true(record_save(file, path, error));
    record_free(file);
    e = run_words(h, whole, 0);
    assert_int_equal(rows_kept(e.out), 4);
    ended_free(&e);
    file = record_in(h, "work/x.json");
    value_remove(record_head(file), "fits"); /* and as if it had not been completed */
    assert_true(record_save(file, path, error));
    record_free(file);
    e = run_words(h, whole, 0);
    assert_int_equal(rows_kept(e.out), 0);
    ended_free(&e);
    file = record_in(h, "work/x.json");
    assert_int_equal(row_count(file), 4);
    for (size_t i = 0; i < 4; i++) {
        const struct row *row = row_at(file, i);
        assert_int_equal(turns_of(row), 6);
        assert_int_equal(row->step.time.samples.count, 12);
        assert_int_equal(row->step.backward.time.samples.count, 12);
        assert_true(real_at(row, "error.norm") > 0); /* of the first run */
        assert_string_equal(row->checked, "whole");
    }
    record_free(file);
}

/* After a random number of new rows each time; the file is whole after each kill, and only grows. */
TEST(test_kill_9)
{
    enum { MOST = 4 };
    int rounds = getenv("GTMARK_SOAK") ? 100 : 5;
    uint64_t key = rng_key(9, "kill");
    struct saved before = {0}, after;
    int null = open("/dev/null", O_WRONLY);
    remove_files(*state);
    for (int round = 0; round < rounds; round++) {
        if (before.count > ROWS - 2 * MOST) { /* the pipe holds some rows more: start over */
            remove_files(*state);
            saved_free(&before);
        }
        int out, printed = before.count + 1 + (int)(rng_bits(key, (uint64_t)round) % MOST);
        pid_t pid = start_and_wait(*state, "--resume", printed, null, &out);
        kill(pid, SIGKILL);
        assert_int_equal(let_end(pid, out), 128 + SIGKILL);
        saved_of(*state, &after);
        assert_between(after.count, printed, ROWS - 1);
        assert_nothing_lost(&before, &after);
        saved_free(&before);
        before = after;
    }
    close(null);
    finish(*state, &before);
    saved_free(&before);
}

/* A file size limit simulates a full disk. */
TEST(test_full_disk)
{
    struct saved rows;
    struct rlimit old, limit;
    remove_files(*state);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = 20000;
    signal(SIGXFSZ, SIG_DFL); /* otherwise it would end the program */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct ended e = program_run(*state, SWEEP, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(e.status, 1);
    assert_non_null(strstr(e.err, "x.json: cannot be written: File too large"));
    ended_free(&e);
    char *files = house_list(*state);
    assert_null(strstr(files, ".tmp"));
    free(files);
    saved_of(*state, &rows);
    assert_between(rows.count, 1, ROWS - 1);
    finish(*state, &rows);
    saved_free(&rows);
}

/* Rewrites the record of x.json with the status of row `index` changed. */
static void plant(const struct house *h, size_t index, const char *status)
{
    char path[PATH_MAX], error[MESSAGE_SIZE];
    struct record *record = record_in(h, "work/x.json");
    struct row *row = row_at(record, index);
    row_set_text(row, "status", status);
    row_set_text(row, "reason", "planted");
    snprintf(path, sizeof path, "%s/x.json", h->work);
    assert_true(record_save(record, path, error));
    record_free(record);
}

/*
 * oom rows are kept; failed, wrong and skipped ones are measured again; rows outside the sweep are kept,
 * before the others.
 */
TEST(test_what_is_kept)
{
    static const char *const statuses[] = {"oom", "failed", "wrong", "skipped"};
    struct saved before, after;
    remove_files(*state);
    struct ended e = run_words(*state, TINY "--nodes 8,9,10,11,12", 0);
    ended_free(&e);
    for (size_t i = 0; i < 4; i++)
        plant(*state, i, statuses[i]);
    saved_of(*state, &before);
    e = run_words(*state, TINY "--nodes 20,8,9,10,11 --resume", 1);
    ended_free(&e);
    saved_of(*state, &after);
    static const int64_t wanted[] = {12, 20, 8, 9, 10, 11};
    assert_int_equal(after.count, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(after.nodes[i], wanted[i]);
    assert_string_equal(after.text[0], before.text[4]);
    assert_string_equal(after.text[2], before.text[0]);
    struct record *record = record_in(*state, "work/x.json");
    for (size_t i = 3; i < 6; i++)
        assert_string_equal(text_at(row_at(record, i), "status"), "ok");
    assert_int_equal(value_size(value_get(record_head(record), "resumed")), 1);
    record_free(record);
    saved_free(&before);
    saved_free(&after);
}

/* Configurations that turn out to be equal have one row each. */
TEST(test_same_twice)
{
    remove_files(*state);
    struct ended e = run_words(*state, TINY "--nodes 8 --ffn 0,32", 0);
    ended_free(&e);
    char *before = file_text(*state);
    e = run_words(*state, TINY "--nodes 8 --ffn 0,32,48 --resume", 0);
    ended_free(&e);
    struct record *record = record_in(*state, "work/x.json");
    assert_int_equal(row_count(record), 3);
    assert_int_equal(count_at(row_at(record, 2), "ffn"), 48);
    record_free(record);
    free(before);
}

/* The file of a different run is not modified, and the difference is named. */
TEST(test_heads_that_disagree)
{
    static const char *const fields[] = {"commit", "benchmark", "compiler", "flags"};
    char path[PATH_MAX], error[MESSAGE_SIZE], says[64];
    snprintf(path, sizeof path, "%s/x.json", ((const struct house *)*state)->work);
    remove_files(*state);
    struct ended e = run_words(*state, TINY "--nodes 8", 0);
    ended_free(&e);
    refuses(*state, TINY "--nodes 8 --resume --seed 7", NULL, "differs in its seed: 42 there, 7 here", NULL);
    refuses(*state, TINY "--nodes 8 --resume --phase step", NULL, "differs in its settings: phase: ", NULL);
    refuses(*state, TINY "--nodes 8 --resume --impl linear=ref", NULL,
            "differs in its settings: impl: ", NULL);
    refuses(*state, WORK "--no-check --runs 4 --nodes 8 --resume", NULL,
            "differs in its settings: runs: 3 there, 4 here", NULL);
    refuses(*state, WORK "--runs 3 --nodes 8 --resume", NULL,
            "differs in its settings: check: false there, true here", NULL);
    refuses(*state, TINY "--count base --nodes 8 --resume", NULL,
            "differs in its settings: count: \"off\" there, \"base\" here", NULL);
    refuses(*state, TINY "--nodes 8 --resume --device ref", NULL,
            "differs in its devices: [\"cpu\"] there, [\"ref\"] here", NULL);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct record *record = record_in(*state, "work/x.json"), *other = record_in(*state, "work/x.json");
        value_set_text(record_head(other), fields[i], "another");
        assert_true(record_save(other, path, error));
        snprintf(says, sizeof says, "x.json differs in its %s: \"another\" there", fields[i]);
        refuses(*state, TINY "--nodes 8 --resume", NULL, says, NULL);
        assert_true(record_save(record, path, error));
        record_free(other);
        record_free(record);
    }
    refuses(*state, "--resume --device meta", NULL, "--resume: --device meta", NULL);
    FILE *file = fopen(path, "w");
    fputs("not a record\n", file);
    fclose(file);
    refuses(*state, TINY "--nodes 8 --resume", NULL, "--resume: x.json: not JSON", NULL);
}

/* CPU time per run is that of all turns, of the file and new. */
TEST(test_cpu_time)
{
    static const double seconds[] = {1, 1, 1, 1};
    struct row *row = row_new();
    struct samples all, turn = {0};
    const struct probe none = {{NAN, NAN, NAN}};
    row_set_samples(row, "step.time", seconds, 4);
    row->step.time.cpu = 3;
    timed_load(&all, row, TIMED_STEP);
    assert_int_equal(all.n, 4);
    samples_allocate(&turn, 2);
    for (turn.n = 0; turn.n < 2; turn.n++)
        turn.seconds[turn.n] = 1;
    turn.used.cpu = 18;
    samples_close_turn(&turn, &none, &none, 0);
    samples_join(&all, &turn);
    assert_int_equal(all.n, 6);
    assert_true(all.used.cpu / all.n == 5);
    samples_free(&all);
    row_free(row);
}

/* Without --resume the file starts over, and the old one is kept as x.json~. */
TEST(test_replaced_file_is_kept)
{
    remove_files(*state);
    struct ended e = run_words(*state, TINY "--nodes 8", 0);
    ended_free(&e);
    char *before = file_text(*state);
    e = run_words(*state, TINY "--nodes 9", 0);
    ended_free(&e);
    struct record *old = record_in(*state, "work/x.json~"), *same = record_of(before);
    assert_true(records_equal(old, same));
    record_free(old);
    record_free(same);
    free(before);
}

GROUP("tests", house_setup, house_teardown)
