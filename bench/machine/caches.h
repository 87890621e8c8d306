/* How much the processor's caches hold for the threads of a run. */
#ifndef GTMARK_BENCH_CACHES_H
#define GTMARK_BENCH_CACHES_H

#include <stdint.h>

struct caches {
    int64_t l2, llc; /* bytes that all threads have together; 0: there is no such level, or the system does
                        not tell */
};

/*
 * The second level, and the last one beyond it, as `threads` threads find them that the scheduler spreads
 * over the processors granted to the process: a cache that several threads share counts once. Read from sysfs
 * `root`, a directory like /sys/devices/system/cpu; null means that one, with sysconf where it tells nothing.
 */
struct caches caches_find(const char *root, int threads);

#endif
