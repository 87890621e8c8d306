/*
 * How the time of programs grows over the axes of a sweep, and whether it grows as their work does: a fit for
 * each program, each numeric axis that varies and each combination of the other varying axes. In the record
 * fits have the FIT fields of schema.def.
 */
#ifndef GTMARK_ANALYSIS_FITS_H
#define GTMARK_ANALYSIS_FITS_H

#include "analysis/fits/law.h"
#include "analysis/record/axes.h"
#include "analysis/record/row_range.h"

/* A row that is ok and checked. */
struct fit_point {
    const struct row *row;
    struct range range;
    struct law_point time;     /* its low end is the floor of the range */
    double flops, bytes;       /* 0: not known */
    const char *level, *bound; /* null: no roofline */
};

/* CROSSES is a contradiction between rows in several levels of memory or under several bounds, or without a
 * roofline. */
enum fit_verdict { FIT_AGREES, FIT_INCONCLUSIVE, FIT_CROSSES, FIT_CONTRADICTS, FIT_VERDICTS };

/* How time / work changes between two points: a ratio, and its range. */
struct fit_change {
    size_t from, to;
    double ratio, low, high;
};

struct fit {
    size_t program; /* TIMED_FORWARD or TIMED_STEP */
    const struct field *axis;
    char group[AXES_TEXT]; /* values of the other axes; empty without any */
    size_t count;          /* at least 2 */
    size_t left_out;       /* rows that are unchecked, or in one state of the machine, but not that of most */
    bool loaded;           /* a row lost so much to other programs that exponents are likely low */
    struct fit_point *points; /* by ascending x, which are distinct */
    bool by_bytes;            /* the work is minimum bytes, since memory bounds all points, not FLOPs */
    unsigned terms;           /* of the work, FLOPs and bytes together; 0: not known */
    struct law law;
    const char *no_law; /* why there is none; otherwise null */
    enum fit_verdict verdict;
    const char *no_verdict;   /* why time and work are not compared; otherwise null */
    struct fit_change change; /* that decides the verdict */
    struct fit_change rise;   /* beyond the tolerance, by CONTRADICTS before CROSSES; from = to: none */
    enum fit_verdict rise_is; /* which of them */
};

struct fits {
    size_t count;
    struct fit *list;
};

/* The fits of the rows, to which they refer. */
struct fits fits_find(const struct rows *rows);
void fits_free(struct fits *fits);

/* The fit of a program over an axis in this group; null if there is none. */
const struct fit *fits_get(const struct fits *fits, size_t program, const struct field *axis,
                           const char *group);

/* "FLOP" or "byte". */
const char *fit_work_name(const struct fit *fit);

/* The work of a point; the exponent of the work between two points; why work and time are not compared, null
 * if they are. */
double fit_work(const struct fit *fit, const struct fit_point *p);
const char *fit_no_work(const struct fit *fit);
struct exponent fit_work_exponent(const struct fit *fit, size_t from, size_t to);

/* The exponent of the time between two points; NAN if its range is wider than 1, or rests on too few turns.
 */
struct exponent fit_exponent(const struct fit *fit, size_t from, size_t to);

/* The exponent at the end; whether a fit tells how time grows, by a law or by that. */
struct exponent fit_last_exponent(const struct fit *fit);
bool fit_tells(const struct fit *fit);

/* The array for the record. */
struct value *fits_value(const struct fits *fits);

/* Prints the laws of at least 3 points, a line each: of the training step, or else of inference. */
void fits_print(const struct fits *fits, FILE *out);

/* Warns of each fit whose time per work rises between points in one level of memory and under one bound. What
 * falls there is in the law, which has the terms of the work with other shares; without a law it is a
 * contradiction too. */
void fits_warn(const struct fits *fits, FILE *out);

/* "time per FLOP rises by 40 % from 2000 nodes on", and where it rises across levels of memory or bounds,
 * which. False, with an empty text, if it does not rise, or if that is inconclusive. */
bool fit_rise_text(char text[AXES_TEXT], const struct fit *fit);

#endif
