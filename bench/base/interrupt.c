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

/* Restores the default action of all, unless it was ignored from the start. */
static void note_signal(int number)
{
    struct sigaction now;
    caught = number;
    for (size_t i = 0; i < WATCHED; i++)
        if (sigaction(watched[i].number, NULL, &now) == 0 && now.sa_handler == note_signal)
            signal(watched[i].number, SIG_DFL);
}

void interrupt_watch(void)
{
    struct sigaction old, ours = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < WATCHED; i++)
        if (sigaction(watched[i].number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(watched[i].number, &ours, NULL);
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
