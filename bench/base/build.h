/* How this program was built. */
#ifndef GTMARK_BENCH_BUILD_H
#define GTMARK_BENCH_BUILD_H

#include <stdio.h>

const char *build_commit(void);
const char *build_compiler(void);
const char *build_flags(void);

/* What --version prints in every program: its name, and the three above. */
void build_version(const char *program, FILE *out);

#endif
