/* Where more ranks no longer save memory, and where they suffice, by the rows of a sweep over ranks. */
#ifndef GTMARK_ANALYSIS_RANK_MEMORY_H
#define GTMARK_ANALYSIS_RANK_MEMORY_H

#include "analysis/record/row.h"

#include <stdio.h>

/*
 * A line for each set of rows that differ only in ranks, with `weak` also in graphs or in nodes, of which
 * there are as many for each rank; nothing of a set on one number of ranks. limit: bytes that a rank may use;
 * 0: none was given.
 */
void findings_print_rank_memory(FILE *out, const struct rows *rows, bool weak, double limit);

#endif
