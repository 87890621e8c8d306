/*
 * Records that are saved as they grow: file and journal hold everything that was saved at every moment,
 * whatever is torn, left over or killed.
 */
#include "analysis/record/file.h"
#include "analysis/record/store.h"
#include "tests/files.h"
#include "tests/records.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* These override the C library's: a clock that is put forward, and calls that are counted. */
static long ahead; /* seconds */
static int syncs;

int clock_gettime(clockid_t id, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, id, now);
    now->tv_sec += ahead;
    return result;
}

/* What is to be in the file when its journal is removed; null: not checked. */
static const struct record *to_be_whole;
static void assert_whole(const char *journal);

int unlink(const char *path)
{
    if (to_be_whole && strstr(path, ".journal"))
        assert_whole(path);
    return unlinkat(AT_FDCWD, path, 0);
}

int fsync(int file)
{
    syncs++;
    return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file)
{
    syncs++;
    return (int)syscall(SYS_fdatasync, file);
}

struct place {
    char directory[64], file[96], journal[128], lock[128], kept[128];
    struct record *record;
};

static int make_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    snprintf(p->directory, sizeof p->directory, "/tmp/gtmark-store-XXXXXX");
    if (!mkdtemp(p->directory))
        return -1;
    snprintf(p->file, sizeof p->file, "%s/result.json", p->directory);
    snprintf(p->journal, sizeof p->journal, "%s.journal", p->file);
    snprintf(p->lock, sizeof p->lock, "%s.lock", p->file);
    snprintf(p->kept, sizeof p->kept, "%s~", p->file);
    p->record = empty_record();
    ahead = 0;
    to_be_whole = NULL;
    *state = p;
    return 0;
}

static int remove_place(void **state)
{
    struct place *p = *state;
    unlink(p->file);
    unlink(p->kept);
    int result = rmdir(p->directory); /* fails if a journal or a lock is left */
    record_free(p->record);
    free(p);
    return result;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* A file's text, to be freed. */
static char *contents(const char *path, size_t *size)
{
    char error[MESSAGE_SIZE], *text = file_read(path, size, error);
    if (!text)
        fail_msg("%s", error);
    return text;
}

static char *document(const struct record *record)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_true(record_write(record, out) && fclose(out) == 0);
    return text;
}

/* The same document, byte for byte; frees `found`. */
static void assert_same(struct record *found, const struct record *wanted)
{
    char *there = document(found), *here = document(wanted);
    assert_string_equal(there, here);
    record_free(found);
    free(there);
    free(here);
}

/* The record in the file alone, which is a whole document. */
static struct record *alone(const char *path)
{
    size_t size;
    char *text = contents(path, &size);
    struct record *record = record_of(text);
    free(text);
    return record;
}

static void assert_whole(const char *journal)
{
    char path[128];
    snprintf(path, sizeof path, "%.*s", (int)(strstr(journal, ".journal") - journal), journal);
    assert_same(alone(path), to_be_whole);
}

static struct record *loaded(const char *path)
{
    char error[MESSAGE_SIZE];
    struct record *record = record_load(path, error);
    if (!record)
        fail_msg("%s", error);
    return record;
}

/* A reader of the file finds the record. */
static void assert_saved(const char *path, const struct record *record)
{
    record_free(alone(path));
    assert_same(loaded(path), record);
}

static size_t rows_in(const char *path)
{
    struct record *record = loaded(path);
    size_t count = rows_count(record_rows(record));
    record_free(record);
    return count;
}

static struct store *begin(const struct place *p, const struct record *record, bool keep)
{
    char error[MESSAGE_SIZE];
    struct store *store = store_open(p->file, stderr, error);
    if (!store || !store_begin(store, record, keep, error))
        fail_msg("%s", error);
    return store;
}

static void end(struct store *store)
{
    char error[MESSAGE_SIZE];
    if (!store_close(store, error))
        fail_msg("%s", error);
}

static bool try_row(struct store *store, struct record *record, size_t index, bool replace, int64_t nodes,
                    char *error)
{
    struct row *row = good_row(nodes);
    row_set_text(row, "step.memory.peak_op", "layer1.\"q\"\\\tµ\n/{}[],:");
    return record_put(record, index, replace, row, error) && store_row(store, index, replace, error);
}

static void put(struct store *store, struct record *record, size_t index, bool replace, int64_t nodes)
{
    char error[MESSAGE_SIZE];
    if (!try_row(store, record, index, replace, nodes, error))
        fail_msg("%s", error);
}

static void set_head(struct store *store, struct record *record, int64_t value)
{
    char error[MESSAGE_SIZE];
    struct value *fits = value_new_array();
    value_append(fits, value_new_count(value));
    value_set(record_head(record), "fits", fits);
    assert_true(store_head(store, "fits", error));
}

/* Gives the record rows, of which all but the first two are in the journal; the store is open. */
static struct store *begin_with_journal(const struct place *p, size_t rows)
{
    char error[MESSAGE_SIZE];
    for (size_t i = 0; i < 2; i++)
        assert_true(record_add(p->record, good_row((int64_t)i + 1), error));
    struct store *store = begin(p, p->record, false);
    for (size_t i = 2; i < rows; i++)
        put(store, p->record, i, false, (int64_t)i + 1);
    assert_true(exists(p->journal));
    return store;
}

/* Rows are inserted and replaced anywhere and the head changes, at any pace. */
static void test_all_that_is_saved_is_read(void **state)
{
    const struct place *p = *state;
    struct store *store = begin(p, p->record, false);
    struct stat now, before = {0};
    int merges = 0, journals = 0;
    srand(7);
    to_be_whole = p->record;
    for (int i = 0; i < 60; i++) {
        size_t rows = rows_count(record_rows(p->record));
        bool replace = rows > 0 && rand() % 3 == 0;
        ahead += rand() % 4;
        if (i % 10 == 9)
            set_head(store, p->record, i);
        else
            put(store, p->record, (size_t)rand() % (rows + !replace), replace, i + 1);
        if (i % 3 == 0 || !getenv("GTMARK_SMALL"))
            assert_saved(p->file, p->record);
        assert_int_equal(stat(p->file, &now), 0);
        merges += now.st_ino != before.st_ino;
        journals += exists(p->journal);
        before = now;
    }
    assert_between(merges, 3, 15);
    assert_between(journals, 30, 59);
    end(store);
    to_be_whole = NULL;
    assert_saved(p->file, p->record);
    assert_false(exists(p->journal) || exists(p->lock));
}

/* However fast rows come, data is flushed to disk once a second, and the journal merged once in ten. */
static void test_flushed_once_a_second(void **state)
{
    const struct place *p = *state;
    struct store *store = begin_with_journal(p, 2 + 20);
    syncs = 0;
    put(store, p->record, 0, true, 100);
    assert_int_equal(syncs, 0);
    ahead += 2;
    put(store, p->record, 0, true, 101);
    assert_int_equal(syncs, 1);
    assert_true(exists(p->journal));
    ahead += 10;
    put(store, p->record, 0, true, 102);
    assert_int_equal(syncs, 1 + 2); /* the file and its directory: the journal is longer than the file */
    assert_false(exists(p->journal));
    for (int i = 0; i < 5; i++) {
        ahead += 2;
        put(store, p->record, 0, true, 103);
    }
    assert_int_equal(syncs, 1 + 2 + 5);
    end(store);
    assert_int_equal(syncs, 1 + 2 + 5 + 2);
}

/* A journal that ends anywhere has the rows of its complete lines. */
static void test_torn_journal(void **state)
{
    const struct place *p = *state;
    struct store *store = begin_with_journal(p, 5);
    size_t size;
    char *journal = contents(p->journal, &size);
    size_t fine = getenv("GTMARK_SMALL") ? 7 : 1;
    for (size_t length = 0; length <= size; length += length < 200 || length + 20 > size ? fine : 97) {
        size_t lines = 0;
        for (size_t i = 0; i < length; i++)
            lines += journal[i] == '\n';
        write_bytes(p->journal, journal, length);
        assert_int_equal(rows_in(p->file), 2 + (lines ? lines - 1 : 0));
    }
    end(store);
    free(journal);
}

/* A power failure can leave zeros in a file; what is after them is not applied. */
static void test_spoilt_journal(void **state)
{
    const struct place *p = *state;
    struct store *store = begin_with_journal(p, 5);
    size_t size;
    char *journal = contents(p->journal, &size), *second = strchr(journal, '\n') + 1;
    second = strchr(second, '\n') + 1;
    char *const places[] = {second + 100, second + 3, strchr(second, '\n') - 1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char was = *places[i];
        *places[i] = '\0';
        write_bytes(p->journal, journal, size);
        assert_int_equal(rows_in(p->file), 3);
        *places[i] = was;
    }
    const char *const bad[] = {
        "{\"insert\":9,\"row\":{}}\n", "{\"replace\":5,\"row\":{}}\n", "{}\n", "\n", "{\"head\":[]}\n",
        "{\"insert\":-1,\"row\":{}}\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *more;
        assert_true(asprintf(&more, "%s%s", journal, bad[i]) > 0);
        write_bytes(p->journal, more, strlen(more));
        assert_saved(p->file, p->record);
        free(more);
    }
    end(store);
    free(journal);
}

/* The journal of another file, or of the same file before a byte of it changed, is ignored and then removed.
 */
static void test_journal_of_another_file(void **state)
{
    const struct place *p = *state;
    struct record *again;
    struct store *store = begin_with_journal(p, 5);
    size_t size, journal_size;
    char *text = contents(p->file, &size), *journal = contents(p->journal, &journal_size);
    end(store);
    write_bytes(p->journal, journal, journal_size);
    strstr(text, "\"benchmark\"")[-1] = '\t'; /* the same size, the same values */
    write_bytes(p->file, text, size);
    assert_int_equal(rows_in(p->file), 2);
    again = loaded(p->file);
    store = begin(p, again, true);
    assert_false(exists(p->journal));
    end(store);
    assert_int_equal(rows_in(p->kept), 2);
    record_free(again);
    free(text);
    free(journal);
}

/* Killed after the file was written whole, before its journal was removed: rows are not applied again. */
static void test_killed_while_merging(void **state)
{
    const struct place *p = *state;
    struct store *store = begin_with_journal(p, 5);
    size_t size;
    put(store, p->record, 4, true, 77);
    char *journal = contents(p->journal, &size);
    end(store);
    write_bytes(p->journal, journal, size);
    assert_saved(p->file, p->record);
    end(begin(p, p->record, false));
    assert_saved(p->file, p->record);
    free(journal);
}

/* What a killed program left is kept with its journal when another record replaces it. */
static void test_what_is_replaced_is_kept(void **state)
{
    const struct place *p = *state;
    struct record *other = empty_record();
    struct store *store = begin_with_journal(p, 5);
    size_t size, journal_size;
    char *text = contents(p->file, &size), *journal = contents(p->journal, &journal_size);
    end(store);
    write_bytes(p->file, text, size);
    write_bytes(p->journal, journal, journal_size);
    end(begin(p, other, true));
    assert_saved(p->kept, p->record);
    assert_saved(p->file, other);
    record_free(other);
    free(text);
    free(journal);
}

/* A row that cannot be written leaves no part of it, and is saved with the next one. */
static void test_full_disk(void **state)
{
    const struct place *p = *state;
    struct store *store = begin_with_journal(p, 5);
    struct rlimit old, small;
    struct stat before, after;
    char error[MESSAGE_SIZE];
    assert_int_equal(stat(p->journal, &before), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){(rlim_t)before.st_size + 1000, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_false(try_row(store, p->record, 2, false, 50, error));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_non_null(strstr(error, "result.json: cannot be written: File too large"));
    assert_int_equal(stat(p->journal, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
    assert_int_equal(rows_in(p->file), 5);
    put(store, p->record, 0, true, 51);
    assert_saved(p->file, p->record);
    end(store);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(test_all_that_is_saved_is_read),
        IN_PLACE(test_flushed_once_a_second),
        IN_PLACE(test_torn_journal),
        IN_PLACE(test_spoilt_journal),
        IN_PLACE(test_journal_of_another_file),
        IN_PLACE(test_killed_while_merging),
        IN_PLACE(test_what_is_replaced_is_kept),
        IN_PLACE(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
