/* Messages, with the names of kernels and source lines from the debugging information, by addr2line. */
#include "tests/emulator/block.h"
#include "tests/emulator/emulator.h"
#include "tests/emulator/language.h"

#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

enum { NAME = 512 };

/* Without the arguments, and unnamed namespaces. */
static void shorten(char *function)
{
    static const char space[] = "(anonymous namespace)::";
    for (char *at; (at = strstr(function, space)) != NULL;)
        memmove(at, at + strlen(space), strlen(at + strlen(space)) + 1);
    function[strcspn(function, "(\n")] = '\0';
}

/* The file that has an address of code, and its offset there. */
static bool find_file(const void *code, char path[NAME], size_t *offset)
{
    Dl_info info;
    link_map *module;
    if (!dladdr1(code, &info, (void **)&module, RTLD_DL_LINKMAP))
        return false;
    *offset = (size_t)code - module->l_addr;
    if (*module->l_name)
        snprintf(path, NAME, "%s", module->l_name);
    else
        snprintf(path, NAME, "/proc/%d/exe", (int)getpid());
    return true;
}

/* The function and the "file:line" of an address of code; without addr2line, the address. */
static void find_source(const void *code, char function[NAME], char line[NAME])
{
    char path[NAME], command[2 * NAME];
    size_t offset;
    snprintf(function, NAME, "%p", code);
    snprintf(line, NAME, "%p", code);
    if (!find_file(code, path, &offset))
        return;
    snprintf(command, sizeof command, "addr2line -sCfe '%s' %#zx 2>/dev/null", path, offset);
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

/* The names of the functions in a file, by offset. Others are left out: a thread-local variable's value is an
 * offset in its own segment, which may be a function's too. */
static std::map<size_t, std::string> symbols(const char *path)
{
    std::map<size_t, std::string> names;
    char line[2 * NAME], name[2 * NAME], command[2 * NAME], kind;
    size_t at;
    snprintf(command, sizeof command, "nm '%s' 2>/dev/null", path);
    FILE *in = popen(command, "r");
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "%zx %c %1023s", &at, &kind, name) == 3 && strchr("tTwW", kind))
            names[at] = name;
    if (in)
        pclose(in);
    return names;
}

std::string emulator_symbol(const void *function)
{
    char path[NAME];
    size_t offset;
    if (!find_file(function, path, &offset))
        return "";
    static std::map<size_t, std::string> names = symbols(path);
    return names[offset];
}

[[noreturn]] static void fail(const void *code, const char *format, va_list arguments)
{
    char name[NAME], line[NAME];
    fprintf(stderr, "emulated GPU: ");
    if (block_now.thread >= 0) {
        find_source(grid_kernel(), name, line);
        fprintf(stderr, "%s, block (%u, %u), thread %d: ", name, blockIdx.x, blockIdx.y, block_now.thread);
    }
    if (!code && block_now.at.file)
        fprintf(stderr, "%s:%d: ", block_now.at.file, block_now.at.line);
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
