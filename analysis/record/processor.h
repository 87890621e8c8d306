/* Names of processors, by processors.def, and of GPUs. */
#ifndef GTMARK_ANALYSIS_PROCESSOR_H
#define GTMARK_ANALYSIS_PROCESSOR_H

#include "analysis/record/value.h"

enum { PROCESSOR_TEXT = 256 };

/* What measured a result file: its GPU, or the processor with its name, "Zen 4 (family 25, model 17, AMD
 * EPYC, stepping 1)". */
void processor_text(const struct value *head, char text[PROCESSOR_TEXT]);

/* The same as "Zen 4" or "family 25, model 17"; empty if there are no such numbers. */
void processor_short(const struct value *head, char text[PROCESSOR_TEXT]);

#endif
