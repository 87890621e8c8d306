/* The line on stderr that says what is running and how long it will still take; only on a terminal. */
#ifndef GTMARK_BENCH_PROGRESS_H
#define GTMARK_BENCH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool terminal;
    int64_t row, rows;
    int64_t before; /* rows of the devices before this */
    int64_t nodes;  /* of the row */
    const char *program;
    double remaining; /* seconds of the budget that belong to what comes after this program */
    double share;     /* seconds of the budget that belong to this program */
    double shown;     /* clock time of the last update */
};

void progress_start(struct progress *p, int64_t rows);

/* Says how far the running program is; at most ten times a second. */
void progress_samples(void *progress, int samples, double seconds);

/* Takes the line away, before something else is printed. */
void progress_clear(const struct progress *p);

#endif
