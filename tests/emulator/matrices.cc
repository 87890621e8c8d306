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

/* The sum of terms that lose what is below the last bit of a float of the largest one's size, as does the
 * sum. */
static float cut_sum(const double *terms, int count)
{
    double largest = 0, plain = 0;
    for (int k = 0; k < count; k++) {
        largest = std::fmax(largest, std::fabs(terms[k]));
        plain += terms[k];
    }
    if (largest == 0 || !std::isfinite(plain))
        return (float)plain;
    int shift = FLT_MANT_DIG - 1 - std::ilogb(largest), cut = 0;
    double scale = std::ldexp(1.0, shift);
    int64_t sum = 0;
    for (int k = 0; k < count; k++)
        sum += (int64_t)(terms[k] * scale);
    while (std::abs(sum) >> cut >= (int64_t)1 << FLT_MANT_DIG)
        cut++;
    return (float)std::ldexp((double)(sum / ((int64_t)1 << cut)), cut - shift);
}

/*
 * "Matrix Fragments for mma.m16n8k8" (.tf32) and "for mma.m16n8k16 with floating point type" (.bf16), where a
 * register has E elements.
 */
template <int E> static void multiply(struct warp_product &p, double (*element)(uint32_t bits, int which))
{
    double a[16][8 * E], b[8][8 * E];
    for (int lane = 0; lane < LANES; lane++) {
        int group = lane / 4, in_group = lane % 4;
        for (int e = 0; e < E; e++) {
            for (int i = 0; i < 4; i++)
                a[group + i % 2 * 8][(in_group + i / 2 * 4) * E + e] = element(p.a[lane][i], e);
            for (int i = 0; i < 2; i++)
                b[group][(in_group + i * 4) * E + e] = element(p.b[lane][i], e);
        }
    }
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 4; i++) {
            int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
            double terms[8 * E + 1] = {(double)p.d[lane][i]};
            for (int k = 0; k < 8 * E; k++)
                terms[k + 1] = a[row][k] * b[column][k];
            p.d[lane][i] = cut_sum(terms, 8 * E + 1);
        }
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
