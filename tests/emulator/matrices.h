/*
 * Matrix fragments of a warp and asynchronous copies to shared memory: mma, ldmatrix and cp.async of "PTX
 * ISA" (ptx_matrices.cc).
 */
#ifndef GTMARK_TESTS_EMULATOR_MATRICES_H
#define GTMARK_TESTS_EMULATOR_MATRICES_H

#include <cstddef>
#include <cstdint>

enum matrix_type { MATRIX_TF32, MATRIX_BF16 };

/* The registers of a warp's lanes. */
struct warp_product {
    float d[32][4];
    uint32_t a[32][4], b[32][2];
};

/*
 * d += a b: a is 16 x 8 and b 8 x 8 of TF32, or 16 x 16 and 16 x 8 of BF16. How GPUs add is not specified; as
 * was found on some, products are exact, and all terms of a sum lose what lies below the last bit of the
 * largest one, as does their sum (Fasi et al., "Numerical behavior of NVIDIA tensor cores", 2021). Here that
 * bit is a float's: of those that a GPU may keep beyond it, none is.
 */
void multiply_fragments(struct warp_product *p, enum matrix_type type);

/*
 * 8 x 8 matrices of 16-bit elements, row r of matrix m at rows[8 m + r]: to[lane][m], also for lanes that
 * give no row.
 */
void load_fragments(uint32_t (*to)[4], const char *const *rows, int matrices, bool transposed);

/* To nearest, ties away from zero; the 13 lowest bits are 0. */
uint32_t rounded_to_tf32(float x);
/* To nearest even, in the upper and lower half. */
uint32_t rounded_to_bf16(float upper, float lower);

/*
 * The running thread copies `given` bytes from device memory and zeros after them, `bytes` in all, to shared
 * memory, where they are once it has waited; until then nobody may access that memory. A wait leaves as many
 * of the groups committed last.
 */
void copy_begin(char *to, const char *from, size_t bytes, size_t given);
void copy_commit_group(void);
void copy_wait_group(int left);

#endif
