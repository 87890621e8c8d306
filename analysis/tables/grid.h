/*
 * Tables that are printed as a whole, in any style: columns are as wide as their cells, and left out if they
 * are empty. On a terminal lines fit on the screen (wrap.h).
 */
#ifndef GTMARK_ANALYSIS_GRID_H
#define GTMARK_ANALYSIS_GRID_H

#include "analysis/record/axes.h"
#include "analysis/tables/units.h"

enum table_style { TABLE_TERMINAL, TABLE_MARKDOWN, TABLE_HTML };

enum { GRID_COLUMNS = 64 }; /* at most */

struct grid {
    size_t columns, count; /* columns, and cells of all lines */
    struct grid_cell {
        char *text;
        const char *class; /* of a cell of HTML whose text is markup; else null */
        double number;     /* by which HTML is sorted; NAN: by its text */
    } * cells;             /* line by line; the first line is the titles */
    size_t *spare, spares; /* columns that give way, in this order, until the lines fit: see grid_print */
    int width;             /* of the screen; 0: that of the stream */
    bool all;              /* show empty columns too */
    bool phrases;          /* wrap the last column by wrap_phrases */
    const char *class;     /* of the table in HTML */
};

/* The next cell. The first line has to be complete, `columns` cells, before the others. */
void grid_add(struct grid *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Some of them, null-terminated; the values of axes; a value with its unit and prefix, or with as many
 * decimals, or "-" if it is not finite. */
void grid_add_texts(struct grid *g, ...) __attribute__((sentinel));
void grid_add_axes(struct grid *g, const struct row *row, const struct field *const *axes, size_t n);
void grid_add_value(struct grid *g, double value, enum unit_base base, const char *unit);
void grid_add_rounded(struct grid *g, int decimals, double value, const char *unit);

/* A cell of HTML, of markup, which is freed with the grid. */
void grid_add_markup(struct grid *g, const char *class, char *markup);

/* The number of the last cell. */
void grid_number(struct grid *g, double number);

/*
 * Prints the lines, the last column left-aligned and on a terminal wrapped, without columns whose cells below
 * the title are all "-". Nothing if there are only titles. Moves the spare columns that it left out for want
 * of room, and that did not fit once others had been left out, to the front of `spare`; returns how many.
 */
size_t grid_print(const struct grid *g, enum table_style style, FILE *out);

/* Whether a line fits into `width` without the spare columns. */
bool grid_can_fit(const struct grid *g);

/* Removes all cells. */
void grid_clear(struct grid *g);

void grid_free(struct grid *g);

#endif
