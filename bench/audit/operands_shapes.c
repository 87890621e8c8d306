/* Awkward shapes: see operands.h. */
#include "bench/audit/operands.h"

const struct operands_shape operands_shapes[] = {
    {{1, 2, 1, 1, 1, 1, 1, 1, 0}, true, true, 1},
    {{1, 2, 2, 3, 2, 1, 2, 0, 0}, true, true, 2},
    {{1, 2, 7, 5, 12, 3, 3, 30, 0}, true, true, 3},
    {{1, 2, 13, 17, 11, 1, 2, 20, 0}, true, true, 4},
    {{1, 2, 31, 33, 24, 4, 5, 100, 0}, true, true, 5},
    {{1, 2, 3, 16, 64, 2, 1, 2, 0}, true, true, 6},
    {{1, 2, 67, 129, 40, 5, 4, 333, 0}, false, true, 7},
    {{1, 2, 64, 64, 128, 8, 1, 64, 0}, false, false, 8},
    /* Rows for three threads, many heads and graphs; rows of many vectors, and graphs of several blocks. */
    {{1, 2, 103, 9, 48, 12, 70, 300, 0}, true, false, 9},
    {{1, 2, 40, 3, 252, 4, 2, 150, 0}, true, false, 10},
    {{1, 2, 300, 129, 64, 4, 8, 1500, 0}, false, false, 11},
    {{1, 2, 1087, 3, 8, 1, 3, 9, 0}, false, false, 12},
    {{1, 2, 331, 19, 36, 2, 40, 4100, 0}, false, false, 13},
    /* Rows of over 256 edges, which cpu cuts into pieces (kernels/cpu/edges.h), also narrower than a vector;
     * graphs of several blocks of keys. */
    {{1, 2, 9, 3, 20, 2, 2, 2400, 0}, true, true, 14},
    {{1, 2, 9, 3, 3, 1, 2, 2400, 0}, true, false, 15},
    {{1, 2, 300, 3, 5, 1, 2, 1200, 0}, true, false, 16},
    {.seed = 0},
};
