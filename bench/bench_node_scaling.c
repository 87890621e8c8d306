/* How do time, memory and FLOPs grow with the number of nodes? */
#include "bench/sweep/harness.h"

int main(int argc, char **argv)
{
    static const struct bench bench = {
        .name = "bench_node_scaling",
        .doc = "time, memory and FLOPs of a model over the number of nodes",
        .axis = AXIS_NODES,
        .values = "100,500,1000,2000,5000",
        .gpu_values = "100,1k,5k,20k,50k",
    };
    return bench_main(&bench, argc, argv);
}
