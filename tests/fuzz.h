/* Shared by the fuzzers (fuzz_*.c), which libFuzzer or tests/replay call with one input after another. */
#ifndef GTMARK_TESTS_FUZZ_H
#define GTMARK_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns 0, or -1 for an input that is not of this fuzzer's form. Aborts if a requirement fails. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "not so: %s\n", what);
    abort();
}

#endif
