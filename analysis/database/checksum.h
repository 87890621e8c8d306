/* FNV-1a of 64 bits. */
#ifndef GTMARK_ANALYSIS_CHECKSUM_H
#define GTMARK_ANALYSIS_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t checksum_of(const char *bytes, size_t size)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

#endif
