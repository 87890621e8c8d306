/* How do time and memory fall, or throughput rise, with the ranks that share the work? */
#include "bench/sweep/harness.h"

int main(int argc, char **argv)
{
    static const struct bench bench = {
        .name = "bench_rank_scaling",
        .doc = "time and memory of a batch over the MPI ranks that share it",
        .axis = AXIS_RANKS,
        .values = "1",
        .also = {[AXIS_BATCH] = "64", [AXIS_NODES] = "32", [AXIS_THREADS] = "1"},
    };
    return bench_main(&bench, argc, argv);
}
