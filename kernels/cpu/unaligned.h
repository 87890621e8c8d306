/*
 * Vectors of `bytes` bytes that are read from and written to any array of their elements. Two types, the
 * vector first: gcc 14 for aarch64 ends in an internal error if one list has vector_size and aligned.
 */
#ifndef GTMARK_KERNELS_CPU_UNALIGNED_H
#define GTMARK_KERNELS_CPU_UNALIGNED_H

#define UNALIGNED_VECTOR(name, type, bytes)                                                                  \
    typedef type name##_register __attribute__((vector_size(bytes)));                                        \
    typedef name##_register name __attribute__((aligned(sizeof(type)), may_alias))

#endif
