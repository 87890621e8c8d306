/* Signals, each in a child process: which are recorded, and the effect of a second one. */
#include "bench/base/interrupt.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static bool has_handler(int number, void (*handler)(int))
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == handler;
}

/* Whether the check returns true in a child; false if a signal ends the child. */
static bool in_child(bool (*check)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(!check());
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool first_is_noted(void)
{
    signal(SIGINT, SIG_DFL);
    interrupt_watch();
    if (interrupt_signal() != 0)
        return false;
    raise(SIGTERM);
    return interrupt_signal() == SIGTERM && has_handler(SIGTERM, SIG_DFL) && has_handler(SIGINT, SIG_DFL);
}

/* As set by nohup, and by shells for background jobs. */
static bool ignored_stays_ignored(void)
{
    signal(SIGINT, SIG_IGN);
    interrupt_watch();
    raise(SIGINT);
    if (interrupt_signal() != 0)
        return false;
    raise(SIGTERM);
    return interrupt_signal() == SIGTERM && has_handler(SIGTERM, SIG_DFL) && has_handler(SIGINT, SIG_IGN);
}

static bool second_ends(void)
{
    first_is_noted();
    raise(SIGTERM);
    return true;
}

static void test_signals(void **state)
{
    (void)state;
    assert_true(in_child(first_is_noted));
    assert_true(in_child(ignored_stays_ignored));
    assert_false(in_child(second_ends));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_signals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
