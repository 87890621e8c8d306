#include "bench/base/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bench/base/clock.h"

bool progress_terminal(int file)
{
    const char *kind = getenv("TERM");
    return isatty(file) && !(kind && strcmp(kind, "dumb") == 0);
}

void progress_start(struct progress *p, int64_t rows)
{
    *p = (struct progress){.terminal = progress_terminal(STDERR_FILENO), .rows = rows};
}

/* A longer line would wrap, and the wrapped part would never be cleared. */
static int line_length(void)
{
    struct winsize w;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 1 ? w.ws_col - 1 : 79;
}

void progress_samples(void *context, int samples, double seconds)
{
    struct progress *p = context;
    double now = clock_now();
    if (!p->terminal || (samples > 0 && now - p->shown < 0.1))
        return;
    p->shown = now;
    double left = (p->remaining > 0 ? p->remaining : 0) + (p->share > seconds ? p->share - seconds : 0);
    char line[160];
    snprintf(line, sizeof line, "[%lld/%lld] %lld nodes, %s: %d sample%s in %.1f s; at most %.0f s left",
             (long long)p->row + 1, (long long)p->rows, (long long)p->nodes, p->program, samples,
             samples == 1 ? "" : "s", seconds, left);
    fprintf(stderr, "\r\033[K%.*s", line_length(), line);
    fflush(stderr);
}

void progress_clear(const struct progress *p)
{
    if (p->terminal)
        fprintf(stderr, "\r\033[K");
}
