/*
 * What the control groups of the process allow it (cgroups(7)): its own and all those above it, of version 1
 * and 2. `root` is put before all paths, normally "".
 */
#ifndef GTMARK_BENCH_CONTROL_GROUP_H
#define GTMARK_BENCH_CONTROL_GROUP_H

/* Processors in which its time is limited; infinity without a limit. */
double control_group_cores(const char *root);

/* Bytes that it can still take, never less than 0; infinity without a limit. */
double control_group_free(const char *root);

#endif
