/* A signal handler can only reach static data. */
#include "bench/base/interrupt.h"

#include <signal.h>
#include <stddef.h>

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
    release(SIGINT);
    release(SIGTERM);
}

static void watch(int number)
{
    struct sigaction old, ours = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &ours, NULL);
}

void interrupt_watch(void)
{
    watch(SIGINT);
    watch(SIGTERM);
    signal(SIGXFSZ, SIG_IGN); /* exceeding `ulimit -f` then fails as a write to a full disk does */
}

int interrupt_signal(void)
{
    return caught;
}
