/* Output of rows: the result file as they finish, and stdout in the requested format, tables at the end. */
#ifndef GTMARK_BENCH_REPORT_H
#define GTMARK_BENCH_REPORT_H

#include "analysis/record/record.h"
#include "analysis/record/result_file.h"
#include "analysis/tables/printer.h"
#include "bench/base/warnings.h"
#include "bench/cli/options.h"
#include "bench/sweep/resume.h"

struct report {
    const struct options *options;
    struct record *record;
    struct resume *resume; /* positions of rows in the record */
    const char *path;      /* result file; null: none */
    struct writer *writer; /* that writes it */
    struct printer printer;
    struct message blas; /* a note of its table */
    struct warnings warnings;
    FILE *profiles; /* printed below the table; null: elsewhere, after each row */
    char *profile;  /* their text */
    size_t profile_size;
    struct value *trace; /* --trace; null without it */
    bool trace_changed;  /* since it was saved */
    double trace_saved;  /* when */
};

/* Starts a report over a record, takes ownership of the writer; path and writer are null without a result
 * file. False with a message if it cannot be written. In any case the report is to be closed. */
bool report_start(struct report *r, const struct options *o, struct record *record, struct resume *resume,
                  const char *path, struct writer *writer, struct message *error);

/* Writes the peak rates as they are now into the head of the record, and saves it. */
void report_peaks(struct report *r, const struct peaks *peaks);

/* Takes over a row, in the place of an earlier state of it, all before it being in the record; saves it. */
bool report_row(struct report *r, int64_t index, struct row *row, struct message *error);

bool report_has(const struct report *r, int64_t index);
struct row *report_at(const struct report *r, int64_t index);

/* Prints a finished row, of a table at the end; kept: from an earlier run. */
bool report_print(struct report *r, int64_t index, bool kept, struct message *error);

/* Where the profile of a row is written, after the row. */
FILE *report_profiles(const struct report *r);

/* The rows of this command line, without others in the file: a new array. */
struct rows *report_rows(const struct report *r);

/* Prints what is left: the table, warnings, profiles, fits, JSON. Saves the fits if the sweep is complete. */
bool report_end(struct report *r, bool complete, struct message *error);

/* After the rows: charts, sentences, and what gates say of them. Returns the misses. */
int take_steps(const struct options *o, const struct peaks *peaks, const struct report *report);

/* Completes the result file and the trace, and releases them. */
bool report_close(struct report *r, struct message *error);

/* --- the table while its rows still take turns: on a terminal, refined in place */

struct interim {
    const struct report *report;
    int lines; /* on the terminal, which the next call replaces */
};

/* Prints the rows so far from this index on, up to `count`. Nothing if stdout is no terminal, the format is
 * not a table, or the rows do not fit on the screen. */
void interim_show(struct interim *l, int64_t first, int64_t count);

void interim_clear(struct interim *l);

#endif
