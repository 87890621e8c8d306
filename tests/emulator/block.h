/* The threads of one block at a time. */
#ifndef GTMARK_TESTS_EMULATOR_BLOCK_H
#define GTMARK_TESTS_EMULATOR_BLOCK_H

#include <functional>
#include <vector>

/*
 * Calls `thread` for every thread of the block that blockIdx and blockDim name, in this order, `stretch` of
 * them at a time: they go on, in turn, until all of them wait for others; then the next stretch does.
 */
void block_run(const std::function<void()> &thread, const std::vector<int> &order, int stretch);

#endif
