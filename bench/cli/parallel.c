#include "bench/cli/parallel.h"

#include <stddef.h>

const char *parallel_name(int way)
{
    static const char *const names[PARALLELS] = {"data", "halo", "ulysses", "ring"};
    return way >= 0 && way < PARALLELS ? names[way] : NULL;
}
