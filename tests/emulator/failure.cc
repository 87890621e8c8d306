/* Messages. */
#include "tests/emulator/block.h"
#include "tests/emulator/emulator.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include <cxxabi.h>

std::string emulator_kernel_name(const char *mangled)
{
    const std::string space = "(anonymous namespace)::";
    char *whole = abi::__cxa_demangle(mangled, NULL, NULL, NULL);
    std::string name = whole ? whole : mangled;
    free(whole);
    for (size_t at; (at = name.find(space)) != name.npos;)
        name.erase(at, space.size());
    return name.substr(0, name.find("("));
}

static void print_place(void)
{
    const struct source_location &at = block_now.at;
    fprintf(stderr, "%s, block (%u, %u, %u), thread %d: ", emulator_kernel_name(block_now.kernel).c_str(),
            block_now.index.x, block_now.index.y, block_now.index.z, block_now.thread);
    if (at.file)
        fprintf(stderr, "%s:%d: ", at.file, at.line);
    if (at.calling_file)
        fprintf(stderr, "called at %s:%d: ", at.calling_file, at.calling_line);
}

void emulator_fail(const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "emulated GPU: ");
    if (block_now.thread >= 0)
        print_place();
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    abort();
}
