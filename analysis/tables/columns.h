/* What the columns of a table can show of a row: every field of the schema, and summaries of its groups. */
#ifndef GTMARK_ANALYSIS_COLUMNS_H
#define GTMARK_ANALYSIS_COLUMNS_H

#include "analysis/tables/below.h"

enum { CELL_TEXT = 2 * MESSAGE_SIZE };

/* A cell, and the notes of its table. */
struct table_cell {
    char text[CELL_TEXT];
    struct notes *notes;
    bool brief; /* times without their intervals */
};

/* Where a column is by default, if rows have it: in tables of what was measured, beside presets or encodings,
 * and of what is only planned, in CSV, and on pages. In tables some only where the axes are about batches or
 * how work is shared out, and some only of the program that the question is mostly about. */
enum {
    IN_TABLE = 1,
    IN_PRESETS = 2,
    IN_ENCODINGS = 4,
    IN_PLAN = 8,
    IN_CSV = 16,
    IN_PAGE = 32,
    OF_BATCHES = 64,
    OF_LEAD = 128
};

enum { COLUMNS_MAX = 160, COLUMNS_YIELD = 21 };

/* How a number is written. */
enum number {
    AS_REAL,
    AS_TIMES,
    AS_SMALL,
    AS_RATE,
    AS_SHARE,
    AS_PERCENT,
    AS_BYTES,
    AS_FLOPS,
    AS_SECONDS,
    AS_KINDS
};

struct column {
    const char *path, *title;
    void (*format)(struct table_cell *cell, const struct row *row, const struct column *c);
    enum number number;
    unsigned where;
    unsigned
        yields; /* how late it gives way where the screen is narrow, 1 first, COLUMNS_YIELD last; 0: never */
    size_t program;            /* whose, if the name says one; else TIMED */
    const struct field *field; /* null: a summary */
};

/*
 * The column of this name; path null if there is none. A name is the path of a field, or a summary:
 * "forward", "step", "kernel" and "encoding" are times with their intervals, "step.flops" and the like are
 * executed FLOPs as a multiple of the analytic ones, "kernel.rate" is GFLOP/s, or GB/s if memory bounds the
 * kernel.
 */
struct column column_named(const char *name);

/* Those that are in one of these places, in the order of tables and of this program, if they are OF_LEAD;
 * TIMED: of all programs, one after the other. Returns how many. */
size_t columns_chosen(unsigned where, size_t lead, struct column list[COLUMNS_MAX]);

/* Whether it is the time of a program. */
bool column_is_time(const struct column *c);

/* The i-th summary; null past the last. */
const char *column_summary(size_t i);

/* Sets the text of a row's cell; "-" if it was not measured. */
void column_cell(const struct column *c, const struct row *row, struct table_cell *cell);

/* The number by which rows can be sorted; false: the column has none in this row. */
bool column_number(const struct column *c, const struct row *row, double *value);

#endif
