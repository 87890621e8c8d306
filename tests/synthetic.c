/* Synthetic series: first-order autoregressive noise. */
#include "tests/synthetic.h"

#include <math.h>

/* Standard normal numbers, by the Box-Muller method. */
static double normal(uint64_t *state)
{
    double uniform[2];
    for (int i = 0; i < 2; i++) {
        uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        uniform[i] = ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
    }
    return sqrt(-2 * log(uniform[0])) * cos(2 * M_PI * uniform[1]);
}

void make_series(double *x, size_t n, double noise, double r, uint64_t seed)
{
    uint64_t state = seed * UINT64_C(0x632be59bd9b4e019);
    double e = normal(&state);
    for (size_t i = 0; i < n; i++) {
        x[i] = 1 + noise * e;
        e = r * e + sqrt(1 - r * r) * normal(&state);
    }
}
