/* Standard output and standard error of this process, put elsewhere while a benchmark runs in it. */
#ifndef GTMARK_TESTS_SILENCE_H
#define GTMARK_TESTS_SILENCE_H

#include <stdio.h>

/* The streams as they were. */
struct silence {
    int out, err;
};

/* From now on standard output goes nowhere, and standard error to this stream; null: nowhere, too. */
struct silence silence_begin(FILE *err);

/* Puts both back. */
void silence_end(const struct silence *s);

#endif
