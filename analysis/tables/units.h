/* Numbers for display: a few significant digits, a prefix, a unit. In UTF-8, or, if the locale has another
 * character set, in ASCII: "us", "+-". */
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
 * The median with three digits, and its interval: "24.2 ± 0.1 ms", with the longer side, if it is at most 10
 * % of the median wide and symmetric (one side at most 1.5 times the other, or longer by the last digit
 * only); otherwise "24.2 [23.9, 26.1] ms". The median alone if an end is not finite.
 */
void units_format_interval(char text[UNITS_TEXT], double value, double low, double high, const char *unit);

/* Decimals that show three digits of a number. */
int units_decimals(double value);

/* Columns of a UTF-8 text on a terminal, one per code point. */
size_t units_width(const char *text);

#endif
