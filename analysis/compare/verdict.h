/*
 * Whether a row is faster or slower than another that did the same work.
 */
#ifndef GTMARK_ANALYSIS_VERDICT_H
#define GTMARK_ANALYSIS_VERDICT_H

#include "analysis/record/row.h"
#include "analysis/statistics/robust.h"
#include "analysis/statistics/states.h"
#include "analysis/tables/units.h"

#include <stddef.h>

enum verdict_kind { VERDICT_INCONCLUSIVE, VERDICT_SAME, VERDICT_FASTER, VERDICT_SLOWER, VERDICTS };

/*
 * By how much two runs of one program differ beyond the interval of each, as a share of the time, by the
 * trials of docs/validation/compare.md.
 */
#define VERDICT_RUNS 0.05

/* Shares of the baseline's time. */
struct verdict_limits {
    double margin; /* smaller differences do not count: the whole interval has to be beyond it */
    double same;   /* the two are the same if the interval excludes larger differences */
    bool machines; /* two of them: their states and clocks are what is compared */
};

struct verdict {
    enum verdict_kind kind;
    double ratio;     /* of medians, the baseline's below: above 1 is slower; NAN if one is missing */
    double low, high; /* interval of the ratio, at least 95 %; NAN if it was not judged */
    double margin;    /* that the interval had to exceed; 0 if it was not judged */
    bool bound;       /* of a range: faster or slower at least so, not about so */
    bool uncompared;  /* inconclusive because there was nothing to judge, not because of noise */
    bool not_slower;  /* inconclusive, but the interval excludes slower by more than the margin */
    char reason[MESSAGE_SIZE]; /* why it is inconclusive, if the interval does not say it; otherwise empty */
};

/* The limits for rows of one run: 1 % and 5 %. */
struct verdict_limits verdict_limits_default(void);

/* The limits of compare: 0, as VERDICT_RUNS is in the interval, and 10 %. */
struct verdict_limits verdict_limits_files(void);

/* Judges independent observations, in the order made, against those of the baseline, base[n]. */
typedef struct verdict verdict_judge(const double *base, size_t n, const double *samples, size_t m,
                                     struct verdict_limits limits);

/* By the medians and their intervals. */
verdict_judge verdict_samples;

/* Judges a program, or the encoding, by the medians of its turns. Inconclusive with the reason if a row is
 * not ok, or has no time or a noisy one. */
struct verdict verdict_rows(const struct row *base, const struct row *row, size_t kind, verdict_judge *judge,
                            struct verdict_limits limits);

/* The same for times of two programs, of the baseline and of the row. */
struct verdict verdict_programs(const struct row *base, size_t of_base, const struct row *row, size_t kind,
                                verdict_judge *judge, struct verdict_limits limits);

/*
 * Judges the rows that two files have of one work, at least one each, by what is known of either time: the
 * interval of the median if enough turns were in one state, else the range of all turns. Runs differ by
 * VERDICT_RUNS, unless both files have VERDICT_OWN rows or more, whose medians show it.
 */
enum { VERDICT_OWN = 4 };
struct verdict verdict_files(const struct rows *base, const struct rows *rows, size_t kind,
                             struct verdict_limits limits);

/* "inconclusive", "same", "faster", "slower" */
const char *verdict_name(enum verdict_kind kind);

/* "1.003 [0.785, 1.835]"; of ranges, where it differs from 1, the nearer end: "at least 1.41", "at most
 * 0.71". */
void verdict_ratio_text(const struct verdict *v, char text[UNITS_TEXT]);

#endif
