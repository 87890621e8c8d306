/* The script of a chart of parts that add up. */
#ifndef GTMARK_ANALYSIS_STACK_H
#define GTMARK_ANALYSIS_STACK_H

#include "analysis/charts/frame.h"
#include "analysis/tables/units.h"

enum { STACK_PARTS = 8 };

struct stack {
    const char *title, *axis, *x_axis; /* what y and x show */
    const char *unit;
    enum unit_base base;
    const char *notes[2];
    const struct record *record;
    const struct rows *rows;
    bool logarithmic; /* x, with ticks at the points */
    double marked;    /* an x with a dashed line; 0: none */
    double turn;      /* where the backward pass begins; 0: not marked */
    size_t parts, points;
    const char *label[STACK_PARTS]; /* null: not named, since it is 0 everywhere */
    double *x;                      /* ascending, points of them */
    double (*value)[STACK_PARTS];
};

/* Makes room for so many points, with values of 0; to be freed. */
void stack_allocate(struct stack *s, size_t points);
void stack_free(struct stack *s);

/* Writes a script for plots/stack.gp; `what` is a struct stack. */
void stack_write(FILE *out, const void *what);

#endif
