/*
 * HTML, which is also well-formed XML. Every text of a record, a path or a message is written by these
 * functions, which escape it: no text can become markup.
 */
#ifndef GTMARK_ANALYSIS_HTML_H
#define GTMARK_ANALYSIS_HTML_H

#include <stdio.h>

enum { HTML_TEXT_MOST = 4000 }; /* bytes of a text; the rest is cut off */

/*
 * Writes the format. It is markup; the values, of %s, %d, %zu, %lld, %f and %g only, are text, also inside
 * the double quotes of an attribute.
 */
void html(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Writes a text. Line breaks and tabs become blanks; bytes that are not UTF-8, control characters and
 * characters that change the direction of text become U+FFFD.
 */
void html_text(FILE *out, const char *text);

/* Writes a text with its powers, as "N^1.5", raised. */
void html_powers(FILE *out, const char *text);

#endif
