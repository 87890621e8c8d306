#include "bench/cli/parallel.h"

#include <stddef.h>

const char *parallel_name(int way)
{
    static const char *const names[PARALLELS] = {"data", "halo", "ulysses", "ring"};
    return way >= 0 && way < PARALLELS ? names[way] : NULL;
}

const char *partition_name(int partition)
{
    static const char *const names[NODE_PARTITIONS] = {"range", "metis"};
    return partition >= 0 && partition < NODE_PARTITIONS ? names[partition] : NULL;
}
