/* Declarations of ref/: ref_<op>_f32, ref_<op>_f64 and ref_<op>_count, and the scratch bytes of each. */
#ifndef GTMARK_KERNELS_REF_REF_H
#define GTMARK_KERNELS_REF_REF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OP(name, doc)                                                                                        \
    void ref_##name##_f32(const void *args);                                                                 \
    void ref_##name##_f64(const void *args);                                                                 \
    void ref_##name##_count(const void *args);                                                               \
    int64_t ref_##name##_f32_scratch(const void *args);                                                      \
    int64_t ref_##name##_f64_scratch(const void *args);                                                      \
    int64_t ref_##name##_count_scratch(const void *args);
#include "kernels/ops_list.h"

#ifdef __cplusplus
}
#endif

#endif
