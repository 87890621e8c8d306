/* The threads of one block at a time. */
#ifndef GTMARK_TESTS_EMULATOR_BLOCK_H
#define GTMARK_TESTS_EMULATOR_BLOCK_H

#include <functional>
#include <vector>

/* Calls `thread` for every thread of the block that blockIdx and blockDim name; between barriers in this
 * order. */
void block_run(const std::function<void()> &thread, const std::vector<int> &order);

#endif
