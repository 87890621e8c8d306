/*
 * kernels/rng.h for the host and the device: its functions are plain integer arithmetic, marked for both here
 * so that the room's header knows no CUDA.
 */
#ifndef GTMARK_KERNELS_CUDA_RNG_CUH
#define GTMARK_KERNELS_CUDA_RNG_CUH

#include "kernels/cuda/device.h"

#include <stdint.h>

#define static GT_DEVICE static
#include "kernels/rng.h"
#undef static

#endif
