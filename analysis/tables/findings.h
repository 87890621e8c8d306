/*
 * The main findings of a result file in words: how the training step grows, how close it comes to the
 * machine's ceilings and what it costs, the fastest kernel, the most expensive encoding.
 */
#ifndef GTMARK_ANALYSIS_FINDINGS_H
#define GTMARK_ANALYSIS_FINDINGS_H

#include "analysis/record/record.h"

#include <stdio.h>

/* Prints one line per finding; nothing for a file without any. */
void findings_print(FILE *out, const struct record *record);

#endif
