/* How do time, memory and FLOPs grow with the number of layers? */
#include "bench/sweep/harness.h"

int main(int argc, char **argv)
{
    static const struct bench bench = {
        .name = "bench_layer_scaling",
        .doc = "time, memory and FLOPs of a model over the number of its layers",
        .axis = AXIS_LAYERS,
        .values = "2,4,6,8,12,16",
    };
    return bench_main(&bench, argc, argv);
}
