/*
 * Running gnuplot on scripts, and writing texts into them.
 */
#ifndef GTMARK_ANALYSIS_GNUPLOT_H
#define GTMARK_ANALYSIS_GNUPLOT_H

#include <stddef.h>
#include <stdio.h>

enum gnuplot_result { GNUPLOT_DONE, GNUPLOT_MISSING, GNUPLOT_FAILED };

/* Runs gnuplot on scripts[n], one after the other, and waits for it. What it prints goes to stderr. */
enum gnuplot_result gnuplot_run(const char *const *scripts, size_t n);

/* Writes a text as a quoted string of gnuplot. */
void gnuplot_put_string(FILE *out, const char *text);

/* Writes a line that sets a variable to a text. */
void gnuplot_put_text(FILE *out, const char *variable, const char *text);

/* Copies a text so that gnuplot's enhanced mode shows it as it is, cut off where `size` ends. */
void gnuplot_escape(char *escaped, size_t size, const char *text);

#endif
