/*
 * The width of texts in charts, and their division into lines. Widths are those of DejaVu Sans Bold, the
 * widest font that the charts use, in units of its size (em).
 */
#ifndef GTMARK_ANALYSIS_TEXT_WIDTH_H
#define GTMARK_ANALYSIS_TEXT_WIDTH_H

#include <stddef.h>

/* The width without gnuplot's markup (\ ^ { }). UTF-8. */
double text_width(const char *text);

/*
 * Breaks text[size] at blanks into lines of at most `width`, as far as `lines` suffice; the last one then
 * ends in "...". A longer word is broken anywhere. In place; `size` is at least strlen(text) + 4. Returns the
 * number of lines; 0 for an empty text.
 */
size_t text_wrap(char *text, size_t size, double width, size_t lines);

#endif
