/*
 * The axes of a sweep and the language of their values. A sweep is the cartesian product of the values given
 * for every axis.
 */
#ifndef GTMARK_BENCH_AXES_H
#define GTMARK_BENCH_AXES_H

#include "bench/base/message.h"

enum axis {
#define AXIS(id, flag, field, kind, place, standard, pace, work, dump, unit, symbol, help, meaning) AXIS_##id,
#include "analysis/record/axes.def"
    AXES
};

enum axis_kind { AXIS_WHOLE, AXIS_NUMBER, AXIS_NAME, AXIS_TEXT };

enum axis_work { WORK_NEVER, WORK_ALWAYS, WORK_GRAPH, WORK_CHANGED };

/* A line of analysis/record/axes.def, which says what its columns mean. */
struct axis_info {
    const char *name, *field;
    enum axis_kind kind;
    double min, max;                  /* of numbers */
    const char *(*choice)(int index); /* of names: what is allowed, of texts: examples; null past the last */
    int first;                        /* of names: the enumerator of the first choice */
    bool (*allowed)(const char *);    /* of texts */
    const char *standard;             /* the canonical workload's value */
    int pace;
    enum axis_work work;
    const char *dump, *help;
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

/* The axes in the order of a sweep: the last varies fastest. */
void axes_swept(enum axis order[AXES]);

/*
 * Reads a comma list of values and ranges: "100,500", "1k-16k*2" (factor), "2-16+2" (step); K, M and G are
 * powers of 1000. No value may be there twice. Replaces what `out` held. False with a message that says what
 * is allowed.
 */
bool axis_parse(enum axis a, const char *text, struct axis_values *out, struct message *error);

void axis_values_free(struct axis_values *v);

#endif
