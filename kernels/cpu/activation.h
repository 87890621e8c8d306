/* The activations of kernels/activation.h using vector_math.h, for inlining in loops over many elements. */
#ifndef GTMARK_KERNELS_CPU_ACTIVATION_H
#define GTMARK_KERNELS_CPU_ACTIVATION_H

#include "kernels/cpu/vector_math.h"

#define normal_cdf(x)        vm_normal_cdf(x)
#define normal_density(x)    vm_normal_density(x)
#define exponential(x)       vm_exp(x)
#define times_logistic(x, v) ((x)*vm_logistic(v))

#include "kernels/activation.h"

#endif
