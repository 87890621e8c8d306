/* The cold start: what a service pays for the first answer about a graph that it has not seen. */
#ifndef GTMARK_BENCH_COLD_START_H
#define GTMARK_BENCH_COLD_START_H

#include "analysis/record/row.h"
#include "bench/cli/config.h"

/* The steps of a cold start, and all of them together. */
enum cold_start_step {
    COLD_START_GRAPH,    /* generated or read, and its structure built */
    COLD_START_ENCODING, /* computed, if there is one */
    COLD_START_RECORD,   /* `forward` recorded and planned */
    COLD_START_UPLOAD,   /* memory taken, parameters and inputs made and uploaded */
    COLD_START_FORWARD,  /* one run */
    COLD_START_TOTAL,
    COLD_START_STEPS
};

struct cold_start {
    bool done, encoded;
    double seconds[COLD_START_STEPS]; /* medians */
    struct message missing;           /* why there are none; empty: not reached */
};

/* Measures a few cold starts, fewer where one takes long. */
struct cold_start cold_start_measure(const struct options *o, const struct config *c);

/* Writes the row's group "first_answer". */
void cold_start_write(struct row *row, const struct cold_start *s);

/* Prints it as lines of a table, if it was measured. */
void cold_start_print(const struct cold_start *s, FILE *out);

#endif
