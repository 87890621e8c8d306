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

/* Median seconds of up to five cold starts, fewer if they are slow; NAN for an encoding that there is not.
 * False with a message. */
bool cold_start_measure(const struct options *o, const struct config *c, double seconds[COLD_START_STEPS],
                        struct message *reason);

/* Sets them in a row. */
void cold_start_write(struct row *row, const double seconds[COLD_START_STEPS]);

/* Prints it as table lines, if it was measured. */
void cold_start_print(const struct row *row, FILE *out);

#endif
