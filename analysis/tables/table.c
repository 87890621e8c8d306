#include "analysis/tables/table.h"

#include "analysis/tables/columns.h"
#include "analysis/tables/grid.h"
#include "analysis/tables/units.h"
#include "analysis/tables/wrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const table_usual[] = {"forward",
                                   "forward.gflops",
                                   "step",
                                   "step.gflops",
                                   "step.memory.planned",
                                   "step.flops.analytic",
                                   "step.flops",
                                   NULL};

const char *const table_planned[] = {"forward.flops.analytic",
                                     "forward.bytes",
                                     "forward.intensity",
                                     "forward.memory.planned",
                                     "forward.predicted.time",
                                     "step.flops.analytic",
                                     "step.bytes",
                                     "step.intensity",
                                     "step.memory.planned",
                                     "step.predicted.time",
                                     "kernel.flops.analytic",
                                     "kernel.bytes",
                                     "kernel.intensity",
                                     "kernel.memory.planned",
                                     "kernel.predicted.time",
                                     "encoding.bound.flops",
                                     "encoding.storage",
                                     NULL};

/* What a table leaves out first if there is no room for everything. */
static const char *const spare[] = {
    "forward.intensity",        "forward.bytes",  "forward.memory.planned", "forward.predicted.time",
    "forward.flops.analytic",   "step.intensity", "step.flops.analytic",    "graph.padding_waste",
    "forward.nodes_per_second", "encoding.peak",  "encoding.residual",      "kernel.cold.median",
    "kernel.bound.ratio",       "forward.gflops", "step.memory.planned"};
enum { SPARE = sizeof spare / sizeof *spare };

/* Whether it is one of the table's axes or columns. */
static bool has_column(const struct table *t, const char *column)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->columns[i], column) == 0)
            return true;
    for (size_t i = 0; i < t->axes_count; i++)
        if (strcmp(t->axes[i]->path, column) == 0)
            return true;
    return false;
}

void table_add(struct table *t, const char *const *columns)
{
    for (; *columns && t->count < TABLE_COLUMNS; columns++)
        if (!has_column(t, *columns))
            t->columns[t->count++] = *columns;
}

static const char *axis_title(const struct field *axis)
{
    return strcmp(axis->path, "graph.family") == 0 ? "graph" : axis->path;
}

/* Whether turns of a program were left out, as they were in other states of the machine than the others. */
static bool left_turns_out(const struct row *row, size_t kind)
{
    int64_t others = row_timed(row, kind)->other_turns;
    return others != COUNT_ABSENT && others != 0;
}

static void status_cell(struct table_cell *cell, const struct table_line *line)
{
    const struct row *row = line->row;
    const char *reason = row->reason ? row->reason : "", *unchecked = row_unchecked(row);
    snprintf(cell->text, CELL_TEXT, "%s%s%s%s%s", row->status ? row->status : "?", line->kept ? ": kept" : "",
             *reason ? ": " : "", reason,
             !unchecked              ? ""
             : *reason || line->kept ? "; unchecked"
                                     : ", unchecked");
    if (unchecked) {
        char note[MESSAGE_SIZE];
        snprintf(note, sizeof note, "unchecked: %.480s", unchecked);
        notes_mark(cell->notes, note, cell->text, CELL_TEXT);
    }
    bool others = false;
    for (size_t p = 0; p < TIMED; p++)
        others = others || left_turns_out(row, p);
    if (others)
        notes_mark(cell->notes,
                   "turns in other states of the machine are left out: time.other_turns in the file",
                   cell->text, CELL_TEXT);
}

/* The cells of a line; null: the titles. */
static void add_table_line(struct table *t, const struct column *columns, const struct table_line *line,
                           struct grid *g)
{
    struct table_cell cell = {.notes = &t->notes};
    for (size_t i = 0; i < t->axes_count; i++) {
        char axis[AXES_TEXT];
        if (line)
            axes_text(line->row, t->axes[i], axis);
        if (line && t->blas && strcmp(t->axes[i]->path, "variant") == 0 && strcmp(axis, "blas") == 0)
            notes_mark(&t->notes, t->blas, axis, sizeof axis);
        grid_add(g, "%s", !line ? axis_title(t->axes[i]) : *axis ? axis : "-");
    }
    for (size_t i = 0; i < t->count; i++) {
        if (line)
            column_cell(&columns[i], line->row, &t->notes, &cell);
        if (line && *cell.text == '~')
            t->noisy[t->noisy[0] != NULL] = row_noisy(line->row, columns[i].program);
        grid_add(g, "%s", line ? cell.text : columns[i].title);
    }
    if (line)
        status_cell(&cell, line);
    grid_add(g, "%s", line ? cell.text : "status");
}

/* Names the columns that were left out. */
static void print_spared(const struct table *t, const size_t *spared, size_t n)
{
    if (n == 0)
        return;
    struct wrap w;
    wrap_begin(&w, t->out);
    fputs("not shown:", w.lines);
    for (size_t i = 0; i < n; i++)
        fprintf(w.lines, "%s %s", i ? "," : "", t->columns[spared[i] - t->axes_count]);
    fputs(" (--columns)\n", w.lines);
    wrap_end(&w);
}

static void print_notes(struct table *t)
{
    char reason[MESSAGE_SIZE];
    if (t->style == TABLE_MARKDOWN && (t->notes.count > 0 || t->noisy[0]))
        putc('\n', t->out); /* else they would be rows */
    if (t->noisy[0]) {
        snprintf(reason, sizeof reason,
                 "no basis for a verdict, a law or a finding (time.noisy in the file): %.400s%s", t->noisy[0],
                 t->noisy[1] ? "; ..." : "");
        fputs("~ ", t->out);
        wrap_text(t->out, reason, 2, 2);
    }
    notes_print(&t->notes, t->out);
    notes_free(&t->notes);
    t->noisy[0] = t->noisy[1] = NULL;
}

void table_print(struct table *t, const struct table_line *lines, size_t n)
{
    struct column columns[TABLE_COLUMNS];
    size_t left_out[SPARE];
    struct grid g = {.columns = t->axes_count + t->count + 1, .spare = left_out, .all = t->all};
    for (size_t s = 0; s < SPARE && !t->all; s++)
        for (size_t i = 0; i < t->count; i++)
            if (strcmp(t->columns[i], spare[s]) == 0)
                left_out[g.spares++] = t->axes_count + i;
    for (size_t i = 0; i < t->count; i++)
        columns[i] = column_named(t->columns[i]);
    add_table_line(t, columns, NULL, &g);
    for (size_t i = 0; i < n; i++)
        add_table_line(t, columns, &lines[i], &g);
    print_spared(t, left_out, grid_print(&g, t->style, t->out));
    grid_free(&g);
    print_notes(t);
}
