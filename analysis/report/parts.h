/* The parts of the page. */
#ifndef GTMARK_ANALYSIS_PARTS_H
#define GTMARK_ANALYSIS_PARTS_H

#include "analysis/record/axes.h"
#include "analysis/record/record.h"

/* A result file. */
struct part {
    const char *path;
    char name[256]; /* the path without ".jsonl" and the directories that all files have in common */
    size_t number;  /* from 1; the part is #fileN of the page */
    size_t shown;   /* rows that tables have room for */
    const struct record *record;
    const struct rows *rows;
    const struct field *axes[AXES_MAX]; /* that vary */
    size_t axes_count;
};

/* The name of a row: its axes that vary, or its nodes. */
void part_name_row(const struct part *p, const struct row *row, char text[AXES_TEXT]);

/* Sections over all files; nothing where the files have nothing of the kind. */
void summary_measured(FILE *out, const struct part *parts, size_t n);
void summary_warnings(FILE *out, const struct part *parts, size_t n);
void summary_machines(FILE *out, const struct part *parts, size_t n);

/* Sections of one file; likewise. */
void part_charts(FILE *out, const struct part *p);
void part_rows(FILE *out, const struct part *p);
void part_profiles(FILE *out, const struct part *p);

/*
 * Writes the SVG of figures_svg as well-formed XML that needs no script and loads nothing: its ids begin with
 * `name`, which no other chart of the page has, and its hints are the titles of points, which browsers show
 * under the pointer.
 */
void svg_put(FILE *out, const char *svg, const char *name);

/* --- reasons to doubt a row, found in the row itself */

enum remark_kind {
    REMARK_STATUS,
    REMARK_UNCHECKED,
    REMARK_NOISY,
    REMARK_ROOF,
    REMARK_STATES,
    REMARK_DRIFT,
    REMARK_START,
    REMARK_PREEMPTED,
    REMARK_FAULTS,
    REMARK_DISK,
    REMARK_THROTTLED,
    REMARK_LOST,
    REMARK_ERRORS,
    REMARKS
};

/* "inconclusive"; "inconclusive time, which supports no finding" */
const char *remark_word(enum remark_kind kind);
const char *remark_text(enum remark_kind kind);

struct remark {
    enum remark_kind kind;
    const char *program; /* "": the row as a whole, or its kernel */
    char detail[MESSAGE_SIZE];
};

enum { REMARKS_MAX = REMARKS * TIMED };

/* The remarks on a row, in the order of their kinds; returns how many. */
size_t remarks_of(const struct row *row, struct remark remarks[REMARKS_MAX]);

#endif
