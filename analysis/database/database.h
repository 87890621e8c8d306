/*
 * The store of the program query: result files in an SQLite database. It can be made again from the files at
 * any time. Its tables:
 *
 *     machines  id, name
 *     files     id, hash (of the contents), samples (of the run), path, machine, and the texts of the
 *               record's head: run, benchmark, command, started, ...; one for each run of a file
 *     tags      file, key, value
 *     rows      id, file, status, work, configuration (hash of work and axes), and the axes under the names
 *               of their flags
 *     texts     row, json (the row as it is in its file)
 *     programs  row, program, noisy (why), and the numbers of number_columns
 *     latest    a view: machine, program, configuration, date, row: the newest that is ok
 *
 * Functions return false (or null) on failure and write a one-line reason to error[MESSAGE_SIZE].
 */
#ifndef GTMARK_ANALYSIS_DATABASE_H
#define GTMARK_ANALYSIS_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A column, with the path of its field. */
struct field_column {
    const char *name, *path;
};

/* The axes of `rows`; the numbers of `programs`, of inference: other programs have the same fields. */
extern const struct field_column axis_columns[], number_columns[];
extern const size_t axis_columns_count, number_columns_count;

/* Opens a store for writing; creates it if there is none. */
sqlite3 *database_create(const char *path, char *error);

/* Opens a store read-only. Statements that run this many seconds from now are interrupted. */
sqlite3 *database_open(const char *path, double timeout, char *error);

/* Runs statements without results. */
bool database_run(sqlite3 *db, const char *sql, char *error);

/* Prepares one statement. */
sqlite3_stmt *database_prepare(sqlite3 *db, const char *sql, char *error);

/* Writes the last error; returns false. */
bool database_failed(sqlite3 *db, char *error);

/* --- internal to this folder: the results of a statement */

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

/* The columns of an answer; those of all axes follow, as in axis_columns. */
enum {
    MACHINE,
    STARTED,
    COMMIT,
    MEDIAN,
    LOW,
    HIGH,
    THROUGHPUT,
    MEMORY,
    EFFICIENCY,
    STATUS,
    NOISY,
    WORK,
    FIRST_AXIS
};

/*
 * Prepares the statement of a question to one machine. The texts that it is bound to are those of *q. Null
 * with a message in error[MESSAGE_SIZE] on failure.
 */
struct question;
sqlite3_stmt *draft_prepare(sqlite3 *db, const struct question *q, int64_t machine, char *error);

/* --- FNV-1a of 64 bits */

static inline uint64_t checksum_of(const char *bytes, size_t size)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

#endif
