/* Text broken into lines that fit on the screen, at blanks. */
#ifndef GTMARK_ANALYSIS_WRAP_H
#define GTMARK_ANALYSIS_WRAP_H

#include <stdbool.h>
#include <stdio.h>

enum { SCREEN = 100 };

/* The columns of a terminal, but at most SCREEN; SCREEN if `out` is none. */
int screen_width(FILE *out);

/*
 * Writes the words of a text and a newline. The first line begins in column `at`, counted from 0, where the
 * caller's output stands; the others are indented. A word longer than a line keeps a line of its own.
 */
void wrap_text(FILE *out, const char *text, int at, int indent);

/* The same from column 0 on, in lines of `width` columns. */
void wrap_within(FILE *out, const char *text, int width, int indent);

/* The same, broken only after commas and semicolons. */
void wrap_phrases(FILE *out, const char *text, int at, int indent);

/* Lines on their way to `out`, written to the stream that wrap_begin returns; wrap_end prints them. The rest
 * of a long line is indented by four columns more than its beginning. */
struct wrap {
    FILE *out, *lines;
    char *text;
    size_t size;
    bool phrases; /* break lines by wrap_phrases; false after wrap_begin */
    bool items;   /* each is an item of a list; the rest of a line begins below its text */
};
FILE *wrap_begin(struct wrap *w, FILE *out);
FILE *wrap_items(struct wrap *w, FILE *out);
void wrap_end(struct wrap *w);

#endif
