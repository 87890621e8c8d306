/* How OpenMP's threads wait for work: they spin for a while, then sleep. */
#ifndef GTMARK_BENCH_WAITING_H
#define GTMARK_BENCH_WAITING_H

#include <stddef.h>

/*
 * Starts the program again with GOMP_SPINCOUNT=3000, since libgomp reads it before main. Returns where that
 * or OMP_WAIT_POLICY is set, so the second time too; if built with clang, whose OpenMP has KMP_BLOCKTIME;
 * under valgrind, which would not follow; and if the program cannot be started.
 */
void waiting_shorten(char *const *argv);

/* What decides it: "GOMP_SPINCOUNT=3000", "OMP_WAIT_POLICY=passive", "default of libgomp". */
void waiting_policy(char *text, size_t size);

#endif
