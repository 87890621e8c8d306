#include "bench/base/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bench/base/clock.h"

enum { LINE = 200 };

bool progress_terminal(int file)
{
    const char *kind = getenv("TERM");
    return isatty(file) && !(kind && strcmp(kind, "dumb") == 0);
}

void progress_start(struct progress *p, int64_t rows)
{
    *p = (struct progress){.terminal = progress_terminal(STDERR_FILENO), .rows = rows, .began = clock_now()};
}

/* Begins the line again, unless that was done less than a tenth of a second ago. */
static bool begin_line(struct progress *p, bool at_once)
{
    double now = clock_now();
    if (!p->terminal || (!at_once && now - p->shown < 0.1))
        return false;
    p->shown = now;
    return true;
}

static void put_line(const struct progress *p, const char *text)
{
    struct winsize w;
    char line[LINE];
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 1;
    snprintf(line, sizeof line, "[%lld/%lld] %s", (long long)p->row + 1, (long long)p->rows, text);
    /* a longer line would wrap, and the wrapped part would never be cleared */
    fprintf(stderr, "\r\033[K%.*s", known ? w.ws_col - 1 : 79, line);
    fflush(stderr);
}

static void put_program(const struct progress *p, const char *what)
{
    char text[LINE], left[32] = "";
    if (isfinite(p->ends))
        snprintf(left, sizeof left, "; about %.0f s left", fmax(0, p->ends - clock_now()));
    snprintf(text, sizeof text, "%lld nodes, %s: %s%s", (long long)p->nodes, p->program, what, left);
    put_line(p, text);
}

void progress_samples(void *context, int samples, double seconds)
{
    struct progress *p = context;
    char what[64];
    if (!begin_line(p, samples == 0))
        return;
    snprintf(what, sizeof what, "%d sample%s in %.1f s", samples, samples == 1 ? "" : "s", seconds);
    put_program(p, what);
}

void progress_check(void *context, const char *op, int entry, int entries)
{
    struct progress *p = context;
    char what[96] = "checking";
    if (!begin_line(p, entry == 0))
        return;
    if (entry > 0)
        snprintf(what, sizeof what, "checking %.40s, op %d of %d", op, entry, entries);
    put_program(p, what);
}

void progress_search(struct progress *p, const char *value)
{
    char text[LINE];
    p->probes++;
    if (!begin_line(p, p->probes == 1))
        return;
    snprintf(text, sizeof text, "--find: trying %.100s; probe %d, %.1f s", value, p->probes,
             clock_now() - p->began);
    put_line(p, text);
}

void progress_clear(const struct progress *p)
{
    if (p->terminal)
        fprintf(stderr, "\r\033[K");
}
