/* Command lines that a program refuses. */
#ifndef GTMARK_TESTS_REFUSALS_H
#define GTMARK_TESTS_REFUSALS_H

#include "tests/program.h"

/*
 * Runs the program with `words` and, unless null, `more`, as program_run does. It must exit with status 2,
 * print nothing on stdout and one line on stderr that contains `names` (the flag and its value) and, unless
 * null, `allowed`, and must not change any file.
 */
void refuses(const struct house *h, const char *words, const char *const *more, const char *names,
             const char *allowed);

#endif
