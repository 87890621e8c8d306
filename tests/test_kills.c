/*
 * Sweeps that are killed or interrupted at random moments and resumed: at every moment the result file is a
 * whole document, and with its journal holds every row once, with all samples that it had before; in the end
 * it has what an undisturbed sweep has. And two sweeps that write one file.
 */
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/record/file.h"
#include "analysis/record/record.h"
#include "analysis/record/schema.h"
#include "kernels/rng.h"
#include "tests/records.h"

#define OUTPUT "--no-charts --output x.json "
#define TURNS  4

/* Timed in turns; and planned only, where most of the time is spent on writing rows. */
static const char *const timed = "--hidden 8 --heads 1 --layers 1 --phase step --threads 1 --no-check "
                                 "--runs 8 --turns 4 --nodes 8-13+1 " OUTPUT;
static const char *const planned = "--device meta --hidden 8 --heads 1 --layers 1 --nodes 1-300+1 " OUTPUT;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pause_for(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

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

/* The result file with its journal, null if there is none; alone it is a whole document too. */
static struct record *saved(const struct house *h)
{
    char path[PATH_MAX], error[MESSAGE_SIZE];
    size_t size;
    if (!exists(h, "x.json"))
        return NULL;
    path_of(h, path, "x.json");
    char *text = file_read(path, &size, error);
    record_free(record_of(text));
    free(text);
    return record_in(h, "work/x.json");
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
static void assert_continued(const struct row *before, const struct row *after, const char *path)
{
    double old[TURNS * 8], new[TURNS * 8];
    size_t n = 0, more = 0;
    if (!row_get_reals(before, path, old, sizeof old / sizeof *old, &n))
        return;
    assert_true(row_get_reals(after, path, new, sizeof new / sizeof *new, &more));
    assert_true(n <= more);
    assert_memory_equal(old, new, n * sizeof *old);
}

/* No row is lost, doubled or changed; later turns may have added samples. */
static void assert_nothing_lost(const struct record *before, const struct record *after)
{
    for (size_t i = 0; before && i < row_count(before); i++) {
        const struct row *old = row_at(before, i), *new = row_of(after, count_at(old, "nodes"));
        if (!new)
            fail_msg("the row of %lld nodes is lost", (long long)count_at(old, "nodes"));
        assert_string_equal(text_at(old, "work"), text_at(new, "work"));
        assert_continued(old, new, "step.time.samples");
        assert_continued(old, new, "step.time.blocks");
        if (row_is_null(old, "step.time.samples") && !row_equal(old, new))
            fail_msg("the row of %lld nodes has changed", (long long)count_at(old, "nodes"));
    }
}

/* The rows of an undisturbed sweep, in its order, with all turns. */
static void assert_complete(const struct record *record, const struct record *undisturbed)
{
    assert_int_equal(row_count(record), row_count(undisturbed));
    for (size_t i = 0; i < row_count(record); i++) {
        const struct row *row = row_at(record, i), *other = row_at(undisturbed, i);
        assert_true(row_is_ok(row));
        assert_int_equal(row_reals_count(row, "step.time.blocks"),
                         row_reals_count(other, "step.time.blocks"));
        assert_int_equal(row_reals_count(row, "step.time.samples"),
                         row_reals_count(other, "step.time.samples"));
        assert_string_equal(text_at(row, "work"), text_at(other, "work"));
        for (size_t f = 0; f < schema_fields_count; f++)
            if (schema_fields[f].symbol)
                assert_true(row_same(row, other, schema_fields[f].path));
    }
}

/* Kills and resumes a sweep this often, and starts anew when it is complete. */
static void check_kills(const struct house *h, const char *words, const char *key, int rounds)
{
    char again[512];
    snprintf(again, sizeof again, "%s --resume", words);
    int null = open("/dev/null", O_WRONLY);
    remove_files(h);
    double start = now();
    struct ended e = run_words(h, words, 0);
    double whole = now() - start;
    ended_free(&e);
    struct record *undisturbed = saved(h), *before = NULL;
    remove_files(h);
    for (int round = 0; round < rounds; round++) {
        pid_t pid = program_start(h, again, NULL, null, null);
        pause_for((double)(rng_bits(rng_key(16, key), (uint64_t)round) % 1000) / 1000 * whole);
        int number = round % 2 ? SIGINT : SIGKILL;
        kill(pid, number);
        int status = program_wait(pid);
        assert_true(status == 128 + number || status == 0);
        struct record *after = saved(h);
        assert_true(after || !before);
        assert_nothing_lost(before, after);
        record_free(before);
        before = after;
        if (status == 0) {
            assert_complete(after, undisturbed);
            assert_tidy(h);
            remove_files(h);
            record_free(before);
            before = NULL;
        }
    }
    close(null);
    e = run_words(h, again, 0);
    ended_free(&e);
    struct record *after = saved(h);
    assert_nothing_lost(before, after);
    assert_complete(after, undisturbed);
    assert_tidy(h);
    record_free(before);
    record_free(after);
    record_free(undisturbed);
}

static void test_killed_in_turns(void **state)
{
    check_kills(*state, timed, "timed", getenv("GTMARK_SOAK") ? 500 : 6);
}

static void test_killed_while_writing(void **state)
{
    check_kills(*state, planned, "planned", getenv("GTMARK_SOAK") ? 500 : 12);
}

static void assert_refused(const struct house *h, const char *words)
{
    struct ended e = run_words(h, words, 2);
    assert_string_equal(e.out, "");
    assert_non_null(strstr(e.err, "--output x.json: another program is writing this file\n"));
    assert_ptr_equal(strchr(e.err, '\n'), e.err + strlen(e.err) - 1);
    ended_free(&e);
}

/* The second is refused, and takes nothing from the first. */
static void test_two_writers(void **state)
{
    const struct house *h = *state;
    int null = open("/dev/null", O_WRONLY);
    char again[512];
    snprintf(again, sizeof again, "%s --resume", timed);
    remove_files(h);
    pid_t first = program_start(h, timed, NULL, null, null);
    while (!exists(h, "x.json"))
        pause_for(0.005);
    kill(first, SIGSTOP);
    assert_refused(h, timed);
    assert_refused(h, again);
    assert_refused(h, planned);
    kill(first, SIGCONT);
    assert_int_equal(program_wait(first), 0);
    close(null);
    assert_tidy(h);
    assert_false(exists(h, "x.json~"));
    struct record *record = saved(h);
    assert_int_equal(row_count(record), 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(row_reals_count(row_at(record, i), "step.time.blocks"), TURNS);
    record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_in_turns),
        cmocka_unit_test(test_killed_while_writing),
        cmocka_unit_test(test_two_writers),
    };
    return cmocka_run_group_tests(tests, house_setup, house_teardown);
}
