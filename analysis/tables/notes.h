/* Notes below a table. A cell refers to its note by a mark, a raised number: "112 %¹". */
#ifndef GTMARK_ANALYSIS_NOTES_H
#define GTMARK_ANALYSIS_NOTES_H

#include <stddef.h>
#include <stdio.h>

enum { NOTES_MARK = 16 }; /* bytes of the longest mark, terminator included */

/* Distinct texts, in the order of their marks. */
struct notes {
    char **texts;
    size_t count;
};

/* Appends the mark of a text to a cell; a new text becomes the last note. */
void notes_mark(struct notes *n, const char *text, char *cell, size_t size);

/* Prints the notes, one below the other. */
void notes_print(const struct notes *n, FILE *out);

void notes_free(struct notes *n);

#endif
