/* Command lines for tests. */
#ifndef GTMARK_TESTS_SWEEPS_H
#define GTMARK_TESTS_SWEEPS_H

#include "bench/cli/command_line.h"
#include "bench/cli/plan.h"

/* The options of words that are split at blanks; the test fails if they are refused. What the options point
 * to in the command line (paths, variants) is gone afterwards. */
struct options options_of(const struct bench *b, const char *words);

/* Fails unless these words are refused, with a message that contains `wanted`. */
void refused(const struct bench *b, const char *words, const char *wanted);

/* A sweep over two values of an axis, planned only: "--device=meta --hidden=8,16". */
enum { SWEEP_WORDS = 128 };
void axis_sweep(enum axis a, char words[SWEEP_WORDS]);

#endif
