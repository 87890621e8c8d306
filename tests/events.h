/*
 * What a running program has reached: tests wait for that instead of for a time. Its output shows it, through
 * a pipe that it cannot run ahead of or a terminal, and so does /proc. A program that ends before is a
 * failure.
 */
#ifndef GTMARK_TESTS_EVENTS_H
#define GTMARK_TESTS_EVENTS_H

#include <stdbool.h>
#include <sys/types.h>

/* A pipe with room for one page: who writes more waits for the reader. Closed in programs that are started.
 */
void small_pipe(int *reader, int *writer);

/* A terminal of this width, whose lines can be changed (TERM): its two ends. Skips the test if there is none.
 */
void open_terminal(unsigned short columns, int *master, int *slave);

/* Reads until the text has come so many times; false if the output ends before. */
bool read_until(int reader, const char *text, int times);

/* Reads to the end, when all writers have closed the file, and closes it. To be freed. */
char *read_rest(int reader);

/* Waits until the process has computed for so many seconds from now on. */
void wait_for_cpu(pid_t pid, double seconds);

/* Waits until the process has no handler for the signal. */
void wait_for_no_handler(pid_t pid, int number);

/* Waits until the file exists, which the process is about to make. */
void wait_for_file(pid_t pid, const char *path);

#endif
