
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/child.h"

/* A main thread that ends alone would leave a process that waits for ever. */
static void end_with_thread(void *note)
{
    (void)note;
    _exit(EXIT_MISSED);
}

static FILE *keep_stdout(void)
{
    int own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *out = own < 0 ? NULL : fdopen(own, "w");
    if (!out || (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 && !freopen("/dev/null", "w", stdout)))
        abort();
    return out;
}

static void join_parent(struct guest_note *note)
{
    pthread_key_t key;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGTTOU, SIG_IGN); /* a terminal would stop a group that is not in its foreground */
    signal(SIGTTIN, SIG_IGN);
    if (pthread_key_create(&key, end_with_thread) != 0 || pthread_setspecific(key, note) != 0)
        abort();
}

/* Passes on signals until the child ends; returns how, and the last signal. */
static int attend(pid_t child, const sigset_t *signals, int *passed)
{
    int status = SIGKILL, number;
    while (waitpid(child, &status, WNOHANG) == 0) {
        number = sigwaitinfo(signals, NULL);
        if (number <= 0 || number == SIGCHLD)
            continue;
        kill(child, number);
        *passed = number;
        if (number == SIGTSTP)
            raise(SIGSTOP); /* SIGCONT comes next */
    }
    return status;
}

static int say_ended(const char *program, const char *library, const struct guest_note *note, int status)
{
    struct message how, error;
    child_say_end(status, &how);
    complain(&error, "--plugin %.200s: %s%s%s%s %s", library, note->inside ? "" : "after ",
             note->doing ? note->doing : "nothing", *note->of ? " of " : "", note->of, how.text);
    return message_fail(program, &error, EXIT_MISSED);
}

struct guest_note *supervise(const char *program, const char *library, FILE **out, int *status)
{
    static const int numbers[] = {SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT};
    struct guest_note *note = guest_share();
    sigset_t signals, before;
    int passed = 0;
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(&signals, numbers[i]);
    signal(SIGCHLD, SIG_DFL); /* ignored, nothing would be known of the child */
    sigprocmask(SIG_BLOCK, &signals, &before);
    pid_t child = fork();
    if (child == 0) {
        join_parent(note);
        sigprocmask(SIG_SETMASK, &before, NULL);
        *out = keep_stdout();
        return note;
    }
    int end = child < 0 ? SIGKILL : attend(child, &signals, &passed);
    *status = note->status >= 0 ? note->status : 128 + passed;
    if (note->status < 0 && WIFSIGNALED(end) && WTERMSIG(end) == passed)
        raise(passed); /* once it is not blocked */
    else if (note->status < 0)
        *status = say_ended(program, library, note, end);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return NULL;
}
