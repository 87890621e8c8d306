/* Numbers for display: a few significant digits, a prefix, a unit. UTF-8. */
#ifndef GTMARK_ANALYSIS_UNITS_H
#define GTMARK_ANALYSIS_UNITS_H

#include <stddef.h>

enum { UNITS_TEXT = 64 }; /* bytes of the longest text, terminator included */

/* Prefixes step by 1000 (k, M, ...; m, µ, n) or by 1024 (Ki, Mi, ...). */
enum unit_base { UNITS_SI, UNITS_BINARY };

/* "12.3 ms", "1.50 GiB": three significant digits. */
void units_format(char text[UNITS_TEXT], double value, enum unit_base base, const char *unit);

/* "10 ms", "1.5k": only as many digits as the value has, at most six. For ticks; no space without a unit. */
void units_format_short(char text[UNITS_TEXT], double value, enum unit_base base, const char *unit);

/*
 * "12.30 ± 0.04 ms": as many decimals as the half-width of the interval justifies, at most five digits in
 * all; the value alone if the half-width is not finite.
 */
void units_format_interval(char text[UNITS_TEXT], double value, double half_width, const char *unit);

/* Columns of a UTF-8 text on a terminal, one per code point. */
size_t units_width(const char *text);

#endif
