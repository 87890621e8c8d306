/* Sets of integers, stored as runs of consecutive numbers, so that large sets with few runs are small. */
#ifndef GTMARK_MODELS_RUNS_H
#define GTMARK_MODELS_RUNS_H

#include <stdint.h>

#include "models/tape/arena.h"

/* The numbers first .. end - 1. */
struct run {
    int64_t first, end;
};

/* Runs in ascending order, none adjacent to another; zero-initialised, the empty set. */
struct runs {
    struct run *list;
    int count, capacity;
};

/* Adds a non-empty run. */
void runs_add(struct runs *s, struct arena *arena, struct run r);

/* The number of elements of a run that are in the set. */
int64_t runs_common(const struct runs *s, struct run r);

/* The first run of elements of r that are not in the set; empty if there is none. */
struct run runs_gap(const struct runs *s, struct run r);

#endif
