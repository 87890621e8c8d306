#include "tests/emulator/matrices.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <cstring>

enum { LANES = 32, ROW = 16 /* bytes */ };

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* "The lower 13 bits are ignored." */
static double tf32_element(uint32_t bits, int)
{
    return float_of(bits & ~0x1fffu);
}

static double bf16_element(uint32_t bits, int which)
{
    return float_of(which ? bits & 0xffff0000 : bits << 16);
}

enum { COLUMNS = 8 };

/* 2^n, of a normal number. */
static double power_of_two(int64_t n)
{
    int64_t bits = (n + DBL_MAX_EXP - 1) << (DBL_MANT_DIG - 1);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Without what is below the last bit of a float. */
static double cut(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= ~(uint64_t)0 << (DBL_MANT_DIG - FLT_MANT_DIG);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/*
 * d += a b, for a row of a: products of numbers with few bits are exact, and normal or zero, in double. Bits
 * of positive doubles are ordered as these are, and those of NaN are the largest.
 */
template <int depth> static void add_products(float *d, const double *a, const double (*b)[COLUMNS])
{
    const int64_t infinite = (int64_t)(2 * DBL_MAX_EXP - 1) << (DBL_MANT_DIG - 1);
    double terms[depth + 1][COLUMNS], scale[COLUMNS], plain[COLUMNS] = {};
    int64_t largest[COLUMNS] = {}, shift[COLUMNS];
    int32_t sum[COLUMNS] = {};
    for (int k = 0; k <= depth; k++)
        for (int c = 0; c < COLUMNS; c++) {
            int64_t bits;
            terms[k][c] = k ? a[k - 1] * b[k - 1][c] : (double)d[c];
            plain[c] += terms[k][c];
            memcpy(&bits, &terms[k][c], sizeof bits);
            largest[c] = std::max(largest[c], bits & INT64_MAX);
        }
    for (int c = 0; c < COLUMNS; c++) {
        bool finite = largest[c] < infinite;
        shift[c] = finite ? FLT_MANT_DIG + DBL_MAX_EXP - 2 - (largest[c] >> (DBL_MANT_DIG - 1)) : 0;
        scale[c] = largest[c] ? power_of_two(shift[c]) : 0;
        for (int k = 0; k <= depth && !finite; k++)
            terms[k][c] = 0;
    }
    for (int k = 0; k <= depth; k++)
        for (int c = 0; c < COLUMNS; c++)
            sum[c] += (int32_t)(terms[k][c] * scale[c]);
    for (int c = 0; c < COLUMNS; c++)
        d[c] =
            (float)(largest[c] && largest[c] < infinite ? cut(sum[c]) * power_of_two(-shift[c]) : plain[c]);
}

/*
 * "Matrix Fragments for mma.m16n8k8" (.tf32) and "for mma.m16n8k16 with floating point type" (.bf16), where a
 * register has E elements.
 */
template <int E> static void multiply(struct warp_product &p, double (*element)(uint32_t bits, int which))
{
    double a[16][8 * E], b[8 * E][COLUMNS];
    float d[16][COLUMNS];
    for (int lane = 0; lane < LANES; lane++) {
        int group = lane / 4, in_group = lane % 4;
        for (int e = 0; e < E; e++) {
            for (int i = 0; i < 4; i++)
                a[group + i % 2 * 8][(in_group + i / 2 * 4) * E + e] = element(p.a[lane][i], e);
            for (int i = 0; i < 2; i++)
                b[(in_group + i * 4) * E + e][group] = element(p.b[lane][i], e);
        }
        for (int i = 0; i < 4; i++)
            d[group + i / 2 * 8][in_group * 2 + i % 2] = p.d[lane][i];
    }
    for (int row = 0; row < 16; row++)
        add_products<8 * E>(d[row], a[row], b);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 4; i++)
            p.d[lane][i] = d[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
}

void multiply_fragments(struct warp_product *p, enum matrix_type type)
{
    if (type == MATRIX_TF32)
        multiply<1>(*p, tf32_element);
    else
        multiply<2>(*p, bf16_element);
}

/* "Warp-level matrix load instruction: ldmatrix". */
void load_fragments(uint32_t (*to)[4], const char *const *rows, int matrices, bool transposed)
{
    for (int lane = 0; lane < LANES; lane++)
        for (int m = 0; m < matrices; m++) {
            uint16_t half[2];
            for (int e = 0; e < 2; e++) {
                int row = lane / 4, column = lane % 4 * 2 + e;
                if (transposed)
                    std::swap(row, column);
                memcpy(&half[e], rows[8 * m + row] + column * (int)sizeof *half, sizeof *half);
            }
            to[lane][m] = (uint32_t)half[1] << 16 | half[0];
        }
}

uint32_t rounded_to_tf32(float x)
{
    return x != x ? 0x7fffffff : (bits_of(x) + (std::isinf(x) ? 0 : 0x1000)) & ~0x1fffu;
}

static uint32_t rounded_to_bf16(float x)
{
    uint32_t bits = bits_of(x);
    return x != x ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

uint32_t rounded_to_bf16(float upper, float lower)
{
    return rounded_to_bf16(upper) << 16 | rounded_to_bf16(lower);
}
