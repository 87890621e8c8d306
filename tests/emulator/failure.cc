/* Messages, with the names of kernels and source lines from the debugging information, by addr2line. */
#include "tests/emulator/block.h"
#include "tests/emulator/emulator.h"
#include "tests/emulator/language.h"

#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

enum { NAME = 256 };

/* Without the arguments, and unnamed namespaces. */
static void shorten(char *function)
{
    static const char space[] = "(anonymous namespace)::";
    for (char *at; (at = strstr(function, space)) != NULL;)
        memmove(at, at + strlen(space), strlen(at + strlen(space)) + 1);
    function[strcspn(function, "(\n")] = '\0';
}

/* The function and the "file:line" of an address of code; without addr2line, the address. */
static void find_source(const void *code, char function[NAME], char line[NAME])
{
    Dl_info info;
    link_map *module;
    char path[512], command[1024];
    snprintf(function, NAME, "%p", code);
    snprintf(line, NAME, "%p", code);
    if (!dladdr1(code, &info, (void **)&module, RTLD_DL_LINKMAP))
        return;
    snprintf(path, sizeof path, "%s", module->l_name);
    if (!*path)
        snprintf(path, sizeof path, "/proc/%d/exe", (int)getpid());
    snprintf(command, sizeof command, "addr2line -sCfe '%s' %#zx 2>/dev/null", path,
             (size_t)code - module->l_addr);
    FILE *in = popen(command, "r");
    if (!in)
        return;
    if (fgets(function, NAME, in) && fgets(line, NAME, in)) {
        shorten(function);
        line[strcspn(line, " \n")] = '\0';
    }
    pclose(in);
}

std::string emulator_function(const void *code)
{
    char function[NAME], line[NAME];
    find_source(code, function, line);
    return function;
}

[[noreturn]] static void fail(const void *code, const char *format, va_list arguments)
{
    char name[NAME], line[NAME];
    fprintf(stderr, "emulated GPU: ");
    if (block_now.thread >= 0) {
        find_source(grid_kernel(), name, line);
        fprintf(stderr, "%s, block (%u, %u), thread %d: ", name, blockIdx.x, blockIdx.y, block_now.thread);
    }
    if (code) {
        find_source((const char *)code - 1, name, line); /* of the call, not of its return */
        fprintf(stderr, "%s: ", line);
    }
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    abort();
}

void emulator_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(NULL, format, arguments);
}

void emulator_fail_at(const void *code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(code, format, arguments);
}

/* Other faults are those of the program. */
static void on_fault(int number, siginfo_t *info, void *)
{
    if (block_stack_overflown(info->si_addr))
        emulator_fail("stack overflow");
    signal(number, SIG_DFL);
}

void emulator_watch_stacks(void)
{
    static char stack[64 << 10];
    stack_t alternate = {};
    struct sigaction action = {};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    if (sigaltstack(&alternate, NULL) != 0 || sigaction(SIGSEGV, &action, NULL) != 0)
        emulator_fail("no handler of stack overflows");
}
