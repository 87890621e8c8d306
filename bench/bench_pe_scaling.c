/*
 * What do positional and structural encodings cost, and when do they pay off? The default run takes two
 * minutes; to keep it short, models are timed only up to 2000 nodes, only in training steps, and once for all
 * solvers.
 */
#include "bench/sweep/harness.h"

int main(int argc, char **argv)
{
    const struct bench bench = {
        .name = "bench_pe_scaling",
        .doc = "time, memory and storage of encodings, and the model with and without them",
        .axis = AXIS_PE,
        .values = eigensolver_missing_library(SOLVER_AUTO) ? "none,rwse:16" : "none,lap:16,rwse:16",
        .also = {[AXIS_NODES] = "500,2000,10000",
                 [AXIS_GRAPH] = "er:giant,grid,ba",
                 [AXIS_SOLVER] = eigensolver_missing_library(SOLVER_ARPACK) ? NULL : "auto,arpack"},
        .budget = 20,
        .model_nodes = 2000,
        .steps = true,
    };
    return bench_main(&bench, argc, argv);
}
