/*
 * A comparison of result files: which rows did the same work, and how their times compare. The first file is
 * the baseline.
 */
#ifndef GTMARK_ANALYSIS_COMPARISON_H
#define GTMARK_ANALYSIS_COMPARISON_H

#include "analysis/compare/match.h"
#include "analysis/record/lines.h"
#include "analysis/record/row_range.h"

enum { COMPARED_MAX = 16 };

struct compared {
    char letter; /* unique, unlike the name; A is the baseline */
    const char *path;
    char name[AXES_TEXT];        /* the processor with its numbers, or the GPU */
    char brand[AXES_TEXT];       /* "Zen 4"; empty if it is not known */
    struct file_runs runs;       /* none, as path and name, if only rows are compared */
    const struct record *record; /* of the first run */
    const struct rows *rows;     /* of all runs */
    const struct rows *also;     /* of other files of the machine, judged with these; or null */
};

struct comparison {
    size_t count, lead; /* number of files; the file whose rows are the first lines, in their order */
    struct compared files[COMPARED_MAX];
    struct match_rule rule;
    /* Judges rows whose turns were measured in pairs; null: their times are judged. */
    struct verdict (*paired)(const struct row *base, const struct row *row, size_t program);
    struct verdict_limits limits;
    bool programs[TIMED];               /* those to compare, in the order of program_name */
    bool timed[TIMED];                  /* some row has a time of it; forward and step if no row has any */
    struct rows *matched[COMPARED_MAX]; /* views: row i of all files did the same work; null: no such row */
};

/*
 * Loads 2 to COMPARED_MAX files and matches their rows, which may differ in the axes `ignored`
 * (null-terminated, or null). The lines are the baseline's rows. False with one line in error[MESSAGE_SIZE]
 * if a file cannot be read.
 */
bool comparison_load(struct comparison *c, const char *const *paths, size_t count, const char *const *ignored,
                     char *error);

/* Matches rows (B) with those of a baseline (A). The lines are the rows of B. */
void comparison_of_rows(struct comparison *c, const struct rows *base, const struct rows *rows);

void comparison_free(struct comparison *c);

/* The number of rows with a partner in some file. */
size_t comparison_lines(const struct comparison *c);

/* The row of a line, or null. */
const struct row *comparison_row(const struct comparison *c, size_t file, size_t line);

/* The row of a line in the first file that has it. */
const struct row *comparison_any(const struct comparison *c, size_t line);

/* Whether some file has a time of the program in a line, or is not ok although it was timed elsewhere. */
bool comparison_shows(const struct comparison *c, size_t line, size_t program);

/* The rows of a file that did the work of a line and are judged together, first the one that stands for them:
 * those of several runs. A view, to be freed; empty if there is none. */
struct rows *comparison_runs(const struct comparison *c, size_t file, size_t line);

/* The median time of a program in a line, in seconds, over runs if there are several, of which ratios are
 * made; NAN without any, or if no row is ok. */
double comparison_time(const struct comparison *c, size_t file, size_t line, size_t program);

/* The rows of a file that are compared, without the missing ones: a view, to be freed. */
struct rows *comparison_rows(const struct comparison *c, size_t file);

/* Whether these rows differ in an axis. */
bool comparison_varies(const struct comparison *c, size_t file, const struct field *axis);

/* What is compared: a program's times in a row of a file and of another, here the baseline. */
struct pair {
    size_t line, program, file, base;
};

/* Moves to the next pair with the baseline that can be judged: both files have the row, and one of the two
 * has times, or is not ok although the program was timed elsewhere. for (struct pair p = {0};
 * comparison_next(c, &p);) */
bool comparison_next(const struct comparison *c, struct pair *p);

struct verdict comparison_judge(const struct comparison *c, const struct pair *p);

struct tally {
    size_t pairs;
    size_t verdicts[VERDICTS]; /* by enum verdict_kind */
    size_t judged;             /* with an interval */
    size_t ratios;             /* with a ratio */
    double mean;               /* geometric, of these ratios; NAN without any */
};

/* Counts the verdicts of a file (COMPARED_MAX: all) and a program (TIMED: all). */
struct tally comparison_tally(const struct comparison *c, size_t file, size_t program);

/* Whether another row of the file did the same work and is compared instead of row i. */
bool comparison_repeats(const struct comparison *c, size_t file, size_t i);

/* The number of rows of a file, of two, without a partner in the other. */
size_t comparison_alone(const struct comparison *c, size_t file);

#endif
