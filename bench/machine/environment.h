/* Variables of the environment that change what NVIDIA's libraries compute. */
#ifndef GTMARK_BENCH_ENVIRONMENT_H
#define GTMARK_BENCH_ENVIRONMENT_H

#include <stddef.h>

/*
 * Removes them from the environment, before the libraries read it. Their names are written to `names`,
 * separated by ", "; it is empty if there were none.
 */
void environment_clear(char *names, size_t size);

#endif
