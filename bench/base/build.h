#ifndef GTMARK_BENCH_BUILD_H
#define GTMARK_BENCH_BUILD_H

#include <stdio.h>

const char *build_commit(void);
const char *build_compiler(void);
const char *build_flags(void);

void build_version(const char *program, FILE *out);

#endif
