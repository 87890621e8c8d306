/*
 * Which kernels are launched, and how long each takes: struct device, kernels_begin to kernels_end. By CUPTI,
 * which is opened then; it need not be there.
 */
#ifndef GTMARK_KERNELS_CUDA_CUPTI_H
#define GTMARK_KERNELS_CUDA_CUPTI_H

#include "kernels/backend.h"

bool cupti_begin(void *context, char *why, size_t size);
void cupti_of(void *context, int number);
struct launched *cupti_end(void *context, int *count);

#endif
