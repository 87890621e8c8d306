/* The runs of tests/fields.def, and what must hold of the fields of their rows. */
#ifndef GTMARK_TESTS_FIELDS_H
#define GTMARK_TESTS_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/records.h"

/* A run of the test's own program as a benchmark of this kind. */
struct field_run {
    const char *label, *kind, *words;
    int exit;
    bool planted; /* on planted clocks */
};

/* The environment variables by which the program knows that it is one. */
#define FIELDS_KIND  "GTMARK_FIELDS_KIND"
#define FIELDS_CLOCK "GTMARK_FIELDS_CLOCK"

/* A statement about the fields that a pattern is for; null: none, for this reason. */
struct field_line {
    const char *field, *must, *why;
};

extern const struct field_line field_lines[];
extern const size_t field_lines_count;

/* What a run left behind. */
struct field_rows {
    const struct field_run *run;
    struct record *record; /* null: this build cannot do it */
    double cpu, seconds;   /* CPU time of the process, and time */
    double resident;       /* bytes, the most so far of any run */
};

enum { FIELD_RUNS_MOST = 32 };
struct field_runs {
    struct field_rows list[FIELD_RUNS_MOST];
    size_t count;
};

/* All runs, and as the last a row of samples with everything that statistics tell, made by this process. */
void field_runs_make(struct field_runs *all, const struct house *h);
void field_runs_free(struct field_runs *all);

#endif
