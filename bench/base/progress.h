/* The progress line on stderr: what is running, and about how long the rest takes. Only on a terminal. */
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
    double ends;  /* clock time at which the run is over; infinite: not known */
    double shown; /* of the last update */
    double began; /* of the start */
    int probes;   /* of a search, so far */
};

/* Whether lines there can be changed: a terminal that is not a dumb one (TERM). */
bool progress_terminal(int file);

void progress_start(struct progress *p, int64_t rows);

void progress_samples(void *progress, int samples, double seconds);

/* The same while a program is checked: the op in this entry. Entry 0: it begins. */
void progress_check(void *progress, const char *op, int entry, int entries);

/* The same before --find probes a value, "9 graphs". */
void progress_search(struct progress *p, const char *value);

/* Removes the line, before something else is printed. */
void progress_clear(const struct progress *p);

#endif
