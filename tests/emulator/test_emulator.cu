/*
 * The emulated device finds faults that are planted in small kernels, and names kernel, block, thread and
 * line; without its fault each kernel passes. Each runs in a process of its own, which the emulator aborts.
 */
#include "tests/emulator/faults.h"

/* Each reverses the numbers of its block through shared memory, where not stated otherwise. */

__global__ void missing_barrier(float *x, bool fault)
{
    __shared__ float s[THREADS];
    s[threadIdx.x] = x[here()];
    if (!fault)
        __syncthreads();
    x[here()] = s[THREADS - 1 - threadIdx.x];
}

/* The first round's reads are not separated from the second round's writes. */
__global__ void missing_second_barrier(float *x, bool fault)
{
    __shared__ float s[THREADS];
    for (int round = 0; round < 2; round++) {
        s[threadIdx.x] = x[here()];
        __syncthreads();
        x[here()] = s[THREADS - 1 - threadIdx.x];
        if (!fault)
            __syncthreads();
    }
}

__global__ void two_writers(float *x, bool fault)
{
    __shared__ float s[THREADS];
    s[fault ? threadIdx.x / 2 : threadIdx.x] = x[here()];
    __syncthreads();
    x[here()] = s[threadIdx.x / 2];
}

__global__ void barrier_for_some(float *x, bool fault)
{
    if (!fault || threadIdx.x < 40)
        __syncthreads();
    if (threadIdx.x >= 20)
        __syncthreads();
    x[here()] = 1;
}

__global__ void stray_write(float *x, bool fault)
{
    x[fault && here() == 70 ? N + 1 : here()] = 1;
}

__global__ void stray_read(float *x, bool fault)
{
    x[here()] = x[fault && here() == 70 ? -1 : here()];
}

/* Moves pairs of numbers as 8 bytes. */
__global__ void misaligned_read(float *x, bool fault)
{
    typedef uint64_t __attribute__((may_alias)) pair;
    if (here() % 2 == 0)
        *(pair *)(x + here()) = *(const pair *)(x + here() + (fault && here() == 72 ? 1 : 0));
}

__global__ void read_of_shared_before_write(float *x, bool fault)
{
    __shared__ float s[THREADS];
    if (!fault || threadIdx.x != 9)
        s[threadIdx.x] = x[here()];
    __syncthreads();
    x[here()] = s[THREADS - 1 - threadIdx.x];
}

__global__ void read_before_write(float *x, bool fault)
{
    float *fresh = x + N;
    if (!fault || here() != 100)
        fresh[here()] = x[here()];
    x[here()] = fresh[here()];
}

__global__ void beyond_shared(float *x, bool fault)
{
    __shared__ float s[THREADS];
    s[threadIdx.x + (fault && here() == 127 ? 1 : 0)] = x[here()];
    __syncthreads();
    x[here()] = threadIdx.x == 0 ? s[1] : s[threadIdx.x - 1];
}

__global__ void two_blocks_write(float *x, bool fault)
{
    x[fault && here() == 64 ? 3 : here()] = 1;
}

__global__ void block_reads_what_another_writes(float *x, bool fault)
{
    x[N + here()] = x[here()];
    if (fault && here() == 150)
        x[3] = 0;
}

/* Neighbours swap their numbers through device memory. */
__global__ void missing_barrier_of_device_memory(float *x, bool fault)
{
    x[N + here()] = x[here()];
    if (!fault)
        __syncthreads();
    x[here()] = x[N + (here() ^ 1)];
}

/* Four numbers as one store, from each fourth thread. */
static __device__ void store_four(float *to)
{
    if (threadIdx.x % 4 == 0)
        __stwb((float4 *)to, float4{1, 2, 3, 4});
}

__global__ void device_store_of_shared(float *x, bool fault)
{
    alignas(16) __shared__ float s[THREADS];
    store_four(fault ? s + threadIdx.x : x + here());
}

__global__ void misaligned_store(float *x, bool fault)
{
    store_four(x + here() + (fault && here() == 68 ? 1 : 0));
}

__global__ void shuffle_of_some(float *x, bool fault)
{
    unsigned mask = fault && threadIdx.x == 33 ? 1u << 0 : 0xffffffff;
    x[here()] = __shfl_xor_sync(mask, x[here()], 1);
}

__global__ void shuffle_in_a_branch(float *x, bool fault)
{
    float own = x[here()];
    if (!fault || threadIdx.x % 32 < 16)
        own = __shfl_xor_sync(0xffffffff, own, 16);
    x[here()] = own;
}

/* Each half of a warp by itself, as often as it likes. */
__global__ void shuffle_from_the_other_half(float *x, bool fault)
{
    bool lower = threadIdx.x % 32 < 16;
    float total = x[here()];
    for (int i = 0; i < (lower ? 3 : 5); i++)
        total += __shfl_xor_sync(lower ? 0xffff : 0xffff0000, total, fault && i == 4 ? 16 : 1);
    x[here()] = total;
}

__global__ void unset_register(float *x, bool fault)
{
    float y = 1;
    asm volatile("{\n.reg .pred skip;\n.reg .f32 unset;\n"
                 "setp.ne.s32 skip, %1, 0;\n@skip bra $read;\nmov.f32 unset, 0f3F800000;\n"
                 "$read:\nmov.f32 %0, unset;\n}"
                 : "=f"(y)
                 : "r"(fault && here() == 77 ? 1 : 0));
    x[here()] = y;
}

__global__ void division_by_zero(float *x, bool fault)
{
    x[here()] = (float)(1000 / (here() + (fault && here() == 20 ? -20 : 1)));
}

__global__ __launch_bounds__(THREADS) void more_threads_than_bound(float *x, bool)
{
    if (here() < N)
        x[here()] = 1;
}

/* How many blocks there are in y, in the place of each. */
__global__ void count_in_y(float *x, bool)
{
    if (threadIdx.x == 0)
        x[blockIdx.y] = (float)gridDim.y;
}

static const struct planted planted[] = {
    PLANTED(missing_barrier, false, "", "reads shared memory that "),
    PLANTED(missing_second_barrier, false, "", "since the last barrier"),
    PLANTED(two_writers, false, "", "writes shared memory that thread"),
    PLANTED(barrier_for_some, false, "", "barrier"),
    PLANTED(stray_write, false, "block (1, 0, 0), thread 6: ", "writes 4 bytes that are in no allocation"),
    PLANTED(stray_read, false, "block (1, 0, 0), thread 6: ", "reads 4 bytes that are in no allocation"),
    PLANTED(misaligned_read, false, "block (1, 0, 0), thread 8: ", "reads 8 bytes at a misaligned"),
    PLANTED(read_of_shared_before_write, false,
            "thread 54: ", "reads shared memory that no thread of the block has written"),
    PLANTED(read_before_write, true,
            "block (1, 0, 0), thread 36: ", "reads device memory that was never written"),
    PLANTED(beyond_shared, false, "block (1, 0, 0), thread 63: ", "writes 4 bytes at 256 of 256 of shared"),
    PLANTED(two_blocks_write, false, "", "writes device memory that another block wrote"),
    PLANTED(block_reads_what_another_writes, true, "", "device memory that another block"),
    PLANTED(missing_barrier_of_device_memory, true, "", "device memory that "),
    PLANTED(device_store_of_shared, false,
            "called at test_emulator.cu:", "writes 16 bytes that are in no allocation"),
    PLANTED(misaligned_store, false, "block (1, 0, 0), thread 4: ", "writes 16 bytes at a misaligned"),
    PLANTED(shuffle_of_some, false, "thread 33: ", "should be in mask"),
    PLANTED(shuffle_in_a_branch, false, "", "that never arrive"),
    PLANTED(shuffle_from_the_other_half, false, "", "should be in mask"),
    PLANTED(unset_register, false, "block (1, 0, 0), thread 13: ", "a register that it has not written"),
    PLANTED(division_by_zero, false, "block (0, 0, 0), thread 20: ", "divides by zero"),
    PLANTED(more_threads_than_bound, false, "thread 64: ", "its launch bound is 64 threads", 2 * THREADS),
};

static void test_planted_faults(void **)
{
    for (const struct planted &p : planted)
        expect_fault(p);
}

/* Kernels that ask for their number get few, so that small shapes reach the loops over the rest. */
static void test_few_blocks_in_y(void **)
{
    float x[N];
    assert_true(run_kernel(count_in_y, false, false, dim3(1, 5), THREADS, x));
    for (int i = 0; i < 5; i++)
        assert_true(x[i] == (i < 2 ? 2 : (float)i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_planted_faults),
                                       cmocka_unit_test(test_few_blocks_in_y)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
