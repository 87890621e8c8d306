/* How much throughput does batching gain, and how much would padding the graphs waste? */
#include "bench/sweep/harness.h"

int main(int argc, char **argv)
{
    static const struct bench bench = {
        .name = "bench_batch_scaling",
        .doc = "latency and throughput over the number of graphs in a batch",
        .axis = AXIS_BATCH,
        .values = "1,2,4,8,16,32,64,128",
        .gpu_values = "1,8,32,128,512,2048",
    };
    return bench_main(&bench, argc, argv);
}
