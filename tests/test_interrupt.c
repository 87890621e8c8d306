/* Signals, each in a child process: which are recorded, and the effect of a second one. */
#include "bench/base/interrupt.h"
#include "tests/test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static bool has_handler(int number, void (*handler)(int))
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == handler;
}

/* Whether the check returns true in a child; false if a signal ends the child. */
static bool in_child(bool (*check)(int), int number)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(!check(number));
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static const int watched[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
enum { WATCHED = sizeof watched / sizeof *watched };

/* Also where the tests run in the background, or under nohup. */
static void take_default_actions(void)
{
    for (int i = 0; i < WATCHED; i++)
        signal(watched[i], SIG_DFL);
}

/* Whether the signal is recorded, and the next of any kind has its default action. */
static bool is_noted(int number)
{
    take_default_actions();
    interrupt_watch();
    if (interrupt_signal() != 0)
        return false;
    raise(number);
    bool released = interrupt_signal() == number;
    for (int i = 0; i < WATCHED; i++)
        released = released && has_handler(watched[i], SIG_DFL);
    return released;
}

/* As set by nohup, and by shells for background jobs. */
static bool stays_ignored(int number)
{
    int other = number == SIGTERM ? SIGINT : SIGTERM;
    take_default_actions();
    signal(number, SIG_IGN);
    interrupt_watch();
    raise(number);
    if (interrupt_signal() != 0)
        return false;
    raise(other);
    return interrupt_signal() == other && has_handler(other, SIG_DFL) && has_handler(number, SIG_IGN);
}

static bool second_ends(int number)
{
    if (is_noted(number))
        raise(SIGTERM);
    return true;
}

static bool has_its_name(int number)
{
    char name[32];
    is_noted(number);
    snprintf(name, sizeof name, "SIG%s", sigabbrev_np(number));
    return strcmp(interrupt_name(), name) == 0;
}

TEST(test_signals)
{
    for (int i = 0; i < WATCHED; i++) {
        assert_true(in_child(is_noted, watched[i]));
        assert_true(in_child(stays_ignored, watched[i]));
        assert_true(in_child(has_its_name, watched[i]));
        assert_false(in_child(second_ends, watched[i]));
    }
}
