/*
 * Rows on their way to a stream in a format: tables and documents at the end, lines as they come. First set
 * the format, the record and the table's stream, axes and columns, and what rows can have.
 */
#ifndef GTMARK_ANALYSIS_PRINTER_H
#define GTMARK_ANALYSIS_PRINTER_H

#include "analysis/record/record.h"
#include "analysis/tables/table.h"

enum format {
    FORMAT_TABLE,
    FORMAT_MARKDOWN,
    FORMAT_CSV,
    FORMAT_CSV_FULL,
    FORMAT_CSV_PROFILE,
    FORMAT_JSON,
    FORMAT_JSONL,
    FORMAT_BMF,
    FORMAT_GITHUB
};

extern const char *const format_names[]; /* null past the last */

struct printer {
    enum format format;
    const struct record *record;
    struct table table;
    bool timed[TIMED];     /* what rows can have, by program_name */
    bool kernels;          /* the table has only kernels that are worth a look */
    struct csv_fields csv; /* of FORMAT_CSV */
    bool has_head;         /* of JSON lines */
    struct table_line *lines;
    size_t count;
};

/* Whether the format is a table, with notes below it. */
bool printer_is_table(const struct printer *p);

/* Writes what comes before the rows. */
void printer_begin(struct printer *p);

/* Takes a row, which must live until the end. Write errors are those of the stream. */
void printer_row(struct printer *p, const struct table_line *line);

/* Prints the table, if it is one, below its title. */
void printer_table(struct printer *p);

/* Prints what is said below the table. */
void printer_below(struct printer *p);

/* Writes the document, if it is one: the record as JSON, or the times for others' programs (tracked.h). */
void printer_document(struct printer *p);

void printer_free(struct printer *p);

#endif
