#include "bench/base/build.h"

#ifndef BUILD_FLAGS
#define BUILD_FLAGS "unknown"
#endif
#ifndef BUILD_COMMIT
#define BUILD_COMMIT "unknown"
#endif

const char *build_commit(void)
{
    return BUILD_COMMIT;
}

const char *build_compiler(void)
{
#ifdef __clang__
    return __VERSION__;
#else
    return "gcc " __VERSION__;
#endif
}

const char *build_flags(void)
{
    return BUILD_FLAGS;
}

void build_version(const char *program, FILE *out)
{
    fprintf(out, "%s of gtmark, commit %s\ncompiler %s\nflags %s\n", program, build_commit(),
            build_compiler(), build_flags());
}
