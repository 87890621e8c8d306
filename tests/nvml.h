/* Access to the library of tests/nvml in tests. */
#ifndef GTMARK_TESTS_NVML_H
#define GTMARK_TESTS_NVML_H

#include <limits.h>

#include "bench/machine/nvml.h"
#include "tests/nvml/played.h"

/* An open library, the answers it plays, and its path. */
struct player {
    void *library;
    struct played *played;
    char path[PATH_MAX];
};

/* Opens "whole", "old" or "part", with no answers set. */
struct player player_open(const char *kind);
void player_close(struct player *p);

#endif
