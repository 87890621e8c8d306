/*
 * Running gnuplot on scripts, and writing texts into them.
 */
#ifndef GTMARK_ANALYSIS_GNUPLOT_H
#define GTMARK_ANALYSIS_GNUPLOT_H

#include <stddef.h>
#include <stdio.h>

enum gnuplot_result { GNUPLOT_DONE, GNUPLOT_MISSING, GNUPLOT_FAILED };

/* Runs gnuplot on scripts[n] in one process and waits for it. Its output goes to stderr. */
enum gnuplot_result gnuplot_run(const char *const *scripts, size_t n);

/* Writes a text as a quoted gnuplot string. */
void gnuplot_put_string(FILE *out, const char *text);

/* Writes a line that assigns a text to a variable. */
void gnuplot_put_text(FILE *out, const char *variable, const char *text);

/* Copies a text, escaped for gnuplot's enhanced mode and truncated to `size`. */
void gnuplot_escape(char *escaped, size_t size, const char *text);

#endif
