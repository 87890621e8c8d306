/* Runs the threads of one block at a time. */
#ifndef GTMARK_TESTS_EMULATOR_BLOCK_H
#define GTMARK_TESTS_EMULATOR_BLOCK_H

#include "tests/emulator/language.h"

#include <cstdint>
#include <functional>
#include <vector>

/* What runs. Times are counted in barriers passed, over all blocks. */
struct block_state {
    int thread;                     /* in the block; -1: none */
    uint32_t time, began, launched; /* now, and when the block and the grid began */
    struct source_location at;      /* of kernels executed from PTX */
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

/* The last lane of the warp to call it calls `act`, with the addresses that the lanes passed. */
void emulated_together(const void *own, const std::function<void(const uint64_t *lanes)> &act,
                       struct source_location at);

/* What the running thread accesses: fails if that is an error; `code` is where (access.cc). */
void access_expect_aligned(const void *address, size_t bytes, bool writes, const void *code);
void access_device(const char *at, size_t bytes, bool writes, const void *code);
void access_shared(const char *at, size_t bytes, bool writes, const void *code);
/* An asynchronous copy to shared memory begins, or has been waited for; between, access is an error. */
void access_copied(const char *to, size_t bytes, bool begins);

#endif
