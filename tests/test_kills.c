/*
 * Sweeps that are killed or interrupted after random steps and resumed: at every moment the result file
 * holds every row once, with all samples that it had before; in the end
 * it has what an copy_undisturbed sweep has. And two sweeps that write one file.
 */
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/record/record.h"
#include "analysis/record/schema.h"
#include "kernels/rng.h"
#include "tests/events.h"
#include "tests/records.h"
#include "tests/test.h"

#define OUTPUT "--no-charts --output x.json "
#define TURNS  4

/* A sweep, and a text that it prints with each step: on the terminal before each turn of a row, or on stdout
 * behind each row, into a pipe that it cannot run ahead of. */
struct killed {
    const char *words, *step;
    bool on_terminal;
    int rows;
};

/* Timed in turns; and planned only, where most of the time is spent on writing rows. */
static const struct killed timed = {
    "--hidden 8 --heads 1 --layers 1 --phase step --threads 1 --no-check --runs 8 "
    "--repetitions 4 --nodes 8-13+1 " OUTPUT,
    ": 0 samples", true, 6};
static const struct killed planned = {
    "--device meta --hidden 8 --heads 1 --layers 1 --nodes 1-100+1 --format csv-full " OUTPUT, "\n", false,
    100};

static void path_of(const struct house *h, char path[PATH_MAX], const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", h->work, name);
}

static bool exists(const struct house *h, const char *name)
{
    char path[PATH_MAX];
    path_of(h, path, name);
    return access(path, F_OK) == 0;
}

static void remove_files(const struct house *h)
{
    char pattern[PATH_MAX];
    glob_t found;
    path_of(h, pattern, "x.json*");
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        unlink(found.gl_pathv[i]);
    globfree(&found);
}

/* A program that ended in order leaves nothing beside the result file. */
static void assert_tidy(const struct house *h)
{
    char pattern[PATH_MAX];
    glob_t found;
    path_of(h, pattern, "x.json[.]*");
    if (glob(pattern, 0, NULL, &found) == 0)
        fail_msg("%s is left", found.gl_pathv[0]);
}

/* The result file, null if there is none, or none that was begun. */
static struct record *saved(const struct house *h)
{
    char path[PATH_MAX];
    struct stat there;
    path_of(h, path, "x.json");
    return stat(path, &there) == 0 && there.st_size > 0 ? record_in(h, "work/x.json") : NULL;
}

/* The row of a size; null if there is none. Fails if there are two. */
static const struct row *row_of(const struct record *record, int64_t nodes)
{
    const struct row *found = NULL;
    for (size_t i = 0; i < row_count(record); i++) {
        if (count_at(row_at(record, i), "nodes") != nodes)
            continue;
        if (found)
            fail_msg("there are two rows of %lld nodes", (long long)nodes);
        found = row_at(record, i);
    }
    return found;
}

/* The reals of `before` are the first of `after`. */
static void assert_continued(const struct items *before, const struct items *after)
{
    assert_true(before->count <= after->count);
    for (size_t i = 0; i < before->count; i++)
        assert_true(before->reals[i] == after->reals[i]);
}

/* No row is lost, doubled or changed; later turns may have added samples. */
static void assert_nothing_lost(const struct record *before, const struct record *after)
{
    for (size_t i = 0; before && i < row_count(before); i++) {
        const struct row *old = row_at(before, i), *new = row_of(after, count_at(old, "nodes"));
        if (!new)
            fail_msg("the row of %lld nodes is lost", (long long)count_at(old, "nodes"));
        assert_string_equal(text_at(old, "work"), text_at(new, "work"));
        assert_continued(&old->step.time.samples, &new->step.time.samples);
        assert_continued(&old->step.time.blocks, &new->step.time.blocks);
        if (!row_has(old, "step.time.samples") && !rows_equal(old, new))
            fail_msg("the row of %lld nodes has changed", (long long)count_at(old, "nodes"));
    }
}

/* The rows of an copy_undisturbed sweep, in its order, with all turns. */
static void assert_complete(const struct record *record, const struct record *copy_undisturbed)
{
    assert_int_equal(row_count(record), row_count(copy_undisturbed));
    for (size_t i = 0; i < row_count(record); i++) {
        const struct row *row = row_at(record, i), *other = row_at(copy_undisturbed, i);
        assert_true(row_is_ok(row));
        assert_int_equal(row->step.time.blocks.count, other->step.time.blocks.count);
        assert_int_equal(row->step.time.samples.count, other->step.time.samples.count);
        assert_string_equal(text_at(row, "work"), text_at(other, "work"));
        for (size_t f = 0; f < schema_fields_count; f++)
            if (schema_fields[f].symbol)
                assert_true(row_same(row, other, schema_fields[f].path));
    }
}

/* Starts the sweep, with *out for what it prints with its steps. */
static pid_t start(const struct house *h, const struct killed *k, const char *more, int *out)
{
    int end, null = open("/dev/null", O_WRONLY);
    char words[512];
    snprintf(words, sizeof words, "%s %s", k->words, more);
    if (k->on_terminal)
        open_terminal(100, out, &end);
    else
        small_pipe(out, &end);
    pid_t pid = program_start(h, words, NULL, k->on_terminal ? null : end, k->on_terminal ? end : null);
    close(end);
    close(null);
    return pid;
}

/* The steps of an copy_undisturbed sweep. */
static int steps_of(const struct house *h, const struct killed *k)
{
    int out, steps = 0;
    pid_t pid = start(h, k, "", &out);
    char *text = read_rest(out);
    for (const char *at = text; (at = strstr(at, k->step)) != NULL; at++)
        steps++;
    free(text);
    assert_int_equal(program_wait(pid), 0);
    return steps;
}

/* Sends the signal after this step, or a little later, unless the sweep ends before; returns how it ends. */
static int kill_after(const struct house *h, const struct killed *k, int step, long nanoseconds, int number)
{
    int out;
    pid_t pid = start(h, k, "--resume", &out);
    if (read_until(out, k->step, step))
        nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
    kill(pid, number);
    free(read_rest(out));
    return program_wait(pid);
}

/* At least this many rows are saved with a step: all until a row is printed, or until its first turn begins,
 * but it. */
static int rows_after(const struct killed *k, int step)
{
    return !k->on_terminal ? step - 1 : step - 1 < k->rows ? step - 1 : k->rows;
}

/* Kills or interrupts and resumes a sweep until so many kills have hit it, and starts over when it is
 * complete. */
static void check_kills(const struct house *h, const struct killed *k, const char *key, int hits)
{
    remove_files(h);
    int steps = steps_of(h, k);
    assert_true(steps >= k->rows);
    struct record *copy_undisturbed = saved(h), *before = NULL;
    remove_files(h);
    for (int round = 0; hits > 0; round++) {
        uint64_t bits = rng_bits(rng_key(16, key), (uint64_t)round);
        int step = 1 + (int)(bits % (uint64_t)steps), number = round % 2 ? SIGINT : SIGKILL;
        int status = kill_after(h, k, step, (long)(bits >> 32) % 2000000, number);
        assert_true(status == 128 + number || status == 0);
        struct record *after = saved(h);
        assert_true(after || !before);
        assert_nothing_lost(before, after);
        if (!before && status != 0)
            assert_true((after ? (int)row_count(after) : 0) >= rows_after(k, step));
        record_free(before);
        before = after;
        hits -= status == 128 + SIGKILL;
        if (status == 0) {
            assert_complete(after, copy_undisturbed);
            assert_tidy(h);
            remove_files(h);
            record_free(before);
            before = NULL;
        }
    }
    char again[512];
    snprintf(again, sizeof again, "%s --resume", k->words);
    struct ended e = run_words(h, again, 0);
    ended_free(&e);
    struct record *after = saved(h);
    assert_nothing_lost(before, after);
    assert_complete(after, copy_undisturbed);
    assert_tidy(h);
    record_free(before);
    record_free(after);
    record_free(copy_undisturbed);
}

TEST(test_killed_in_turns)
{
    check_kills(*state, &timed, "timed", getenv("GTMARK_SOAK") ? 500 : 3);
}

TEST(test_killed_while_writing)
{
    check_kills(*state, &planned, "planned", getenv("GTMARK_SOAK") ? 500 : 4);
}

static void assert_refused(const struct house *h, const char *words)
{
    struct ended e = run_words(h, words, 2);
    assert_string_equal(e.out, "");
    assert_non_null(strstr(e.err, "--output x.json: another program is writing this file\n"));
    assert_ptr_equal(strchr(e.err, '\n'), e.err + strlen(e.err) - 1);
    ended_free(&e);
}

/* The second is refused, and takes nothing from the first, which cannot print its rows until then. */
TEST(test_two_writers)
{
    const struct house *h = *state;
    char path[PATH_MAX], again[512], first[512];
    int out, writer, null = open("/dev/null", O_WRONLY);
    snprintf(again, sizeof again, "%s --resume", timed.words);
    snprintf(first, sizeof first, "%s --format csv-full", timed.words);
    remove_files(h);
    small_pipe(&out, &writer);
    pid_t pid = program_start(h, first, NULL, writer, null);
    close(writer);
    path_of(h, path, "x.json");
    wait_for_file(pid, path);
    assert_refused(h, timed.words);
    assert_refused(h, again);
    assert_refused(h, planned.words);
    free(read_rest(out));
    assert_int_equal(program_wait(pid), 0);
    close(null);
    assert_tidy(h);
    assert_false(exists(h, "x.json~"));
    struct record *record = saved(h);
    assert_int_equal(row_count(record), 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(row_at(record, i)->step.time.blocks.count, TURNS);
    record_free(record);
}

GROUP("tests", house_setup, house_teardown)
