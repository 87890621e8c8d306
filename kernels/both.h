/*
 * Plain arithmetic that runs on the host and on a GPU from one source: nvcc compiles what is marked GT_DEVICE
 * for both; to a C compiler the mark is nothing.
 */
#ifndef GTMARK_KERNELS_BOTH_H
#define GTMARK_KERNELS_BOTH_H

#ifdef __CUDACC__
#define GT_DEVICE __host__ __device__
#else
#define GT_DEVICE
#endif

#endif
