/*
 * Instructions of compute capability 8.0 that C++ has no words for, as "PTX ISA" defines them; all lanes of a
 * warp execute each but the copies together.
 *
 * Lane l of a warp is thread l % 4 of group l / 4. Of a 16 x 8 matrix of sums, d[0] and d[1] are columns 2 (l
 * % 4) and the next of row l / 4, and d[2] and d[3] those of row l / 4 + 8.
 */
#ifndef GTMARK_KERNELS_CUDA_MMA_CUH
#define GTMARK_KERNELS_CUDA_MMA_CUH

#include <stdint.h>

/* d += a b, where a is 16 x 8 and b 8 x 8: the upper 19 bits of floats. */
static __device__ inline void mma_tf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* d += a b, where a is 16 x 16 and b 16 x 8: pairs of bf16, the first in the lower half. */
static __device__ inline void mma_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ inline uint32_t shared_address(const void *at)
{
    return (uint32_t)__cvta_generic_to_shared(at);
}

/*
 * Matrices of 8 rows of 16 bytes in shared memory, of which lane 8 m + r gives row r of matrix m: to[m] is
 * the word l % 4 of row l / 4.
 */
static __device__ inline void load_matrices(uint32_t (&to)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
}

static __device__ inline void load_matrices(uint32_t (&to)[2], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(shared_address(row))
                 : "memory");
}

/* The same of matrices of 16-bit elements, transposed: elements 2 (l % 4) and the next of column l / 4. */
static __device__ inline void load_transposed(uint32_t (&to)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
}

static __device__ inline void load_transposed(uint32_t (&to)[2], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(shared_address(row))
                 : "memory");
}

/*
 * Copies BYTES (4, 8 or 16) from device to shared memory, or zeros unless `inside`. The thread that copies
 * sees them after copies_wait, other threads after a barrier that follows it.
 */
template <int BYTES> static __device__ inline void copy_async(void *to, const void *from, bool inside)
{
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     :
                     : "r"(shared_address(to)), "l"(from), "r"(inside ? 16 : 0)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                     :
                     : "r"(shared_address(to)), "l"(from), "n"(BYTES), "r"(inside ? BYTES : 0)
                     : "memory");
}

/* The copies since the last call are a group. */
static __device__ inline void copies_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits for all groups of this thread but the last LEFT. */
template <int LEFT> static __device__ inline void copies_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

/* To nearest, ties away from zero. */
static __device__ inline uint32_t round_tf32(float x)
{
    uint32_t bits;
    asm volatile("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}

/* x, from here on: what follows from it is not computed before. */
static __device__ inline uint32_t in_place(uint32_t x)
{
    asm volatile("" : "+r"(x));
    return x;
}

/* To nearest even; the first in the lower half. */
static __device__ inline uint32_t round_bf16(float first, float second)
{
    uint32_t bits;
    asm volatile("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
    return bits;
}

/* As exp2f, but subnormal results are 0: one instruction. */
static __device__ inline float exp2_flushed(float x)
{
    float y;
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

#endif
