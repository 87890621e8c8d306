/*
 * The main findings of a result file in words: how the training step grows, how near it comes to the
 * machine's ceilings and what it takes, what the kernels leave, what encodings cost.
 */
#ifndef GTMARK_ANALYSIS_FINDINGS_H
#define GTMARK_ANALYSIS_FINDINGS_H

#include "analysis/record/record.h"

#include <stdio.h>

/* A line for each; nothing for a file that says nothing of them. */
void findings_print(FILE *out, const struct record *record);

#endif
