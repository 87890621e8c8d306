/* What --find-crossover asks for: two or more variants, and the axis along which one may overtake another. */
#ifndef GTMARK_BENCH_CROSSOVER_OPTIONS_H
#define GTMARK_BENCH_CROSSOVER_OPTIONS_H

#include "bench/cli/axes.h"

enum crossover_kind { CROSSOVER_NONE, CROSSOVER_AXIS, CROSSOVER_OPS, CROSSOVER_ENCODING };

struct crossover {
    enum crossover_kind kind;
    const char *values; /* of the variants: "dense,sparse" */
    enum axis variants; /* AXIS: which axis they are values of */
    int program;        /* ENCODING: the program of the same row that the encoding is compared with */
    enum axis over;     /* nodes, degree, batch or layers */
};

#endif
