/*
 * Running gnuplot on scripts, and writing texts into them.
 */
#ifndef GTMARK_ANALYSIS_GNUPLOT_H
#define GTMARK_ANALYSIS_GNUPLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum gnuplot_result { GNUPLOT_DONE, GNUPLOT_MISSING, GNUPLOT_FAILED };

/*
 * Runs gnuplot on the files scripts[n], of any names, all at the same time, and waits. Its output goes to
 * stderr. DONE does not mean that the pictures are whole: gnuplot does not notice a full disk.
 */
enum gnuplot_result gnuplot_run(const char *const *scripts, size_t n);

/* Writes any text as a quoted gnuplot string. */
void gnuplot_put_string(FILE *out, const char *text);

/* Writes a line that assigns a text to a variable. */
void gnuplot_put_text(FILE *out, const char *variable, const char *text);

/* The same of an element of an array. */
void gnuplot_put_element(FILE *out, const char *array, size_t i, const char *text);

/* Writes an element of a list of ticks, whose labels are formats. */
void gnuplot_put_tick(FILE *out, bool first, const char *label, double at);

enum { GNUPLOT_LABEL = 1024 };

/*
 * Writes a line of a data block: x and y as in the plot, and any text. In the block $hints these are the
 * values of the point there, which a page shows under the pointer; its script sets `hints = 1`.
 */
void gnuplot_put_label(FILE *out, double x, double y, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same as gnuplot_put_text for the name of a file that gnuplot is to read or write. */
void gnuplot_put_path(FILE *out, const char *variable, const char *path);

/* Copies a text, escaped for gnuplot's enhanced mode and truncated to `size`. */
void gnuplot_escape(char *escaped, size_t size, const char *text);

#endif
