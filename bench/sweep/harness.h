#ifndef GTMARK_BENCH_HARNESS_H
#define GTMARK_BENCH_HARNESS_H

#include "bench/cli/options.h"

/*
 * Parses the command line and does what it asks: by default runs the sweep, prints its rows,
 * keeps the result file complete after every row, and draws the charts. Returns the exit status: 0 all rows
 * good, 1 a row is not, 2 usage.
 */
int bench_main(const struct bench *b, int argc, char **argv);

#endif
