/* A handler can reach nothing but what is static: this is the one variable of the program that is. */
#include "bench/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t caught;

static void note(int number)
{
    caught = number;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

static void watch(int number)
{
    struct sigaction old, ours = {.sa_handler = note, .sa_flags = SA_RESTART};
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &ours, NULL);
}

void interrupt_watch(void)
{
    watch(SIGINT);
    watch(SIGTERM);
    signal(SIGXFSZ, SIG_IGN); /* what grows beyond `ulimit -f` then cannot be written, as on a full disk */
}

int interrupt_signal(void)
{
    return caught;
}
