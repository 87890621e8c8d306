/*
 * --toggle-collect collects while the function runs, and --dump-after writes a profile whenever it returns
 * and begins a new one. Jumps through a procedure linkage table count as part of the call, which is
 * callgrind's default. Valgrind presents a processor with at most AVX2, and computes fused multiply-adds in
 * software: 25 to 28 s for 1e9 FLOPs of them, but 1.3 to 1.8 s for 1e9 FLOPs of SSE.
 */

#include "analysis/statistics/allocate.h"
#include "bench/flops/executed.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/child.h"
#include "bench/base/clock.h"
#include "bench/base/interrupt.h"

/* Paths in the directory: the program, the prefix of callgrind's profiles, and the child's stderr. */
struct places {
    char program[PATH_MAX], out[PATH_MAX], log[PATH_MAX];
};

static bool find_places(const char *directory, struct places *p, struct message *error)
{
    bool fit = snprintf(p->program, PATH_MAX, "%s/program", directory) < PATH_MAX;
    fit &= snprintf(p->out, PATH_MAX, "%s/profile", directory) < PATH_MAX;
    fit &= snprintf(p->log, PATH_MAX, "%s/log", directory) < PATH_MAX;
    return fit || complain(error, "%s: the path is too long", directory);
}

/* Copies this program without debugging information: an older valgrind cannot read that of newer compilers.
 */
static bool copy_program(const char *to, struct message *error)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return complain(error, "/proc/self/exe: cannot be read");
    self[length] = '\0';
    const char *arguments[] = {"strip", "--strip-debug", "-o", to, self, NULL};
    pid_t child;
    return child_start(&child, arguments, NULL, NULL, error) &&
           child_succeeded("strip", child_wait(child), error);
}

static bool start_child(pid_t *child, const struct valgrind_run *run, const struct places *places,
                        struct message *error)
{
    char out[PATH_MAX + 32], toggle[256], dump[256];
    snprintf(out, sizeof out, "--callgrind-out-file=%s", places->out);
    snprintf(toggle, sizeof toggle, "--toggle-collect=%s", run->function);
    snprintf(dump, sizeof dump, "--dump-after=%s", run->function);
    /* no options from the user's files, and no pipes for debuggers in /tmp */
    const char *options[] = {"env",
                             "GTMARK_ISA=base",
                             "OPENBLAS_CORETYPE=Nehalem",
                             "valgrind",
                             "--command-line-only=yes",
                             "--quiet",
                             "--vgdb=no",
                             "--tool=callgrind",
                             "--dump-instr=yes",
                             "--dump-line=no",
                             toggle,
                             dump,
                             out,
                             places->program};
    enum { OPTIONS = sizeof options / sizeof *options, UNLIMITED = 3 };
    size_t count = 0;
    while (run->arguments[count])
        count++;
    const char **all = allocate(OPTIONS + count + 1, sizeof *all);
    memcpy(all, options, sizeof options);
    memcpy(all + OPTIONS, run->arguments, (count + 1) * sizeof *all);
    bool started = child_start(child, run->base ? all : all + UNLIMITED, places->log, NULL, error);
    free(all);
    return started;
}

static bool read_profile(const struct valgrind_run *run, const char *prefix, int call, struct executions *out,
                         struct message *error)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s.%d", prefix, call + 1);
    FILE *in = fopen(path, "r");
    if (!in)
        return complain(error, "valgrind saw no call of %s", run->function);
    bool whole = callgrind_read(in, call, out, error);
    fclose(in);
    return whole;
}

static bool await(pid_t child, const struct valgrind_run *run, const char *log, struct message *error)
{
    double deadline = clock_now() + run->seconds;
    int status;
    while (!child_ended(child, &status))
        if (interrupt_signal() || clock_now() > deadline) {
            child_kill(child);
            return interrupt_signal() ? complain(error, "interrupted")
                                      : complain(error, "takes more than %g s under valgrind", run->seconds);
        }
    return child_succeeded("valgrind", status, error) || child_explain(log, error);
}

static bool is_installed(const char *name, struct message *error)
{
    const char *arguments[] = {name, "--version", NULL};
    pid_t child;
    return child_start(&child, arguments, NULL, NULL, error) &&
           child_succeeded(name, child_wait(child), error);
}

bool valgrind_executions(const struct valgrind_run *run, struct executions *out, struct message *error)
{
    struct places places;
    pid_t child;
    *out = (struct executions){0};
    bool good = is_installed("valgrind", error) && is_installed("objdump", error) &&
                find_places(run->directory, &places, error) && copy_program(places.program, error) &&
                start_child(&child, run, &places, error) && await(child, run, places.log, error);
    for (int i = 0; i < run->calls && good; i++)
        good = read_profile(run, places.out, i, out, error);
    if (good)
        executions_sort(out);
    else
        executions_free(out);
    return good;
}
