/* The lock of a result file: one program at a time writes it, and nobody holds what a killed one left. */
#include "analysis/record/file.h"
#include "analysis/record/result_file.h"
#include "tests/files.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool no_locks;

/* Overrides the C library's. */
int flock(int file, int operation)
{
    if (!no_locks)
        return (int)syscall(SYS_flock, file, operation);
    errno = ENOLCK;
    return -1;
}

static bool exists(const struct test_file *p)
{
    return access(p->path, F_OK) == 0;
}

/* Starts a process that opens a writer and waits, and returns when it has it. */
static pid_t start_holder(const struct test_file *p)
{
    int ends[2];
    char error[MESSAGE_SIZE], byte;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct writer *writer = writer_open(p->path, stderr, error);
        if (writer && write(ends[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return pid;
}

TEST(test_one_writer)
{
    const struct test_file *p = *state;
    char error[MESSAGE_SIZE] = "";
    int status;
    pid_t holder = start_holder(p);
    assert_null(writer_open(p->path, stderr, error));
    assert_non_null(strstr(error, "another program is writing this file"));
    kill(holder, SIGKILL);
    assert_int_equal(waitpid(holder, &status, 0), holder);
    assert_true(exists(p)); /* but nobody holds it */
    assert_true(writer_close(writer_open(p->path, stderr, error), error));
    assert_false(exists(p)); /* nothing was written */
    struct record *record = empty_record();
    struct writer *writer = writer_open(p->path, stderr, error);
    for (int i = 0; i < 2; i++) { /* the file is rewritten under the same lock */
        assert_null(writer_open(p->path, stderr, error));
        assert_true(writer_begin(writer, record, false, error));
    }
    assert_true(writer_close(writer, error));
    assert_int_equal(unlink(p->path), 0);
    record_free(record);
}

TEST(test_no_locks)
{
    const struct test_file *p = *state;
    char error[MESSAGE_SIZE], *said = NULL;
    size_t size;
    FILE *warnings = open_memstream(&said, &size);
    no_locks = true;
    struct writer *writer = writer_open(p->path, warnings, error);
    no_locks = false;
    assert_true(writer && writer_close(writer, error));
    fclose(warnings);
    assert_non_null(strstr(said, "this file system has no locks"));
    assert_ptr_equal(strchr(said, '\n'), said + size - 1);
    free(said);
}

/* Takes the lock many times, and each time replaces the file by a longer one. Returns how often another
 * process did so meanwhile. */
static int take_and_replace(const struct test_file *p, int times)
{
    int both = 0;
    char error[MESSAGE_SIZE];
    struct record *record = empty_record();
    for (int taken = 0; taken < times;) {
        struct writer *writer = writer_open(p->path, stderr, error);
        if (!writer)
            continue;
        taken++;
        char mark[96];
        snprintf(mark, sizeof mark, "%s.mark", p->path);
        int mine = open(mark, O_CREAT | O_EXCL | O_WRONLY, 0600);
        both += mine < 0 || !writer_begin(writer, record, false, error);
        close(mine);
        unlink(mark);
        both += !writer_close(writer, error);
    }
    record_free(record);
    return both;
}

/* Processes that take the lock of a file and replace it at once: a file that was replaced is nobody's lock.
 */
TEST(test_file_that_is_replaced)
{
    const struct test_file *p = *state;
    pid_t pids[4];
    for (int i = 0; i < 4; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            _exit(take_and_replace(p, 100) ? 1 : 0);
    }
    for (int i = 0; i < 4; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(unlink(p->path), 0);
}

GROUP("tests", test_file_open, test_file_close)
