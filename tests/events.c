#include "tests/events.h"
#include "tests/test.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

void small_pipe(int *reader, int *writer)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    *reader = ends[0];
    *writer = ends[1];
    assert_between(fcntl(*writer, F_SETPIPE_SZ, 4096), 1, 4096);
}

void open_terminal(unsigned short columns, int *master, int *slave)
{
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    *master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*master < 0 || grantpt(*master) != 0 || unlockpt(*master) != 0)
        skip();
    assert_int_equal(ioctl(*master, TIOCSWINSZ, &size), 0);
    *slave = open(ptsname(*master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(*slave >= 0);
    assert_int_equal(setenv("TERM", "xterm", 1), 0);
}

/* A terminal without another end fails to be read; then, too, the output is over. */
bool read_until(int reader, const char *text, int times)
{
    size_t known = 0;
    for (char byte; times > 0 && read(reader, &byte, 1) == 1;) {
        known = byte == text[known] ? known + 1 : byte == text[0];
        if (text[known])
            continue;
        known = 0;
        times--;
    }
    return times == 0;
}

char *read_rest(int reader)
{
    char *text = NULL, bytes[4096];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (ssize_t n; (n = read(reader, bytes, sizeof bytes)) > 0;)
        fwrite(bytes, 1, (size_t)n, out);
    fclose(out);
    close(reader);
    return text;
}

static void look_again_soon(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* A file of /proc/PID; fails if the process has ended. To be freed. */
static char *process_file(pid_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        fail_msg("process %d has ended", (int)pid);
    return read_rest(file);
}

/* Its state and its processor time in ticks, which follow the name in parentheses (proc(5)). */
static long ticks_of(pid_t pid)
{
    char *text = process_file(pid, "stat"), state;
    unsigned long user, system;
    assert_int_equal(sscanf(strrchr(text, ')'), ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                            &state, &user, &system),
                     3);
    free(text);
    if (state == 'Z')
        fail_msg("process %d has ended", (int)pid);
    return (long)(user + system);
}

void wait_for_cpu(pid_t pid, double seconds)
{
    long wanted = ticks_of(pid) + (long)(seconds * (double)sysconf(_SC_CLK_TCK));
    while (ticks_of(pid) < wanted)
        look_again_soon();
}

static bool has_handler(pid_t pid, int number)
{
    char *text = process_file(pid, "status"), *at = strstr(text, "SigCgt:");
    unsigned long long caught = 0;
    assert_true(ticks_of(pid) >= 0 && at && sscanf(at, "SigCgt: %llx", &caught) == 1);
    free(text);
    return caught >> (number - 1) & 1;
}

void wait_for_no_handler(pid_t pid, int number)
{
    while (has_handler(pid, number))
        look_again_soon();
}

void wait_for_file(pid_t pid, const char *path)
{
    while (access(path, F_OK) != 0 && ticks_of(pid) >= 0)
        look_again_soon();
}
