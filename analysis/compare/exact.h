/*
 * What is planned, and so the same in every run, compared exactly: planned memory and its peak, FLOPs,
 * minimum bytes and the number of the tape's entries; and executed FLOPs where both files counted one thread
 * of one instruction set and compiler. Noise of the machine has no part in it, so it holds on any machine for
 * continuous integration.
 */
#ifndef GTMARK_ANALYSIS_EXACT_H
#define GTMARK_ANALYSIS_EXACT_H

#include <stdbool.h>
#include <stdio.h>

#include "analysis/compare/comparison.h"

struct exact {
    size_t equal, more, less; /* figures of B, to those of A */
    size_t alone;             /* programs of B that A has not planned */
};

/*
 * Compares files 0 (A) and 1 (B) of a comparison, which has the programs of B. same_compiler: whether
 * executed FLOPs can be compared. Prints a table of the figures that differ, with the first entry of the tape
 * that grew where both have profiles (--profile).
 */
struct exact exact_compare(const struct comparison *c, bool same_compiler, FILE *out);

#endif
