/* Runs the threads of one block at a time. */
#ifndef GTMARK_TESTS_EMULATOR_BLOCK_H
#define GTMARK_TESTS_EMULATOR_BLOCK_H

#include <cstdint>
#include <functional>
#include <vector>

/* What runs. Times are counted in barriers passed, over all blocks. */
struct block_state {
    int thread; /* in the block; -1: none */
    uint32_t time, began;
};
extern struct block_state block_now;

/* The kernel of the running grid. */
const void *grid_kernel(void);

/* Whether the address is just below the stack of the running thread. */
bool block_stack_overflown(const void *address);

/*
 * Calls `thread` for every thread of the block given by blockIdx and blockDim, in this order and in stretches
 * of `stretch` threads: a stretch runs round-robin until all of its threads wait for others; then the next
 * one runs.
 */
void block_run(const std::function<void()> &thread, const std::vector<int> &order, int stretch);

#endif
