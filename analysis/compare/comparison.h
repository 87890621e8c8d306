/*
 * Result files side by side: which rows go together, and what is left over. The first file is the baseline.
 */
#ifndef GTMARK_ANALYSIS_COMPARISON_H
#define GTMARK_ANALYSIS_COMPARISON_H

#include "analysis/compare/match.h"
#include "analysis/compare/verdict.h"
#include "analysis/record/record.h"
#include "analysis/record/row.h"

#include <stdbool.h>
#include <stddef.h>

enum { COMPARED_MAX = 16, COMPARED_PROGRAMS = 4 };

/* A file: what a machine, or a version, measured. */
struct compared {
    char letter; /* A is the baseline: unique, where names need not be */
    const char *path;
    char name[AXES_TEXT]; /* the processor or GPU */
    struct record *record;
    const struct rows *rows; /* the record's */
};

struct comparison {
    size_t count;
    struct compared files[COMPARED_MAX];
    struct match_rule rule;
    struct verdict_limits limits;
    bool programs[COMPARED_PROGRAMS];   /* those to compare, in the order of comparison_program */
    bool timed[COMPARED_PROGRAMS];      /* those that some row has a time of; forward and step if none has */
    struct rows *matched[COMPARED_MAX]; /* views: row i of each file did the same work; null: it has none */
};

/* "forward", "step", "kernel" of an op alone: the benchmarks' programs, in their order; and "encoding". */
const char *comparison_program(size_t index);

/*
 * Loads the files, 2 to COMPARED_MAX, and matches their rows, leaving open the axes ignored (null-terminated,
 * or null). False with one line in error[MESSAGE_SIZE] if a file is none.
 */
bool comparison_load(struct comparison *c, const char *const *paths, size_t count, const char *const *ignored,
                     char *error);

void comparison_free(struct comparison *c);

/* How many rows of the baseline have a partner in some file. */
size_t comparison_lines(const struct comparison *c);

/* The row of a line, or null. */
const struct row *comparison_row(const struct comparison *c, size_t file, size_t line);

/* Whether there is anything to judge: both files have the row, and one of them has times, or is not ok where
 * times of the program are to be expected. */
bool comparison_has(const struct comparison *c, size_t file, size_t line, size_t program);

struct verdict comparison_judge(const struct comparison *c, size_t file, size_t line, size_t program);

/* All verdicts of a file and a program. */
struct tally {
    size_t verdicts[4]; /* by enum verdict_kind */
    size_t ratios;      /* rows with a ratio */
    double mean;        /* geometric, of these; NAN without any */
};
struct tally comparison_tally(const struct comparison *c, size_t file, size_t program);

/* Whether row i of a file repeats another that stands for it. */
bool comparison_repeats(const struct comparison *c, size_t file, size_t i);

#endif
