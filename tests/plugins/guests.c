/*
 * A plug-in with a right kernel, and functions that end the process or change what is not theirs
 * (tests/test_guests.sh); AT_OPEN, a variable of the environment, names one that is called when the library
 * is opened.
 */
#include <fenv.h>
#include <float.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gtmark_plugin.h>

static void call_exit(void)
{
    exit(0);
}

static void call_exit_now(void)
{
    _exit(0);
}

static void call_quick_exit(void)
{
    quick_exit(0);
}

static void raise_segv(void)
{
    raise(SIGSEGV);
}

static void raise_fpe(void)
{
    raise(SIGFPE);
}

static void raise_kill(void)
{
    raise(SIGKILL);
}

static void raise_term(void)
{
    raise(SIGTERM);
}

static void call_exec(void)
{
    execlp("true", "true", (char *)NULL);
}

static void end_thread(void)
{
#pragma omp parallel num_threads(2)
    ;
    pthread_exit(NULL);
}

static void *exit_there(void *unused)
{
    (void)unused;
    exit(0);
}

static void end_elsewhere(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, exit_there, NULL);
    pthread_join(thread, NULL);
}

static void end_late(void)
{
    _exit(7);
}

static void exit_at_end(void)
{
    static int is_told;
    if (!is_told++)
        atexit(end_late);
}

static void speak(void)
{
    printf("a guest speaks\n");
    if (write(STDOUT_FILENO, "and writes\n", 11) != 11)
        abort();
}

static void change_locale(void)
{
    setlocale(LC_ALL, "");
    uselocale(LC_GLOBAL_LOCALE);
}

/* Bits 15 and 6 of MXCSR. */
static void flush_to_zero(void)
{
#if defined(__x86_64__)
    unsigned modes = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(modes | 0x8040);
#endif
}

static void change_modes(void)
{
    flush_to_zero();
    fesetround(FE_UPWARD);
}

static void change_threads(void)
{
#pragma omp parallel num_threads(2)
    fesetround(FE_UPWARD);
}

static void rest(void)
{
    usleep(10000);
}

static void nothing(void)
{
}

static const char *report(const struct gtmark_call *call)
{
    static int runs;
    (void)call;
    return ++runs > 8 ? "it \033[31mended\n" : NULL;
}

static int64_t no_scratch(const struct gtmark_call *call)
{
    (void)call;
    return -1;
}

static int64_t all_scratch(const struct gtmark_call *call)
{
    (void)call;
    return INT64_MAX;
}

static const char *set_up(const struct gtmark_call *call, void **state)
{
    (void)call;
    (void)state;
    exit(0);
}

static const char *nothing_to_set_up(const struct gtmark_call *call, void **state)
{
    (void)call;
    (void)state;
    return NULL;
}

static void tear_down(void *state)
{
    (void)state;
    exit(0);
}

#define WAYS(WAY)                                                                                            \
    WAY(call_exit)                                                                                           \
    WAY(call_exit_now)                                                                                       \
    WAY(call_quick_exit)                                                                                     \
    WAY(abort)                                                                                               \
    WAY(raise_segv)                                                                                          \
    WAY(raise_fpe)                                                                                           \
    WAY(raise_kill)                                                                                          \
    WAY(raise_term)                                                                                          \
    WAY(call_exec)                                                                                           \
    WAY(end_thread)                                                                                          \
    WAY(end_elsewhere)                                                                                       \
    WAY(exit_at_end)                                                                                         \
    WAY(speak)                                                                                               \
    WAY(change_locale)                                                                                       \
    WAY(change_modes)                                                                                        \
    WAY(change_threads)                                                                                      \
    WAY(rest)                                                                                                \
    WAY(nothing)

#define RUN(way)                                                                                             \
    static const char *run_##way(const struct gtmark_call *call)                                             \
    {                                                                                                        \
        (void)call;                                                                                          \
        way();                                                                                               \
        return NULL;                                                                                         \
    }
WAYS(RUN)

/* With an error that is not 0. */
static const char *add(const struct gtmark_call *call)
{
    struct gtmark_matrix y = gtmark_matrix(call, "y"), a = gtmark_matrix(call, "a"),
                         b = gtmark_matrix(call, "b");
    for (int64_t i = 0; i < y.rows; i++)
        for (int64_t k = 0; k < y.cols; k++) {
            float *out = (float *)y.data + i * y.ld + k;
            float sum = ((float *)a.data)[i * a.ld + k] + ((float *)b.data)[i * b.ld + k];
            *out = (y.accumulate ? *out : 0) + sum * 1.0000002f;
        }
    return NULL;
}

#define FUNCTION(name, function, ...)                                                                        \
    {                                                                                                        \
        .op = "function", .variant = name, .device = "cpu", .run = function, __VA_ARGS__                     \
    }
#define ENTRY(way) FUNCTION(#way, run_##way),
static const struct gtmark_entry entries[] = {
    WAYS(ENTRY){.op = "add", .variant = "guest", .device = "cpu", .types = GTMARK_F32, .run = add},
    FUNCTION("report", report),
    FUNCTION("no_scratch", run_nothing, .scratch = no_scratch),
    FUNCTION("all_scratch", run_nothing, .scratch = all_scratch),
    FUNCTION("set_up", run_nothing, .setup = set_up),
    FUNCTION("tear_down", run_nothing, .setup = nothing_to_set_up, .teardown = tear_down)};
GTMARK_PLUGIN(entries);

#define CALL(way)                                                                                            \
    if (at_open && strcmp(at_open, #way) == 0)                                                               \
        way();
__attribute__((constructor)) static void open_it(void)
{
    const char *at_open = getenv("AT_OPEN");
    WAYS(CALL)
}
