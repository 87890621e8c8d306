/* What is said in words below a table: what its cells have no room for. */
#ifndef GTMARK_ANALYSIS_BELOW_H
#define GTMARK_ANALYSIS_BELOW_H

#include "analysis/record/row.h"

/* Distinct texts, and of which rows each is. */
struct note {
    char *text,
        *rows; /* "5000 nodes; 10000 nodes": the first NOTES_ROWS of them; empty: of no row in particular */
    size_t count; /* of rows */
};

enum { NOTES_ROWS = 4 };

/* In the order in which they were added. */
struct notes {
    struct note *list;
    size_t count;
};

/* Adds a text, if it is new, and to its rows the one that is called `row`; "" or null: none in particular. */
void notes_add(struct notes *n, const char *text, const char *row);

/* Prints "text (rows)", a line each, and forgets them. */
void notes_print(struct notes *n, FILE *out, int width);

void notes_free(struct notes *n);

struct below {
    struct notes reasons; /* of rows that are not ok, or unchecked */
    struct notes notes;   /* about columns */
    const char *noisy[2]; /* why the first time marked "~" is, and another for another reason; null: none */
    double sampled, lost; /* seconds of all programs, and of these to other programs */
    int64_t left_out;     /* turns */
    size_t loaded;        /* times of which that is too much to tell what they are without it */
    size_t kept;          /* rows */
};

/* Adds a row, called `name`; kept: of an earlier run. */
void below_add(struct below *b, const struct row *row, const char *name, bool kept);

/* Adds a time that is marked, and why. */
void below_add_noisy(struct below *b, const char *reason);

/* Prints all of it and forgets it; markdown: with an empty line before it, or it would be rows. */
void below_print(struct below *b, FILE *out, int width, bool markdown);

#endif
