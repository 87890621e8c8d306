#include "bench/base/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/statistics/allocate.h"
#include "bench/base/interrupt.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open -1 /* before Linux 5.3 */
#endif

static int spawn(pid_t *child, const char *const *arguments, const char *log, int output)
{
    posix_spawn_file_actions_t files;
    int error = posix_spawn_file_actions_init(&files);
    if (error)
        return error;
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (output >= 0)
        posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    else
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log ? log : "/dev/null",
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    /* argv is not const only for historical reasons */
    error = posix_spawnp(child, arguments[0], &files, NULL, (char **)arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

bool child_start(pid_t *child, const char *const *arguments, const char *log, int *output,
                 struct message *error)
{
    int ends[2] = {-1, -1};
    if (output && pipe2(ends, O_CLOEXEC) != 0)
        return complain(error, "pipe: %s", strerror(errno));
    int failure = spawn(child, arguments, log, ends[1]);
    if (output) {
        close(ends[1]);
        if (failure)
            close(ends[0]);
        *output = ends[0];
    }
    if (failure == ENOENT || failure == EACCES ||
        failure == ENOTDIR) /* PATH may name folders of others, or files */
        return complain(error, "%s is not installed", arguments[0]);
    return !failure || complain(error, "%s: %s", arguments[0], strerror(failure));
}

/* waitpid, repeated after signals. A child that we cannot wait for counts as killed. */
static bool reap(pid_t child, int *status, int options)
{
    pid_t reaped;
    do
        reaped = waitpid(child, status, options);
    while (reaped < 0 && errno == EINTR);
    if (reaped < 0)
        *status = SIGKILL;
    return reaped != 0;
}

bool child_ended(pid_t child, int *status)
{
    enum { PATIENCE = 20 /* ms */ };
    /* A descriptor of -1, where there are no pidfds, makes this a pause. */
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN};
    poll(&end, 1, PATIENCE);
    if (end.fd >= 0)
        close(end.fd);
    return reap(child, status, WNOHANG);
}

int child_wait(pid_t child)
{
    int status;
    reap(child, &status, 0);
    return status;
}

int child_attend(pid_t child)
{
    int status;
    while (!child_ended(child, &status))
        if (interrupt_signal()) {
            kill(child, interrupt_signal());
            return child_wait(child);
        }
    return status;
}

void child_kill(pid_t child)
{
    kill(child, SIGKILL);
    child_wait(child);
}

bool child_say_end(int status, struct message *how)
{
    if (WIFSIGNALED(status))
        return complain(how, "ends by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return complain(how, "ends the process, with exit status %d", WEXITSTATUS(status));
}

bool child_succeeded(const char *name, int status, struct message *error)
{
    if (WIFSIGNALED(status))
        return complain(error, "%s ended by signal %d (%s)", name, WTERMSIG(status),
                        strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status) == 0 ||
           complain(error, "%s ended with exit status %d", name, WEXITSTATUS(status));
}

bool child_explain(const char *log, struct message *error)
{
    char line[512], last[512] = "";
    FILE *in = fopen(log, "r");
    while (in && fgets(line, sizeof line, in)) {
        const char *text =
            line + strspn(line, "=0123456789 \t"); /* lines of valgrind begin with "==PID== " */
        if (*text && *text != '\n')
            snprintf(last, sizeof last, "%.*s", (int)strcspn(text, "\n"), text);
    }
    if (in)
        fclose(in);
    struct message what = *error;
    return *last ? complain(error, "%.200s: %s", what.text, last) : false;
}

static void put_word(const char *word, FILE *out)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=,.:/@%";
    if (*word && !word[strspn(word, plain)]) { /* nothing in it is special to a shell */
        fputs(word, out);
        return;
    }
    putc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            putc(*word, out);
    putc('\'', out);
}

char *command_text(int argc, char *const *argv)
{
    char *text;
    size_t size;
    FILE *out = open_text(&text, &size);
    for (int i = 0; i < argc; i++) {
        if (i)
            putc(' ', out);
        put_word(argv[i], out);
    }
    fclose(out);
    return text;
}

bool scratch_make(char path[PATH_MAX], struct message *error)
{
    const char *given = getenv("TMPDIR"), *parent = given && *given ? given : "/tmp";
    int length = snprintf(path, PATH_MAX, "%s/gtmark-count-XXXXXX", parent);
    if (length < PATH_MAX && mkdtemp(path))
        return true;
    return complain(error, "TMPDIR=%.300s: cannot be written: %s", parent,
                    strerror(length < PATH_MAX ? errno : ENAMETOOLONG));
}

void scratch_remove(const char *path)
{
    DIR *directory = opendir(path);
    for (struct dirent *e; directory && (e = readdir(directory)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(directory), e->d_name, 0);
    if (directory)
        closedir(directory);
    rmdir(path);
}
