/* Sets of whole numbers, held as the runs of neighbours in them, so that a large set of few runs is small. */
#ifndef GTMARK_MODELS_RUNS_H
#define GTMARK_MODELS_RUNS_H

#include <stdint.h>

#include "models/tape/arena.h"

/* The numbers first .. end - 1. */
struct run {
    int64_t first, end;
};

/* Runs in ascending order, none of which touches another; all zero it is empty. */
struct runs {
    struct run *list;
    int count, capacity;
};

/* Adds a run that is not empty. */
void runs_add(struct runs *s, struct arena *arena, struct run r);

/* How many numbers of a run are in the set. */
int64_t runs_common(const struct runs *s, struct run r);

/* The first run of those numbers of r that are not in the set; without any, one that is empty. */
struct run runs_gap(const struct runs *s, struct run r);

#endif
