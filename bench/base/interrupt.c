/* A signal handler can only reach static data. */
#include "bench/base/interrupt.h"

#include <signal.h>
#include <stddef.h>

static const struct {
    int number;
    const char *name;
} watched[] = {{SIGHUP, "SIGHUP"}, {SIGINT, "SIGINT"}, {SIGQUIT, "SIGQUIT"}, {SIGTERM, "SIGTERM"}};
enum { WATCHED = sizeof watched / sizeof *watched };

static volatile sig_atomic_t caught;

static void note_signal(int number);

/* Restores the default action of a signal, unless it was ignored from the start. */
static void release(int number)
{
    struct sigaction now;
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler == note_signal)
        signal(number, SIG_DFL);
}

static void note_signal(int number)
{
    caught = number;
    for (size_t i = 0; i < WATCHED; i++)
        release(watched[i].number);
}

static void watch(int number)
{
    struct sigaction old, ours = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &ours, NULL);
}

void interrupt_watch(void)
{
    for (size_t i = 0; i < WATCHED; i++)
        watch(watched[i].number);
    signal(SIGXFSZ, SIG_IGN); /* exceeding `ulimit -f` then fails as a write to a full disk does */
}

int interrupt_signal(void)
{
    return caught;
}

const char *interrupt_name(void)
{
    for (size_t i = 0; i < WATCHED; i++)
        if (watched[i].number == caught)
            return watched[i].name;
    return "no signal";
}
