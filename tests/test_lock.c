/* The lock of a result file: one program at a time writes it, and nobody holds what a killed one left. */
#include "analysis/record/lock.h"
#include "analysis/record/store.h"
#include "tests/files.h"
#include "tests/test.h"

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

static bool has_lock_file(const struct test_file *p)
{
    char lock[96];
    snprintf(lock, sizeof lock, "%s.lock", p->path);
    return access(lock, F_OK) == 0;
}

/* Starts a process that opens a store and waits, and returns when it has it. */
static pid_t start_holder(const struct test_file *p)
{
    int ends[2];
    char error[MESSAGE_SIZE], byte;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct store *store = store_open(p->path, stderr, error);
        if (store && write(ends[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return pid;
}

static void test_one_writer(void **state)
{
    const struct test_file *p = *state;
    char error[MESSAGE_SIZE] = "";
    int status;
    pid_t holder = start_holder(p);
    assert_null(store_open(p->path, stderr, error));
    assert_non_null(strstr(error, "another program is writing this file"));
    assert_int_not_equal(access(p->path, F_OK), 0);
    kill(holder, SIGKILL);
    assert_int_equal(waitpid(holder, &status, 0), holder);
    assert_true(has_lock_file(p)); /* but nobody holds it */
    assert_true(store_close(store_open(p->path, stderr, error), error));
    assert_false(has_lock_file(p));
}

static void test_no_locks(void **state)
{
    const struct test_file *p = *state;
    char error[MESSAGE_SIZE], *said = NULL;
    size_t size;
    FILE *warnings = open_memstream(&said, &size);
    no_locks = true;
    struct store *store = store_open(p->path, warnings, error);
    no_locks = false;
    assert_true(store && store_close(store, error));
    fclose(warnings);
    assert_non_null(strstr(said, "this file system has no locks"));
    assert_ptr_equal(strchr(said, '\n'), said + size - 1);
    free(said);
}

/* Takes the lock many times. Returns how often another process had it too. */
static int take_and_release(const struct test_file *p, int times)
{
    int both = 0;
    char lock[96];
    snprintf(lock, sizeof lock, "%s.lock", p->path);
    for (int file, taken = 0; taken < times;) {
        if (lock_take(lock, &file) != LOCK_TAKEN)
            continue;
        taken++;
        int mine = open(p->path, O_CREAT | O_EXCL | O_WRONLY, 0600);
        both += mine < 0;
        close(mine);
        unlink(p->path);
        lock_release(lock, file);
    }
    return both;
}

/* Processes that take and release the lock at once: a file that is being removed is nobody's lock. */
static void test_lock_file_that_is_removed(void **state)
{
    const struct test_file *p = *state;
    pid_t pids[4];
    for (int i = 0; i < 4; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            _exit(take_and_release(p, 1000) ? 1 : 0);
    }
    for (int i = 0; i < 4; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    assert_false(has_lock_file(p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_writer),
        cmocka_unit_test(test_no_locks),
        cmocka_unit_test(test_lock_file_that_is_removed),
    };
    return cmocka_run_group_tests(tests, test_file_open, test_file_close);
}
