/* Texts on their way to a terminal. */
#ifndef GTMARK_ANALYSIS_PLAIN_H
#define GTMARK_ANALYSIS_PLAIN_H

#include <stddef.h>
#include <stdio.h>

/* The size of the buffers that get messages: one line, without newline. */
enum { MESSAGE_SIZE = 512 }; /* bytes */

/*
 * Writes a text, or its first `length` bytes, with a question mark for every control character (C0, DEL, and
 * C1 in UTF-8): a terminal would take them for commands.
 */
void plain_put(FILE *out, const char *text);
void plain_put_part(FILE *out, const char *text, size_t length);

#endif
