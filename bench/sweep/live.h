/* The table while its rows still take turns: on a terminal, refined in place. */
#ifndef GTMARK_BENCH_LIVE_H
#define GTMARK_BENCH_LIVE_H

#include "bench/sweep/report.h"

struct live {
    const struct report *report;
    int lines; /* on the terminal, which the next call replaces */
};

/* Prints the rows so far from this index on, up to `count`. Nothing if stdout is no terminal, the format is
 * not a table, or the rows do not fit on the screen. */
void live_show(struct live *l, int64_t first, int64_t count);

/* Removes what was printed. */
void live_clear(struct live *l);

#endif
