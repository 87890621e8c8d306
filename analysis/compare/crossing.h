/*
 * Where one variant overtakes another along an axis: rows that differ in the variant alone, judged at each
 * value of the axis as compare judges rows.
 */
#ifndef GTMARK_ANALYSIS_CROSSING_H
#define GTMARK_ANALYSIS_CROSSING_H

#include "analysis/charts/chart.h"

/*
 * FOUND: the verdicts change once, from slower to faster or from faster to slower. NONE: the verdict is the
 * same at every value. NEVER: one variant is faster at some values and slower, by more than the margin, at
 * none. OPEN: neither, because of noise, or because they change more than once. MEMORY: one variant is ok up
 * to a value and out of memory from another on, where the other variant is ok.
 */
enum crossing_kind { CROSSING_FOUND, CROSSING_NONE, CROSSING_NEVER, CROSSING_OPEN, CROSSING_MEMORY };

struct crossing_point {
    double x;
    const struct row *row[2];
    struct verdict verdict; /* the second over the first */
};

struct crossing {
    enum crossing_kind kind;
    const struct field *axis;
    size_t program[2];       /* whose times; the same unless one is the encoding; TIMED for MEMORY */
    char name[2][AXES_TEXT]; /* of the variants: "dense attention"; "a training step" and "the encoding" */
    char group[AXES_TEXT];   /* the other axes that vary; empty without any */
    size_t count;
    struct crossing_point *points; /* by ascending x, at least 2 */
    size_t from, to;               /* FOUND, MEMORY: the two points nearest to the crossing that decide it;
                                      NONE, NEVER: the last that has a verdict */
    double at, low, high;          /* FOUND: the axis value with its range */
    size_t changes, settled;       /* changes of the verdict along the axis; points that have one */
    int winner; /* FOUND: the faster one beyond; NONE: everywhere; NEVER: not slower; MEMORY: the one that
                   fits */
};

struct crossings {
    size_t count;
    struct crossing *list;
};

/*
 * All pairs of variants: of model, attention, message passing, threads, solver, the ops X and sparse_X, and
 * of an encoding with a program of its row. Of an axis with more than VARIANTS_MAX values, the first ones in
 * the order of their names. They refer to the rows.
 */
enum { VARIANTS_MAX = 6 };
struct crossings crossings_find(const struct rows *rows);

/* All pairs of kernels of an op. */
struct crossings crossings_of_kernels(const struct rows *rows);
void crossings_free(struct crossings *c);

/* Sets kind, and what it implies, by the verdicts of the points. */
void crossing_judge(struct crossing *c);

/* Whether it supports a finding: the results of all rows were checked, and some times could be judged. */
bool crossing_is_settled(const struct crossing *c);

/* Writes one sentence, without a newline. */
void crossing_print(FILE *out, const struct crossing *c);

/* Adds a chart of the ratio over the axis of the first of the crossings, of every one along it or of those
 * found. d: all but the axis. */
void crossing_chart_draw(struct figures *f, const char *name, const struct crossings *all, bool every,
                         const struct drawing *d);

/* Adds "crossover" if the record has a crossing. */
chart_adder crossing_chart_add;

#endif
