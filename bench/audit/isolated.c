/* A child process for what may crash, hang or exit. It is forked, so that the body needs no arguments. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/audit/audit.h"
#include "bench/base/child.h"
#include "bench/base/clock.h"
#include "bench/base/interrupt.h"

static _Noreturn void become_child(void (*body)(void *), void *context, int log)
{
    struct rlimit no_core = {0, 0};
    int nowhere = open("/dev/null", O_WRONLY);
    setrlimit(RLIMIT_CORE, &no_core);
    dup2(nowhere, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    body(context);
    _exit(CHILD_RETURNED);
}

/* Whether it ended by itself; otherwise it is killed. */
static bool ends_in_time(pid_t child, int *status, volatile const int *runs, double patience)
{
    int seen = *runs;
    double since = clock_now();
    while (!child_ended(child, status)) {
        if (*runs != seen) {
            seen = *runs;
            since = clock_now();
        }
        if (interrupt_signal() || clock_now() - since > patience) {
            child_kill(child);
            return false;
        }
    }
    return true;
}

bool audit_isolated(void (*body)(void *context), void *context, volatile const int *runs, double patience,
                    struct message *error)
{
    char path[64];
    int status, log = memfd_create("stderr", MFD_CLOEXEC);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        become_child(body, context, log);
    if (child < 0 || log < 0)
        return complain(error, "no process: %s", strerror(errno));
    bool in_time = ends_in_time(child, &status, runs, patience);
    bool returned = in_time && WIFEXITED(status) && WEXITSTATUS(status) == CHILD_RETURNED;
    if (!in_time)
        complain(error, "does not return within %g s", patience);
    else if (!returned)
        child_say_end(status, error);
    snprintf(path, sizeof path, "/proc/self/fd/%d", log);
    if (!returned)
        child_explain(path, error);
    close(log);
    return returned;
}
