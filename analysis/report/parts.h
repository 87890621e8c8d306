/* Internal to this folder: the parts of the page. */
#ifndef GTMARK_ANALYSIS_PARTS_H
#define GTMARK_ANALYSIS_PARTS_H

#include "analysis/record/axes.h"
#include "analysis/record/record.h"

#include <stdio.h>

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

#endif
