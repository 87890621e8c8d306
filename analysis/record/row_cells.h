/* Internal to this folder: the contents of a row. */
#ifndef GTMARK_ANALYSIS_ROW_CELLS_H
#define GTMARK_ANALYSIS_ROW_CELLS_H

#include "analysis/record/row.h"
#include "analysis/record/row_json.h"
#include "analysis/record/schema.h"

enum cell_state {
    CELL_UNSET,
    CELL_NULL,
    CELL_SET,  /* of the field's type */
    CELL_OTHER /* from a file: of another type, as JSON in `text` */
};

struct items {
    union item *list; /* texts are owned */
    size_t count;
};

struct cell {
    enum cell_state state;
    union {
        char *text;
        int64_t count;
        double real;
        struct items items;
    };
};

/* Why a field or group is null. */
struct reason {
    char *path, *text;
    size_t length;             /* of the path */
    const struct field *first; /* that the path is or contains; null: none */
};

struct row {
    struct reason *reasons;
    size_t reason_count;
    char *flaw;          /* from a file: what is wrong with the row and fits no cell; null: nothing */
    char *json;          /* the row as in a file; null: not made yet, or out of date */
    struct cell cells[]; /* in the order of schema_fields */
};

/* Frees the contents of a cell. */
void cell_clear(struct cell *cell, enum field_type type);

/* Empties the cell of a field, for the caller to set; aborts if it is not of this type. */
struct cell *row_empty_cell(struct row *row, const char *path, enum field_type type);

/* The cell of a field with this path if it is set, else null. */
const struct cell *row_set_cell(const struct row *row, const struct field *field);

struct items items_copy(const union item *list, size_t count, enum field_type type);
void items_free(struct items *items, enum field_type type);
int items_order(const struct items *a, const struct items *b, enum field_type type);

/* Adds a reason, which may be empty; the path must not have one yet. first: as schema_first finds it. */
void row_add_reason(struct row *row, const char *path, const struct field *first, const char *text);

/* Whether a field under its path is null. */
bool reason_is_used(const struct row *row, const struct reason *reason);

/* Reads a row from an object of a file, whose text is json[length]. */
struct row *row_read(const struct value *object, const char *json, size_t length);

#endif
