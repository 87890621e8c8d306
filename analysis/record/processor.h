/* Names of processors, by processors.def. */
#ifndef GTMARK_ANALYSIS_PROCESSOR_H
#define GTMARK_ANALYSIS_PROCESSOR_H

#include "analysis/record/value.h"

enum { PROCESSOR_TEXT = 256 };

/* "Zen 4" for "family 25, model 17, AMD EPYC, stepping 1"; null if it is not known. */
const char *processor_name(const char *cpuid);

/* The same, or "family 25, model 17"; empty if there are no such numbers. */
void processor_short(const char *cpuid, char text[PROCESSOR_TEXT]);

/* The processor of a result file with its name, "Zen 4 (family 25, model 17, AMD EPYC, stepping 1)". */
void processor_text(const struct value *head, char text[PROCESSOR_TEXT]);

#endif
