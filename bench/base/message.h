/* One line that says what is wrong and what is allowed; set by the function that returns false. */
#ifndef GTMARK_BENCH_MESSAGE_H
#define GTMARK_BENCH_MESSAGE_H

#include <stdio.h>

#include "analysis/record/row.h" /* MESSAGE_SIZE */

/* MISSED: a row is not ok, a gate was missed, or output could not be written. */
enum { EXIT_GOOD, EXIT_MISSED, EXIT_USAGE };

struct message {
    char text[MESSAGE_SIZE];
};

/* Sets the line and returns false, so that a failing function can end with `return complain(...)`. */
bool complain(struct message *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for main: returns EXIT_USAGE. */
int refuse(struct message *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What is refused if it applies. */
struct refusal {
    bool applies;
    const char *line;
};

/* The line of the first that applies, and false; true if there is none. */
bool complain_of(const struct refusal *list, size_t count, struct message *m);

/* Prints the name of the program, or "note", and the line on stderr; returns the status. */
int message_fail(const char *program, const struct message *m, int status);

/* For the beginning of main: whether stdout is open, without which the first file that is opened would take
 * its place; otherwise a message. From then on numbers are written and read as in the locale C, whatever
 * locale a library sets for the process. */
bool message_begin(const char *program);

/* For the end of main: flushes what was its stdout, where a full disk shows only now. Returns the status, or
 * EXIT_MISSED with a message if it cannot be written. */
int message_flush(const char *program, FILE *out, int status);

#endif
