/* All result files of some machines on one screen. */
#ifndef GTMARK_ANALYSIS_OVERVIEW_H
#define GTMARK_ANALYSIS_OVERVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { OVERVIEW_MAX = 512 }; /* files */

/*
 * Compares the files of the same name, MACHINE/NAME.jsonl, and prints a table with a column for each machine,
 * and for each name the rows, or of many rows their geometric mean alone; then where the order of two
 * machines flips, and what has no partner. `ignored`: as comparison_load. `build`: the version of this build.
 * False with one line in error[MESSAGE_SIZE] if a file cannot be read, or if there are more than COMPARED_MAX
 * machines.
 */
bool overview_print(FILE *out, const char *const *paths, size_t count, const char *const *ignored,
                    const char *build, char *error);

#endif
