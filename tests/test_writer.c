/*
 * Records that are saved as they grow: the file holds everything that was saved at every moment, whatever is
 * torn or left over.
 */
#include "analysis/record/file.h"
#include "analysis/record/result_file.h"
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
    char directory[64], file[96], kept[128];
    struct record *record;
};

static int make_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    snprintf(p->directory, sizeof p->directory, "/tmp/gtmark-writer-XXXXXX");
    if (!mkdtemp(p->directory))
        return -1;
    snprintf(p->file, sizeof p->file, "%s/result.jsonl", p->directory);
    snprintf(p->kept, sizeof p->kept, "%s~", p->file);
    p->record = empty_record();
    ahead = 0;
    *state = p;
    return 0;
}

static int remove_place(void **state)
{
    struct place *p = *state;
    unlink(p->file);
    unlink(p->kept);
    int result = rmdir(p->directory); /* fails if anything else is left */
    record_free(p->record);
    free(p);
    return result;
}

/* A file's text, to be freed. */
static char *contents(const char *path, size_t *size)
{
    char error[MESSAGE_SIZE], *text = file_read(path, size, error);
    if (!text)
        fail_msg("%s", error);
    return text;
}

static size_t lines_in(const char *path)
{
    size_t size, lines = 0;
    char *text = contents(path, &size);
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    free(text);
    return lines;
}

static struct record *loaded(const char *path)
{
    char error[MESSAGE_SIZE];
    struct record *record = record_load(path, error);
    if (!record)
        fail_msg("%s", error);
    return record;
}

static char *written_lines(const struct record *record)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_true(record_write_lines(record, out) && fclose(out) == 0);
    return text;
}

/* The same lines; reals have 15 digits there. */
static void assert_same(const struct record *found, const struct record *wanted)
{
    char *there = written_lines(found), *here = written_lines(wanted);
    assert_string_equal(there, here);
    free(there);
    free(here);
}

/* A reader of the file finds the record. */
static void assert_saved(const char *path, const struct record *record)
{
    struct record *found = loaded(path);
    assert_same(found, record);
    record_free(found);
}

static size_t rows_in(const char *path)
{
    struct record *record = loaded(path);
    size_t count = rows_count(record_rows(record));
    record_free(record);
    return count;
}

static struct writer *begin(const struct place *p, const struct record *record, bool keep)
{
    char error[MESSAGE_SIZE];
    struct writer *writer = writer_open(p->file, stderr, error);
    if (!writer || !writer_begin(writer, record, keep, error))
        fail_msg("%s", error);
    return writer;
}

static void end(struct writer *writer)
{
    char error[MESSAGE_SIZE];
    if (!writer_close(writer, error))
        fail_msg("%s", error);
}

/* Replaces the row at `index`, or adds one there, at the end. */
static bool try_row(struct writer *writer, struct record *record, size_t index, int64_t nodes, char *error)
{
    struct row *row = good_row(nodes);
    bool replace = index < rows_count(record_rows(record));
    row->position = (int64_t)index;
    row_set_text(row, "step.memory.peak_op", "layer1.\"q\"\\\tµ\n/{}[],:");
    row_derive(row); /* as a reader does */
    return record_put(record, index, replace, row, error) && writer_row(writer, index, error);
}

static void put(struct writer *writer, struct record *record, size_t index, int64_t nodes)
{
    char error[MESSAGE_SIZE];
    if (!try_row(writer, record, index, nodes, error))
        fail_msg("%s", error);
}

static void set_head(struct writer *writer, struct record *record, int64_t value)
{
    char error[MESSAGE_SIZE];
    struct value *fits = value_new_array();
    value_append(fits, value_new_count(value));
    value_set(record_head(record), "fits", fits);
    assert_true(writer_head(writer, "fits", error));
}

/* A writer with so many rows; it is open. */
static struct writer *begin_with_rows(const struct place *p, size_t rows)
{
    struct writer *writer = begin(p, p->record, false);
    for (size_t i = 0; i < rows; i++)
        put(writer, p->record, i, (int64_t)i + 1);
    return writer;
}

/* Rows are added and replaced and the head changes, at any pace: the file only grows; in the end it has a
 * line of each row. */
static void test_all_that_is_saved_is_read(void **state)
{
    const struct place *p = *state;
    struct writer *writer = begin(p, p->record, false);
    struct stat now, before;
    size_t rows = 0;
    assert_int_equal(stat(p->file, &before), 0);
    srand(7);
    for (size_t i = 0; i < 60; i++) {
        ahead += rand() % 4;
        if (i % 10 == 9)
            set_head(writer, p->record, (int64_t)i);
        else
            put(writer, p->record, (size_t)rand() % (rows + 1), (int64_t)i + 1);
        rows = rows_count(record_rows(p->record));
        if (i % 3 == 0 || !getenv("GTMARK_SMALL"))
            assert_saved(p->file, p->record);
        assert_int_equal(stat(p->file, &now), 0);
        assert_true(now.st_ino == before.st_ino && now.st_size > before.st_size);
        assert_int_equal(lines_in(p->file), 1 + i + 1);
        before = now;
    }
    end(writer);
    assert_saved(p->file, p->record);
    assert_int_equal(lines_in(p->file), 1 + rows + 1);
}

/* However fast rows come, data is flushed to disk once a second. */
static void test_flushed_once_a_second(void **state)
{
    const struct place *p = *state;
    struct writer *writer = begin_with_rows(p, 20);
    syncs = 0;
    put(writer, p->record, 0, 100);
    assert_int_equal(syncs, 0);
    for (int i = 0; i < 5; i++) {
        ahead += 2;
        put(writer, p->record, 0, 103);
    }
    assert_int_equal(syncs, 5);
    end(writer);
    assert_int_equal(syncs, 5 + 2); /* the file and its directory */
}

/* A file that ends anywhere has the rows of its whole lines. */
static void test_torn_line(void **state)
{
    const struct place *p = *state;
    end(begin_with_rows(p, 5));
    size_t size, fine = getenv("GTMARK_SMALL") ? 7 : 1;
    char *text = contents(p->file, &size), *first = strchr(text, '\n') + 1;
    for (size_t length = (size_t)(first - text); length <= size;
         length += length + 20 > size || text[length - 1] == '\n' ? fine : 97) {
        size_t lines = 0;
        for (size_t i = 0; i < length; i++)
            lines += text[i] == '\n';
        write_bytes(p->file, text, length);
        assert_int_equal(rows_in(p->file), lines - 1);
    }
    struct record *torn = loaded(p->file);
    end(begin(p, torn, false)); /* what was torn is gone */
    assert_int_equal(rows_in(p->file), rows_count(record_rows(torn)));
    record_free(torn);
    free(text);
}

static void assert_refused(const char *path, const char *wrong)
{
    char error[MESSAGE_SIZE];
    assert_null(record_load(path, error));
    if (!strstr(error, wrong))
        fail_msg("%s: no '%s'", error, wrong);
}

/* A line that is broken elsewhere is an error, which names it. */
static void test_spoilt_lines(void **state)
{
    const struct place *p = *state;
    end(begin_with_rows(p, 3));
    size_t size;
    char *text = contents(p->file, &size), *second = strchr(text, '\n') + 1, *more;
    for (char *at = second + 2; at < second + 200; at += 66) {
        char was = *at;
        *at = '\0';
        write_bytes(p->file, text, size);
        assert_refused(p->file, "line 2: not JSON");
        *at = was;
    }
    const char *const bad[][2] = {{"{}", "line 5: no line of a result file"},
                                  {"", "line 5: not JSON"},
                                  {"[]", "line 5: no line of a result file"},
                                  {"{\"kind\":\"row\",\"run\":\"x\",\"id\":1}",
                                   "line 5: no line of a result file: its run has no head"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_true(asprintf(&more, "%s%s\n", text, bad[i][0]) > 0);
        write_bytes(p->file, more, strlen(more));
        assert_refused(p->file, bad[i][1]);
        free(more);
    }
    free(text);
}

/* Lines of a kind that is not known change nothing; a row has an id. */
static void test_other_lines(void **state)
{
    const struct place *p = *state;
    const char *run = "";
    char *more;
    size_t size;
    end(begin_with_rows(p, 2));
    char *text = contents(p->file, &size);
    value_get_text(record_head(p->record), "run", &run);
    assert_true(
        asprintf(&more, "%s{\"kind\":\"mood\",\"run\":\"%s\",\"benchmark\":1,\"rows\":[]}\n", text, run) > 0);
    write_bytes(p->file, more, strlen(more));
    assert_saved(p->file, p->record);
    free(more);
    assert_true(asprintf(&more, "%s{\"kind\":\"row\",\"run\":\"%s\",\"status\":\"ok\"}\n", text, run) > 0);
    write_bytes(p->file, more, strlen(more));
    assert_refused(p->file, "line 4: no line of a result file: a row without id");
    free(more);
    free(text);
}

/* Of a run that is not complete the rows of a device stand together, by their places, however they came. */
static void test_order_of_rows(void **state)
{
    enum { ROWS_OF_EACH = 20 };
    const struct place *p = *state;
    char error[MESSAGE_SIZE], device[16];
    struct writer *writer = begin(p, p->record, false);
    for (size_t i = 0; i < 3 * ROWS_OF_EACH; i++) {
        struct row *row = good_row(1 + (int64_t)i);
        snprintf(device, sizeof device, "cuda:%zu", i % 3);
        row_set_text(row, "device", device);
        row->position = (int64_t)(i / 3 * 7 % ROWS_OF_EACH);
        row_derive(row);
        assert_true(record_put(p->record, i, false, row, error) && writer_row(writer, i, error));
    }
    struct record *found = loaded(p->file);
    for (size_t i = 0; i < 3 * ROWS_OF_EACH; i++) {
        const struct row *row = rows_at(record_rows(found), i);
        snprintf(device, sizeof device, "cuda:%zu", i / ROWS_OF_EACH);
        assert_string_equal(row->device, device);
        assert_int_equal(row->position, i % ROWS_OF_EACH);
    }
    record_free(found);
    end(writer);
}

/* Files one after the other are the runs of one file; the seam may not be torn. */
static void test_several_runs(void **state)
{
    const struct place *p = *state;
    char error[MESSAGE_SIZE], *more;
    struct file_runs runs;
    end(begin_with_rows(p, 3));
    size_t size;
    char *first = contents(p->file, &size);
    record_free(((struct place *)*state)->record);
    ((struct place *)*state)->record = empty_record();
    end(begin_with_rows(p, 5));
    char *second = contents(p->file, &size);
    assert_true(asprintf(&more, "%s%s", first, second) > 0);
    write_bytes(p->file, more, strlen(more));
    assert_refused(p->file, "has 2 runs: build/merge joins them");
    assert_true(runs_load(p->file, &runs, stderr, error));
    assert_int_equal(runs.count, 2);
    assert_int_equal(rows_count(record_rows(runs.list[0])), 3);
    assert_same(runs.list[1], p->record);
    runs_free(&runs);
    free(more);
    assert_true(asprintf(&more, "%s%s", second, second) > 0);
    write_bytes(p->file, more, strlen(more));
    assert_refused(p->file, "line 7: no line of a result file: a second head of its run");
    free(more);
    assert_true(asprintf(&more, "%.*s%s", (int)strlen(first) - 9, first, second) > 0);
    write_bytes(p->file, more, strlen(more));
    assert_refused(p->file, "line 4: not JSON");
    free(more);
    free(first);
    free(second);
}

/* The file as other programs write it: the first member of each object of a line is its last, with blanks and
 * a byte order mark. */
static void reorder(const char *path)
{
    size_t size, used = 0;
    char *text = contents(path, &size), *changed = calloc(size + 1, 2);
    used += (size_t)sprintf(changed, "\xef\xbb\xbf");
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        char *comma = strchr(line, ',');
        used += (size_t)sprintf(changed + used, "{ %.*s , %.*s }\r\n", (int)(end - comma - 2), comma + 1,
                                (int)(comma - line - 1), line + 1);
    }
    write_bytes(path, changed, used);
    free(changed);
    free(text);
}

/* Members in any order are the same file; its rows are kept when another run replaces it. */
static void test_sorted_members(void **state)
{
    const struct place *p = *state;
    end(begin_with_rows(p, 3));
    reorder(p->file);
    assert_saved(p->file, p->record);
    struct record *other = empty_record();
    end(begin(p, other, true));
    assert_saved(p->kept, p->record);
    record_free(other);
}

/* What a killed program left is kept when another record replaces it; a file without rows is not. */
static void test_what_is_replaced_is_kept(void **state)
{
    const struct place *p = *state;
    struct record *other = empty_record();
    end(begin_with_rows(p, 5));
    end(begin(p, other, true));
    assert_saved(p->kept, p->record);
    assert_saved(p->file, other);
    end(begin(p, other, true));
    assert_saved(p->kept, p->record);
    record_free(other);
}

/* A row that cannot be written leaves no part of it, and is saved with the next one. */
static void test_full_disk(void **state)
{
    const struct place *p = *state;
    struct writer *writer = begin_with_rows(p, 5);
    struct rlimit old, small;
    struct stat before, after;
    char error[MESSAGE_SIZE];
    assert_int_equal(stat(p->file, &before), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){(rlim_t)before.st_size + 1000, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_false(try_row(writer, p->record, 5, 50, error));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_non_null(strstr(error, "result.jsonl: cannot be written: File too large"));
    assert_int_equal(stat(p->file, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
    assert_int_equal(rows_in(p->file), 5);
    put(writer, p->record, 0, 51);
    assert_saved(p->file, p->record);
    end(writer);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(test_all_that_is_saved_is_read),
        IN_PLACE(test_flushed_once_a_second),
        IN_PLACE(test_torn_line),
        IN_PLACE(test_spoilt_lines),
        IN_PLACE(test_other_lines),
        IN_PLACE(test_order_of_rows),
        IN_PLACE(test_several_runs),
        IN_PLACE(test_sorted_members),
        IN_PLACE(test_what_is_replaced_is_kept),
        IN_PLACE(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
