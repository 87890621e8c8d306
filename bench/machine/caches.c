/* sysfs describes the caches of each processor: level, type, size and which processors share it. It is
 * preferred to sysconf, which on a virtual machine may report the caches of the whole host. */
#include "bench/machine/caches.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/affinity.h"
#include "bench/base/kinds.h"
#include "kernels/arithmetic.h"

enum { INDICES = 16 };

/* One cache, as the first granted processor sees it. */
struct cache {
    int level;
    int64_t size;
    int sharers; /* granted processors that share it, itself included */
};

/* "32768K" in bytes. */
static int64_t size_of(const char *text)
{
    char *end;
    int64_t size = strtoll(text, &end, 10);
    return *end == 'K' ? size << 10 : *end == 'M' ? size << 20 : *end == 'G' ? size << 30 : size;
}

/* How many processors of a list such as "0-3,8" are in the set. */
static int count_shared(const char *list, const cpu_set_t *granted)
{
    cpu_set_t sharing;
    kinds_list(list, &sharing);
    CPU_AND(&sharing, &sharing, granted);
    return CPU_COUNT(&sharing);
}

static bool read_cache(const char *root, int cpu, int index, const cpu_set_t *granted, struct cache *cache)
{
    char line[KINDS_LINE];
    *cache = (struct cache){0};
    if (!kinds_line(root, "%s/cpu%d/cache/index%d/type", cpu, index, line))
        return false;
    if (strncmp(line, "Instruction", strlen("Instruction")) == 0)
        return true;
    if (kinds_line(root, "%s/cpu%d/cache/index%d/level", cpu, index, line))
        cache->level = atoi(line);
    if (kinds_line(root, "%s/cpu%d/cache/index%d/size", cpu, index, line))
        cache->size = size_of(line);
    if (kinds_line(root, "%s/cpu%d/cache/index%d/shared_cpu_list", cpu, index, line))
        cache->sharers = count_shared(line, granted);
    return true;
}

/* The total size of a cache for `threads` threads, if every `sharers` processors share one. */
static int64_t total_size(const struct cache *cache, int processors, int threads)
{
    int sharers = cache->sharers > 0 ? cache->sharers : 1;
    return cache->size * min_of(threads, max_of(1, processors / sharers));
}

struct caches caches_find(const char *root, int threads)
{
    cpu_set_t granted;
    struct cache second = {0}, last = {0}, cache;
    affinity_granted(&granted);
    int first = affinity_first(&granted);
    const char *from = root ? root : "/sys/devices/system/cpu";
    for (int i = 0; i < INDICES && read_cache(from, first, i, &granted, &cache); i++) {
        if (cache.level == 2)
            second = cache;
        if (cache.level > 2 && cache.level > last.level)
            last = cache;
    }
#ifdef _SC_LEVEL2_CACHE_SIZE
    if (!root && !second.size && !last.size) {
        second = (struct cache){2, sysconf(_SC_LEVEL2_CACHE_SIZE), 1};
        last = (struct cache){3, sysconf(_SC_LEVEL3_CACHE_SIZE), CPU_COUNT(&granted)};
    }
#endif
    struct caches found = {total_size(&second, CPU_COUNT(&granted), threads),
                           total_size(&last, CPU_COUNT(&granted), threads)};
    if (found.l2 < 0)
        found.l2 = 0;
    if (found.llc <= found.l2)
        found.llc = 0;
    return found;
}
