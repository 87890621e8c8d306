/* One line that says what is wrong and what is allowed; filled by whoever returns false. */
#ifndef GTMARK_BENCH_MESSAGE_H
#define GTMARK_BENCH_MESSAGE_H

#include "analysis/record/row.h" /* MESSAGE_SIZE */

/* Missed: a row or a gate is not good, or what was asked for could not be written. */
enum { EXIT_GOOD, EXIT_MISSED, EXIT_USAGE };

struct message {
    char text[MESSAGE_SIZE];
};

/* Writes the line and returns false, so that a failing function ends with `return complain(...)`. */
bool complain(struct message *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the line on stderr behind the program's name, and returns the status. */
int message_fail(const char *program, const struct message *m, int status);

/* Ends a main: the status, or where stdout cannot be written (a full disk shows only now) EXIT_MISSED with a
 * line. */
int message_flush(const char *program, int status);

#endif
