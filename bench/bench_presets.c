/* What do published models cost? One of each family of datasets: molecules, blocks, superpixels, calls of
 * functions, peptides, and molecules with a large model. */
#include "bench/sweep/harness.h"

int main(int argc, char **argv)
{
    static const struct bench bench = {
        .name = "bench_presets",
        .doc = "time, memory and FLOPs of published models on stand-ins for their data",
        .axis = AXIS_PRESET,
        .values = "zinc,pattern,cifar10,malnet,peptides-func,pcqm4m-small",
        .budget = 120,
    };
    return bench_main(&bench, argc, argv);
}
