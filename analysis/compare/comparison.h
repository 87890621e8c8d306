/*
 * Result files side by side: which rows go together, and how their times compare. The first file is the
 * baseline.
 */
#ifndef GTMARK_ANALYSIS_COMPARISON_H
#define GTMARK_ANALYSIS_COMPARISON_H

#include "analysis/compare/match.h"
#include "analysis/compare/verdict.h"
#include "analysis/record/record.h"
#include "analysis/record/row.h"

#include <stdbool.h>
#include <stddef.h>

enum { COMPARED_MAX = 16 };

/* A file: what a machine, or a version, measured. */
struct compared {
    char letter; /* A is the baseline: unique, where names need not be */
    const char *path;
    char name[AXES_TEXT];    /* the processor or GPU */
    struct record *record;   /* null where only rows are compared, with path and name */
    const struct rows *rows; /* the record's */
};

struct comparison {
    size_t count, lead; /* files; the one whose rows, in their order, are the lines */
    struct compared files[COMPARED_MAX];
    struct match_rule rule;
    verdict_judge *judge;
    struct verdict_limits limits;
    bool margins;                       /* shown beside the verdicts */
    bool programs[TIMED];               /* those to compare, in the order of program_name */
    bool timed[TIMED];                  /* those that some row has a time of; forward and step if none has */
    struct rows *matched[COMPARED_MAX]; /* views: row i of each file did the same work; null: it has none */
};

/*
 * Loads the files, 2 to COMPARED_MAX, and matches their rows, leaving open the axes ignored (null-terminated,
 * or null). The lines are the baseline's rows. False with one line in error[MESSAGE_SIZE] if a file is none.
 */
bool comparison_load(struct comparison *c, const char *const *paths, size_t count, const char *const *ignored,
                     char *error);

/* Matches rows, B, with those of a baseline, A. The lines are those of B. */
void comparison_of_rows(struct comparison *c, const struct rows *base, const struct rows *rows);

void comparison_free(struct comparison *c);

/* How many rows have a partner in some file. */
size_t comparison_lines(const struct comparison *c);

/* The row of a line, or null. */
const struct row *comparison_row(const struct comparison *c, size_t file, size_t line);

/* A row of a file beside the baseline's, by one program. */
struct pair {
    size_t line, program, file;
};

/* Moves on to a pair that has anything to judge: both files have the row, and one of them has times, or is
 * not ok where times of the program are to be expected. for (struct pair p = {0}; comparison_next(c, &p);) */
bool comparison_next(const struct comparison *c, struct pair *p);

struct verdict comparison_judge(const struct comparison *c, const struct pair *p);

/* Verdicts, counted. */
struct tally {
    size_t verdicts[VERDICTS]; /* by enum verdict_kind */
    size_t judged;             /* with an interval */
    size_t ratios;             /* with a ratio */
    double mean;               /* geometric, of these; NAN without any */
};

/* Those of a file and a program, or with COMPARED_MAX and TIMED of all of them. */
struct tally comparison_tally(const struct comparison *c, size_t file, size_t program);

/* Whether row i of a file repeats another that stands for it. */
bool comparison_repeats(const struct comparison *c, size_t file, size_t i);

#endif
