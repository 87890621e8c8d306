/* How fast is each op with each kernel of the device, and how close to the limits of the machine? */
#include "bench/sweep/harness.h"

int main(int argc, char **argv)
{
    static const struct bench bench = {
        .name = "bench_kernels",
        .doc = "every op alone, with every kernel of the device, against the roofline",
        .axis = AXIS_NODES,
        .values = "500",
        .budget = 40,
        .kernels = true,
    };
    return bench_main(&bench, argc, argv);
}
