/* Cold start: the time to the first result for a new graph. */
#ifndef GTMARK_BENCH_COLD_START_H
#define GTMARK_BENCH_COLD_START_H

#include "analysis/record/row.h"
#include "bench/cli/config.h"

/* The steps of a cold start, and their total. */
enum cold_start_step {
    COLD_START_GRAPH,    /* generated or read, and its structure built */
    COLD_START_ENCODING, /* computed, if there is one */
    COLD_START_RECORD,   /* `forward` recorded and planned */
    COLD_START_UPLOAD,   /* memory allocated, parameters and inputs initialised and uploaded */
    COLD_START_FORWARD,  /* one run */
    COLD_START_TOTAL,
    COLD_START_STEPS
};

struct cold_start {
    bool done, encoded;
    double seconds[COLD_START_STEPS]; /* medians */
    struct message missing;           /* why there is none; empty: not reached */
};

/* Measures up to five cold starts, fewer if they are slow. */
struct cold_start cold_start_measure(const struct options *o, const struct config *c);

/* Writes the row's group "cold_start". */
void cold_start_write(struct row *row, const struct cold_start *s);

/* Prints it as table lines, if it was measured. */
void cold_start_print(const struct cold_start *s, FILE *out);

#endif
