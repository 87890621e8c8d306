/* The sizes of the processor's caches that the threads of a run have. */
#ifndef GTMARK_BENCH_CACHES_H
#define GTMARK_BENCH_CACHES_H

#include <stdint.h>

struct caches {
    int64_t l2, llc; /* bytes for all threads together; 0: no such level, or unknown */
};

/*
 * The second level and the last level beyond it, for `threads` threads that are spread over the processors
 * granted to the process: a cache that several threads share counts once. Read from the sysfs directory
 * `root`; null is /sys/devices/system/cpu, with sysconf for what that does not contain.
 */
struct caches caches_find(const char *root, int threads);

#endif
