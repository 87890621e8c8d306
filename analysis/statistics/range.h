/*
 * Conclusions from times. What is known of a time is a range; a conclusion is drawn if it holds for every
 * value in it, its opposite if it holds for none, and else it is inconclusive.
 */
#ifndef GTMARK_ANALYSIS_RANGE_H
#define GTMARK_ANALYSIS_RANGE_H

#include <stdbool.h>
#include <stddef.h>

/* A time in seconds; its median is NAN if there is none. */
struct range {
    double median, low, high;
    double lost;  /* share of the time that went to other programs: without them it may be lower by so much */
    size_t turns; /* independent observations */
    bool extremes; /* low and high are the least and the greatest of these, not an interval of the median */
    size_t runs;   /* that these are of; 0 counts as 1 */
};

/* The range of independent observations[n], in any order: the extremes. */
struct range range_of(const double *observations, size_t n);

/* Of several runs: the median of their medians, and everything that any of them leaves open. */
struct range range_together(const struct range *runs, size_t n);

/* The least that the time may be if other programs take nothing. */
double range_floor(const struct range *r);

/* The least beside another program of the same run, which lost much the same. */
double range_floor_within(const struct range *r);

/* Whether the extremes of as many turns are hardly ever disjoint by chance. */
bool ranges_suffice(const struct range *a, const struct range *b);

/* From the floor to the upper end, as a share of the median; NAN without a time. */
double range_width(const struct range *r);

enum { VERDICT_REASON = 512 };
enum verdict_kind { VERDICT_INCONCLUSIVE, VERDICT_SAME, VERDICT_FASTER, VERDICT_SLOWER, VERDICTS };

/* Shares of the baseline's time. */
struct verdict_limits {
    double margin; /* smaller differences do not count: the whole range of the ratio has to be beyond */
    double same;   /* the two are the same if the range excludes larger differences */
    bool across;   /* the times are of two runs, which differ by VERDICT_RUNS beyond their ranges */
    bool machines; /* of two machines: their states and clocks are what is compared */
};

/*
 * By how much two runs of one program differ beyond the range of each, as a share of the time, by the trials
 * of docs/validation/compare.md. VERDICT_OWN runs of either show by themselves how runs differ.
 */
#define VERDICT_RUNS 0.05
enum { VERDICT_OWN = 4 };

/* For two times of one run: 1 % and 5 %; for those of two runs: 0, as VERDICT_RUNS is in the range, and 10 %.
 */
extern const struct verdict_limits verdict_within, verdict_across;

struct verdict {
    enum verdict_kind kind;
    double ratio;     /* of medians, the baseline's below: above 1 is slower; NAN if one is missing */
    double low, high; /* range of the ratio; NAN if it was not judged */
    bool bound;       /* of extremes: faster or slower at least so, not about so */
    bool uncompared;  /* inconclusive because there was nothing to judge */
    bool few;         /* so few turns that the range may well be too narrow: nothing follows from it */
    bool not_slower;  /* inconclusive, but the range excludes slower by more than the margin */
    char reason[VERDICT_REASON]; /* inconclusive: why, and what would decide it; empty if the range says it */
};

/* Judges a time against the baseline's. */
struct verdict verdict_of(const struct range *base, const struct range *time, struct verdict_limits limits);

/* Judges the range of a ratio of which low, ratio and high are given. */
void verdict_judge(struct verdict *v, struct verdict_limits limits);

static inline bool verdict_differs(enum verdict_kind kind)
{
    return kind == VERDICT_FASTER || kind == VERDICT_SLOWER;
}

/* "inconclusive", "same", "faster", "slower" */
const char *verdict_name(enum verdict_kind kind);

/* "1.003 [0.785, 1.835]"; of extremes, where it differs from 1, the nearer end: "at least 1.41", "at most
 * 0.71". */
enum { RATIO_TEXT = 64 };
void verdict_ratio_text(const struct verdict *v, char text[RATIO_TEXT]);

/* Whether something keeps a limit, its upper bound or, with `least`, its lower one: for all of its range, for
 * none, or for some values. */
enum limit_verdict { LIMIT_INCONCLUSIVE, LIMIT_MET, LIMIT_MISSED };
enum limit_verdict limit_judge(double low, double high, double limit, bool least);

#endif
