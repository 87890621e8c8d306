/* The running block, and checks of what its threads access. */
#ifndef GTMARK_TESTS_EMULATOR_BLOCK_H
#define GTMARK_TESTS_EMULATOR_BLOCK_H

#include <vector_types.h>

#include <cstddef>
#include <cstdint>

/* A line of a kernel's source; in a function that was inlined, with the line of the call. */
struct source_location {
    const char *file;
    int line;
    const char *calling_file; /* null: no call */
    int calling_line;
};

/* What runs. Times are counted in barriers passed, over all blocks. */
struct block_state {
    int thread;                     /* in the block; -1: none */
    uint32_t time, began, launched; /* now, and when the block and the grid began */
    struct source_location at;
    const char *kernel; /* as the compiler mangled it */
    uint3 index;
    dim3 size, grid;
};
extern struct block_state block_now;

/* What the running thread accesses: fails if that is an error. */
void access_expect_aligned(const void *address, size_t bytes, bool writes);
void access_device(const char *at, size_t bytes, bool writes);
void access_shared(const char *at, size_t bytes, bool writes);
/* An asynchronous copy to shared memory begins, or has been waited for; between, access is an error. */
void access_copied(const char *to, size_t bytes, bool begins);
/* Where the running block's shared memory is. */
void access_shared_range(char *start, char *end);

#endif
