/* Numbers with the suffixes K, M and G, powers of 1000, as flags take them: "16k". */
#ifndef GTMARK_BENCH_NUMBER_H
#define GTMARK_BENCH_NUMBER_H

#include <stdbool.h>

/* Reads the number that a text begins with; returns what follows it, or null if there is none. */
const char *scan_number(const char *text, double *value);

/* Whether a value is in [min, max], and a whole number where that is asked for. */
bool number_allowed(bool whole, double min, double max, double value);

/* Reads a text that is one allowed number and nothing else. */
bool parse_number(const char *text, bool whole, double min, double max, double *value);

#endif
