/*
 * Whether a row is faster or slower than another that did the same work, as far as their samples can tell.
 */
#ifndef GTMARK_ANALYSIS_VERDICT_H
#define GTMARK_ANALYSIS_VERDICT_H

#include "analysis/record/row.h"
#include "analysis/statistics/robust.h"

#include <stddef.h>

enum verdict_kind { VERDICT_UNCLEAR, VERDICT_SAME, VERDICT_FASTER, VERDICT_SLOWER, VERDICTS };

/* Fewest samples for any verdict but unclear: of 6, even minimum and maximum hold the median with 96.9 %
 * only, and two such intervals are not 95 % together. */
enum { VERDICT_SAMPLES_MIN = 7 };

/* What a difference must be, as shares of the baseline's time. */
struct verdict_limits {
    double margin; /* smaller ones do not count, however certain */
    double same;   /* where the interval leaves no larger one, the two are the same */
};

struct verdict {
    enum verdict_kind kind;
    double ratio;     /* time over the baseline's, medians: above 1 is slower; NAN if one is missing */
    double low, high; /* the ratio's interval, at least 95 %; NAN where the verdict has too few samples */
    double margin;    /* what the ratio was held against; 0 where it was not judged */
    char reason[MESSAGE_SIZE]; /* of an unclear one; else empty */
};

/* The limits of compare: 1 % and 5 %. */
struct verdict_limits verdict_limits_default(void);

/* Judges samples in the order taken; base[n] are the baseline's. */
typedef struct verdict verdict_judge(const double *base, size_t n, const double *samples, size_t m,
                                     struct verdict_limits limits);

/* By the medians and their intervals. */
verdict_judge verdict_samples;

/* By the samples of a program ("step"). A row that is not ok or has no samples is unclear, with its reason.
 */
struct verdict verdict_rows(const struct row *base, const struct row *row, const char *program,
                            verdict_judge *judge, struct verdict_limits limits);

/* "unclear", "same", "faster", "slower" */
const char *verdict_name(enum verdict_kind kind);

#endif
