/* Everything about one configuration: where time and memory go, and the time from graph to first output. */
#include "bench/sweep/harness.h"

int main(int argc, char **argv)
{
    static const struct bench bench = {
        .name = "bench_model",
        .doc = "one configuration: time by op, layer and entry, memory, time to the first output",
        .axis = AXIS_NODES,
        .values = "500",
        .whole = true,
    };
    return bench_main(&bench, argc, argv);
}
