/* Parallel sorting of words. */
#ifndef GTMARK_GRAPHS_RADIX_H
#define GTMARK_GRAPHS_RADIX_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/cancel.h"

/*
 * Sorts `count` words in place by their bits in `mask`, stably and with the same result for any number of
 * threads. Needs 8 more bytes per word. Without memory: false, and the words are unchanged; cancelled: false,
 * and they are in some order.
 */
bool radix_sort(uint64_t *word, int64_t count, uint64_t mask, struct cancel cancel);

#endif
