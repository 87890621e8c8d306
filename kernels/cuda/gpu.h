/* NVIDIA GPUs as a struct device (kernels/backend.h). The context is a struct cuda_context. */
#ifndef GTMARK_KERNELS_CUDA_GPU_H
#define GTMARK_KERNELS_CUDA_GPU_H

#include "kernels/backend.h"

extern const struct device cuda_gpu;

/* Of its members these (choices.c). */
void choices_tell(void *context, bool lines, void (*tell)(void *to, const char *text), void *to);
void choices_recall(void *context, const char *line);

#endif
