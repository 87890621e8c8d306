/* One line that says what is wrong and what is allowed; filled by whoever returns false. */
#ifndef GTMARK_BENCH_MESSAGE_H
#define GTMARK_BENCH_MESSAGE_H

#include "analysis/record/row.h" /* MESSAGE_SIZE */

struct message {
    char text[MESSAGE_SIZE];
};

/* Writes the line and returns false, so that a failing function ends with `return complain(...)`. */
bool complain(struct message *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
