#include "tests/executed.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "bench/base/child.h"
#include "tests/sanitized.h"
#include "tests/test.h"

void needs_valgrind(void)
{
    static const char *const names[] = {"valgrind", "objdump"};
    bool works = ISA_X86 && !SANITIZED;
    for (size_t i = 0; i < 2 && works; i++) {
        const char *arguments[] = {names[i], "--version", NULL};
        pid_t child;
        struct message error;
        works = child_start(&child, arguments, NULL, NULL, &error) && child_wait(child) == 0;
    }
    if (!works)
        skip();
}

void assert_no_child(void)
{
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

bool count_calls(struct valgrind_run run, struct executed_flops *flops, struct message *error)
{
    char directory[PATH_MAX];
    struct stat s;
    assert_true(scratch_make(directory, error));
    run.directory = directory;
    bool counted = executed_by_valgrind(&run, flops, error);
    scratch_remove(directory);
    assert_int_equal(stat(directory, &s), -1);
    assert_no_child();
    return counted;
}
