/* For the files of this folder: what a row is. */
#ifndef GTMARK_ANALYSIS_ROW_CELLS_H
#define GTMARK_ANALYSIS_ROW_CELLS_H

#include "analysis/record/row.h"
#include "analysis/record/schema.h"

enum cell_state {
    CELL_UNSET,
    CELL_NULL,
    CELL_SET,  /* of the field's type */
    CELL_OTHER /* of a file: of another type, as JSON in `text` */
};

struct reals {
    double *list;
    size_t count;
};

struct cell {
    enum cell_state state;
    union {
        char *text;
        int64_t count;
        double real;
        struct reals reals;
    };
};

/* Why a field or group is null. */
struct reason {
    char *path, *text;
};

struct row {
    struct reason *reasons;
    size_t reason_count;
    char *flaw;          /* of a file: what makes the row invalid and no cell can hold; null: nothing */
    char *json;          /* as it stands, or will stand, in a file; null: not made yet, or out of date */
    struct cell cells[]; /* by schema_fields */
};

/* Releases what a cell or reason refers to. */
void cell_clear(struct cell *cell, enum field_type type);

/* Adds a reason, which may be empty, to those there are; none is of this path. */
void row_add_reason(struct row *row, const char *path, const char *text);

/* The row that an object of a file is, which stands there as json[length]. */
struct row *row_read(const struct value *object, const char *json, size_t length);

/* Its JSON, laid out as it stands in a file; the row's. */
const char *row_json(const struct row *row);

#endif
