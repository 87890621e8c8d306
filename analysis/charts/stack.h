/* The script of a chart of parts that add up. */
#ifndef GTMARK_ANALYSIS_STACK_H
#define GTMARK_ANALYSIS_STACK_H

#include "analysis/charts/frame.h"
#include "analysis/record/record.h"

#include <stdbool.h>

enum { STACK_PARTS = 8 };

struct stack {
    const char *title, *axis, *x_axis; /* what y and x show */
    const char *format;                /* of the ticks of y, as for printf */
    const char *note;
    const char *work; /* null: not named */
    const struct record *record;
    const struct rows *rows;
    bool logarithmic; /* x, with ticks at the points */
    double marked;    /* an x with a dashed line; NAN: none */
    size_t parts, points;
    const char *label[STACK_PARTS];
    double *x; /* ascending, points of them */
    double (*value)[STACK_PARTS];
};

/* Makes room for so many points, with values of 0; to be freed. */
void stack_allocate(struct stack *s, size_t points);
void stack_free(struct stack *s);

/* Writes a script for plots/stack.gp; `what` is a struct stack. */
void stack_write(FILE *out, const void *what);

#endif
