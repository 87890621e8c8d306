/*
 * A result file: JSON lines, each an object with a kind and the run that it belongs to.
 *
 *     {"kind":"head","run":"...","schema":2,"benchmark":...,"command":...,"host":{...},...}    begins a run
 *     {"kind":"calibrations","run":"...","calibrations":[...]}      a member of the head that has changed;
 *                                                                   also links and resumed
 *     {"kind":"row","run":"...","id":7,"status":"ok",...}           a row as it is now: the last of an id
 * counts
 *     {"kind":"end","run":"...","fits":[...]}                       the run is complete
 *
 * Lines are only appended while a run lasts (result_file.h), and when it ends one line is left of each row,
 * in their order. Until a run is complete its rows are ordered by their device and place. Kinds and members
 * that a reader does not know are ignored.
 *
 * What follows the last newline is a line that was not written whole: it is left out. A line that is broken
 * elsewhere is an error.
 */
#ifndef GTMARK_ANALYSIS_LINES_H
#define GTMARK_ANALYSIS_LINES_H

#include "analysis/record/record.h"
#include "analysis/record/value_text.h"

/* The runs of a file. */
struct file_runs {
    struct record **list;
    size_t count;
    size_t whole; /* bytes of whole lines */
};

/* Reads text[size]; false with a message if it is no result file. The caller frees the runs in either case.
 */
bool lines_read(const char *text, size_t size, struct file_runs *runs, char *error);
void runs_free(struct file_runs *runs);

/* Add a line. */
void lines_put_head(const struct value *head, struct buffer *out);
void lines_put_member(const struct value *head, const char *name, struct buffer *out);
void lines_put_row(const struct value *head, const struct row *row, struct buffer *out);

/* Adds all lines of a run; without rows, those of its head. */
void lines_put(const struct record *record, struct buffer *out);

#endif
