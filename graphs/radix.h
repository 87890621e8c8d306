/* Sorting words in parallel. */
#ifndef GTMARK_GRAPHS_RADIX_H
#define GTMARK_GRAPHS_RADIX_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Sorts `count` words in place by those of their bits that `mask` has, stably and the same for any number of
 * threads. Needs 8 bytes a word beside them. Without memory: false, and the words as they were.
 */
bool radix_sort(uint64_t *word, int64_t count, uint64_t mask);

#endif
