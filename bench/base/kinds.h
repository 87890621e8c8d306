/* Processors of several kinds in one machine, of which some are faster. */
#ifndef GTMARK_BENCH_KINDS_H
#define GTMARK_BENCH_KINDS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

enum { KIND_NAME = 64 };

/* The first line of a file of sysfs, whose path has `root` and two numbers. False without it. */
enum { KINDS_LINE = 4096 };
bool kinds_line(const char *root, const char *path, int cpu, int index, char line[KINDS_LINE]);

/* The processors in a list such as "0-3,8". */
void kinds_list(const char *list, cpu_set_t *set);

/*
 * Leaves in the set its fastest kind: Intel's cpu_core before cpu_atom, else the highest cpu_capacity. `name`
 * is that kind; empty if all processors of the machine are alike, as far as sysfs says, whose root is `root`,
 * normally "/sys". False if there were others in the set.
 */
bool kinds_fastest(const char *root, cpu_set_t *set, char name[KIND_NAME]);

#endif
