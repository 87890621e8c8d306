/*
 * The axes of a sweep: what a configuration is made of, each with its range, its default and its flag. A
 * sweep is the cartesian product of the values given for every axis.
 */
#ifndef GTMARK_BENCH_AXES_H
#define GTMARK_BENCH_AXES_H

#include "bench/base/message.h"

enum axis {
    AXIS_MODEL,
    AXIS_ATTENTION,
    AXIS_MPNN,
    AXIS_NORM,
    AXIS_POOL,
    AXIS_TASK,
    AXIS_LAYERS,
    AXIS_HIDDEN,
    AXIS_HEADS,
    AXIS_FFN,
    AXIS_ACT,
    AXIS_GRAPH,
    AXIS_PE,
    AXIS_SOLVER,
    AXIS_THREADS,
    AXIS_DEGREE,
    AXIS_BATCH,
    AXIS_NODES,
    AXES
};

enum axis_kind { AXIS_WHOLE, AXIS_NUMBER, AXIS_NAME, AXIS_TEXT };

struct axis_info {
    const char *name; /* the flag without dashes */
    enum axis_kind kind;
    double min, max;                  /* of numbers */
    const char *(*choice)(int index); /* of names and texts: what is allowed, null past the last */
    bool (*allowed)(const char *);    /* of texts */
    const char *standard;             /* the canonical workload's value */
    const char *help;
    const char *field; /* of a row; null: as the flag */
};

/* Values of an axis; a name is held as its index among the choices, a text as its place in `text`. */
struct axis_values {
    double *values;
    int count;
    char *text;
};

/* A value of an axis of kind AXIS_TEXT. */
const char *axis_text(const struct axis_values *v, double value);

enum { AXIS_VALUES_MAX = 1000 };

const struct axis_info *axis_info(enum axis a);

/* The field of a row that holds the axis' value. */
const char *axis_field(enum axis a);

/*
 * Reads a comma list of values and ranges: "100,500", "1k-16k*2" (factor), "2-16+2" (step); K, M and G are
 * powers of 1000. No value may be there twice. Replaces what `out` held. False with a message that says what
 * is allowed.
 */
bool axis_parse(enum axis a, const char *text, struct axis_values *out, struct message *error);

void axis_values_free(struct axis_values *v);

#endif
