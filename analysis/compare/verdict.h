/*
 * Whether a row is faster or slower than another that did the same work.
 */
#ifndef GTMARK_ANALYSIS_VERDICT_H
#define GTMARK_ANALYSIS_VERDICT_H

#include "analysis/record/row.h"
#include "analysis/statistics/robust.h"
#include "analysis/statistics/states.h"

#include <stddef.h>

enum verdict_kind { VERDICT_UNCLEAR, VERDICT_SAME, VERDICT_FASTER, VERDICT_SLOWER, VERDICTS };

/* Shares of the baseline's time. */
struct verdict_limits {
    double margin; /* smaller differences do not count, however certain */
    double same;   /* the two are the same if the interval excludes larger differences */
    bool whole;    /* faster or slower needs the whole interval beyond the margin, not the ratio alone */
    bool machines; /* two of them: their states and clocks are what is compared */
};

struct verdict {
    enum verdict_kind kind;
    double ratio;     /* of medians, the baseline's below: above 1 is slower; NAN if one is missing */
    double low, high; /* interval of the ratio, at least 95 %; NAN with too few samples */
    double margin;    /* that the ratio had to exceed; 0 if it was not judged */
    bool unjudged;    /* unclear because there was nothing to judge, not because of noise */
    bool not_slower;  /* unclear, but the interval excludes slower by more than the margin */
    char reason[MESSAGE_SIZE]; /* why it is unclear; otherwise empty */
};

/* The limits of compare: 1 % and 5 %. */
struct verdict_limits verdict_limits_default(void);

/* Judges independent observations, in the order made, against those of the baseline, base[n]. */
typedef struct verdict verdict_judge(const double *base, size_t n, const double *samples, size_t m,
                                     struct verdict_limits limits);

/* By the medians and their intervals. */
verdict_judge verdict_samples;

/* Judges a program, or the encoding, by the medians of its turns. Unclear with the reason if a row is not ok,
 * has no time or a noisy one, or if the two differ and were measured in different states of the machine or at
 * clocks that explain it. */
struct verdict verdict_rows(const struct row *base, const struct row *row, size_t kind, verdict_judge *judge,
                            struct verdict_limits limits);

/* The same for times of two programs, of the baseline and of the row. */
struct verdict verdict_programs(const struct row *base, size_t of_base, const struct row *row, size_t kind,
                                verdict_judge *judge, struct verdict_limits limits);

/* "unclear", "same", "faster", "slower" */
const char *verdict_name(enum verdict_kind kind);

#endif
