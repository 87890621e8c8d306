/*
 * Products of matrices and asynchronous copies on the emulated device: against plain loops over the same
 * numbers, by the fragment layouts of "PTX ISA", and with planted faults.
 */
#include "kernels/cuda/mma.cuh"
#include "tests/emulator/faults.h"

/* Of float i: fractions that no type of the products has exactly. */
static __host__ __device__ float number(int i)
{
    return (float)(((i * 37 + 11) & 127) - 60) / 7;
}

/* Words of a tile's row: no two of eight rows in the same banks. */
enum { ROW = 12 };

/*
 * x = a b, 16 x 8 from 16 x 8 and 8 x 8, of TF32: a by ldmatrix, b as loads of words. With the fault two
 * registers of a are exchanged.
 */
__global__ void product_of_tf32(float *x, bool fault)
{
    alignas(16) __shared__ float tile[16 * ROW];
    int lane = threadIdx.x % 32, group = lane / 4, in_group = lane % 4;
    float d[4] = {};
    uint32_t a[4], b[2];
    if (threadIdx.x < 32)
        for (int i = lane; i < 16 * 8; i += 32)
            tile[i / 8 * ROW + i % 8] = number(i);
    __syncthreads();
    load_matrices(a, tile + lane % 16 * ROW + lane / 16 * 4);
    for (int i = 0; i < 2; i++)
        b[i] = round_tf32(number(200 + (in_group + 4 * i) * 8 + group));
    if (fault) {
        uint32_t other = a[1];
        a[1] = a[2];
        a[2] = other;
    }
    mma_tf32(d, a, b);
    if (here() < 32)
        for (int i = 0; i < 4; i++)
            x[(group + i / 2 * 8) * 8 + in_group * 2 + i % 2] = d[i];
}

/* The same of BF16, 16 x 8 from 16 x 16 and 16 x 8, of which b is transposed by ldmatrix, both copied. */
__global__ void product_of_bf16(float *x, bool fault)
{
    alignas(16) __shared__ uint32_t to_a[16 * ROW], to_b[16 * ROW];
    int lane = threadIdx.x % 32, group = lane / 4, in_group = lane % 4;
    uint32_t *from = (uint32_t *)x + here() / 32 * 32 + N;
    float d[4] = {};
    uint32_t a[4], b[2];
    for (int part = 0; part < 4; part++) {
        int i = part * 32 + lane;
        from[lane] = round_bf16(number(2 * i), number(2 * i + 1));
        if (threadIdx.x < 32)
            copy_async<4>(to_a + i / 8 * ROW + i % 8, from + lane, true);
        if (threadIdx.x < 32 && part < 2) /* again, as b: rows of 8 numbers */
            copy_async<4>(to_b + i / 4 * ROW + i % 4, from + lane, true);
        copies_commit();
        copies_wait<0>();
        __syncthreads();
    }
    load_matrices(a, to_a + lane % 16 * ROW + lane / 16 * 4);
    load_transposed(b, to_b + lane % 16 * ROW);
    if (fault)
        b[1] = b[0];
    mma_bf16(d, a, b);
    if (here() < 32)
        for (int i = 0; i < 4; i++)
            x[(group + i / 2 * 8) * 8 + in_group * 2 + i % 2] = d[i];
}

/* Each reverses pieces of its block's numbers through shared memory, where not stated otherwise. */

/* Two groups of copies, of which it waits for the first, or, with the fault, for none. */
__global__ void copy_not_waited_for(float *x, bool fault)
{
    alignas(16) __shared__ float s[2 * THREADS];
    copy_async<4>(s + threadIdx.x, x + here(), true);
    copies_commit();
    copy_async<4>(s + THREADS + threadIdx.x, x + here(), false);
    copies_commit();
    if (fault)
        copies_wait<2>();
    else
        copies_wait<1>();
    __syncthreads();
    x[here()] = s[THREADS - 1 - threadIdx.x];
}

__global__ void copy_without_barrier(float *x, bool fault)
{
    alignas(16) __shared__ float s[THREADS];
    if (threadIdx.x % 2 == 0)
        copy_async<8>(s + threadIdx.x, x + here(), true);
    copies_commit();
    copies_wait<0>();
    if (!fault)
        __syncthreads();
    x[here()] = s[THREADS - 1 - threadIdx.x];
}

/* A second copy overwrites what others still read. */
__global__ void copy_over_what_is_read(float *x, bool fault)
{
    alignas(16) __shared__ float s[THREADS];
    float total = 0;
    for (int round = 0; round < 2; round++) {
        if (threadIdx.x % 4 == 0)
            copy_async<16>(s + threadIdx.x, x + here(), true);
        copies_commit();
        copies_wait<0>();
        __syncthreads();
        total += s[THREADS - 1 - threadIdx.x];
        if (!fault)
            __syncthreads();
    }
    x[here()] = total;
}

__global__ void misaligned_copy(float *x, bool fault)
{
    alignas(16) __shared__ float s[THREADS + 4];
    if (threadIdx.x % 4 == 0)
        copy_async<16>(s + threadIdx.x + (fault && here() == 68 ? 2 : 0), x + here(), true);
    copies_commit();
    copies_wait<0>();
    __syncthreads();
    x[here()] = fault ? 0 : s[THREADS - 1 - threadIdx.x];
}

/* Beyond x, where nothing is read if zeros are copied. */
__global__ void copy_from_beyond(float *x, bool fault)
{
    __shared__ float s[THREADS];
    copy_async<4>(s + threadIdx.x, x + here() + (here() == 191 ? 1 : 0), here() != 191 || fault);
    copies_commit();
    copies_wait<0>();
    x[here()] = s[threadIdx.x];
}

/* The first matrix of the block's numbers, of which row r is lane r's. */
__global__ void misaligned_row(float *x, bool fault)
{
    alignas(16) __shared__ float s[THREADS + 4];
    uint32_t to[2];
    s[threadIdx.x] = x[here()];
    if (threadIdx.x < 4)
        s[THREADS + threadIdx.x] = 0;
    __syncthreads();
    load_matrices(to, s + threadIdx.x % 16 * 4 + (fault && here() == 69 ? 1 : 0));
    x[here()] = (float)to[1];
}

__global__ void rows_without_barrier(float *x, bool fault)
{
    alignas(16) __shared__ float s[THREADS];
    uint32_t to[2];
    s[threadIdx.x] = x[here()];
    if (!fault)
        __syncthreads();
    load_matrices(to, s + threadIdx.x % 16 * 4);
    x[here()] = (float)to[0];
}

__global__ void product_in_a_branch(float *x, bool fault)
{
    float d[4] = {};
    uint32_t a[4] = {}, b[2] = {};
    if (!fault || threadIdx.x % 32 < 16)
        mma_tf32(d, a, b);
    __syncthreads();
    x[here()] = d[0];
}

/* As the products have them, in other words than the emulator's. */
static float cut(float x)
{
    union {
        float value;
        uint32_t bits;
    } u = {x};
    u.bits &= 0xffffe000;
    return u.value;
}

/* To so many bits after the first. */
static float rounded(float x, int bits, bool ties_to_even)
{
    int exponent;
    float scaled = std::ldexp(std::frexp(x, &exponent), bits + 1);
    return std::ldexp(ties_to_even ? std::nearbyint(scaled) : std::round(scaled), exponent - bits - 1);
}

/* Write the terms of an entry of the product, and return how many these are. */
static int tf32_terms(int row, int column, double *terms)
{
    for (int k = 0; k < 8; k++)
        terms[k] = (double)cut(number(row * 8 + k)) * rounded(number(200 + k * 8 + column), 10, false);
    return 8;
}

static int bf16_terms(int row, int column, double *terms)
{
    for (int k = 0; k < 16; k++)
        terms[k] = (double)rounded(number(row * 16 + k), 7, true) * rounded(number(k * 8 + column), 7, true);
    return 16;
}

/* The sum of multiples of a float's last bit, if it has the exponent of the largest term: cut to a float. */
static float cut_sum(const double *terms, int count)
{
    double largest = 0, sum = 0;
    for (int k = 0; k < count; k++)
        largest = std::fmax(largest, std::fabs(terms[k]));
    double unit = std::ldexp(1.0, std::ilogb(largest) - 23);
    for (int k = 0; k < count; k++)
        sum += std::trunc(terms[k] / unit) * unit;
    float nearest = (float)sum;
    return std::fabs((double)nearest) > std::fabs(sum) ? std::nextafter(nearest, 0.0f) : nearest;
}

/* Whether all 16 x 8 are the sums of those terms, as tensor cores add. */
static bool equals(kernel *k, bool fault, int (*terms_of)(int row, int column, double *terms))
{
    float x[N];
    double terms[16];
    assert_true(run_kernel(k, fault, true, BLOCKS, THREADS, x));
    for (int i = 0; i < 16 * 8; i++)
        if (x[i] != cut_sum(terms, terms_of(i / 8, i % 8, terms)))
            return false;
    return true;
}

static void test_products(void **)
{
    assert_true(equals(product_of_tf32, false, tf32_terms));
    assert_true(equals(product_of_bf16, false, bf16_terms));
    /* A fragment's element in another place is noticed. */
    assert_false(equals(product_of_tf32, true, tf32_terms));
    assert_false(equals(product_of_bf16, true, bf16_terms));
}

static const struct planted planted[] = {
    PLANTED(copy_not_waited_for, false, "", "reads shared memory that a copy writes, not waited for"),
    PLANTED(copy_without_barrier, false, "", "shared memory that "),
    PLANTED(copy_over_what_is_read, false, "", "shared memory that "),
    PLANTED(misaligned_copy, false, "block (1, 0, 0), thread 4: ", "writes 16 bytes at a misaligned"),
    PLANTED(copy_from_beyond, false,
            "block (2, 0, 0), thread 63: ", "reads 4 bytes that are in no allocation"),
    PLANTED(misaligned_row, false, "block (1, 0, 0), thread 5: ", "reads 16 bytes at a misaligned"),
    PLANTED(rows_without_barrier, false, "", "reads shared memory that "),
    PLANTED(product_in_a_branch, false, "", "that never arrive"),
};

static void test_planted_faults(void **)
{
    for (const struct planted &p : planted)
        expect_fault(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products),
                                       cmocka_unit_test(test_planted_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
