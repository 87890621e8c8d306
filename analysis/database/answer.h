/* Internal to this folder: the results of a statement. */
#ifndef GTMARK_ANALYSIS_ANSWER_H
#define GTMARK_ANALYSIS_ANSWER_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The lines of a result; cells of texts in UTF-8, null for null. */
struct answer {
    size_t columns, count; /* columns, and lines */
    char **cells;          /* line by line */
};

/* Reads at most so many lines; returns SQLite's status, SQLITE_ROW if there are more. The caller frees it. */
int answer_read(struct answer *a, sqlite3_stmt *statement, size_t most);
void answer_free(struct answer *a);

/* A cell, "" if it is null. */
const char *answer_cell(const struct answer *a, size_t line, size_t column);

/* Writes a result as comma-separated values, with the names of its columns or without; returns SQLite's
 * status. */
int answer_csv(FILE *out, sqlite3_stmt *statement, bool names, size_t *lines);

#endif
