/* The progress line on stderr: what is running, and the time left. Only on a terminal. */
#ifndef GTMARK_BENCH_PROGRESS_H
#define GTMARK_BENCH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool terminal;
    int64_t row, rows;
    int64_t before; /* rows of the devices before this one */
    int64_t nodes;  /* of the row */
    const char *program;
    double remaining; /* seconds of the budget for what comes after this program */
    double share;     /* seconds of the budget for this program */
    double shown;     /* clock time of the last update */
};

/* Whether lines there can be changed: a terminal that is not a dumb one (TERM). */
bool progress_terminal(int file);

void progress_start(struct progress *p, int64_t rows);

/* Updates the line, at most ten times per second. */
void progress_samples(void *progress, int samples, double seconds);

/* Removes the line, before something else is printed. */
void progress_clear(const struct progress *p);

#endif
