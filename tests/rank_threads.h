/*
 * Ranks as threads of one process, for tests without MPI. What is begun happens when it is waited for; in
 * between the memory to receive into is NaN or garbage.
 */
#ifndef GTMARK_TESTS_RANK_THREADS_H
#define GTMARK_TESTS_RANK_THREADS_H

#include "kernels/ranks.h"

enum { RANKS_MOST = 8 };

/* Calls the body once on each of `count` ranks, at the same time. */
void rank_threads_run(int count, void (*body)(const struct ranks *r, void *context), void *context);

#endif
