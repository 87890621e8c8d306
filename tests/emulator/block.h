/* Runs the threads of one block at a time. */
#ifndef GTMARK_TESTS_EMULATOR_BLOCK_H
#define GTMARK_TESTS_EMULATOR_BLOCK_H

#include <functional>
#include <vector>

/*
 * Calls `thread` for every thread of the block given by blockIdx and blockDim, in this order and in stretches
 * of `stretch` threads: a stretch runs round-robin until all of its threads wait for others; then the next
 * one runs.
 */
void block_run(const std::function<void()> &thread, const std::vector<int> &order, int stretch);

#endif
