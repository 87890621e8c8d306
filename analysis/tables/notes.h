/* Notes below a table: distinct texts, and of which rows each is. */
#ifndef GTMARK_ANALYSIS_NOTES_H
#define GTMARK_ANALYSIS_NOTES_H

#include <stddef.h>
#include <stdio.h>

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

#endif
