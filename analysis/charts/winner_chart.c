#include "analysis/charts/winner_chart.h"

#include "analysis/charts/chart_text.h"
#include "analysis/charts/frame.h"
#include "analysis/charts/gnuplot.h"
#include "analysis/record/slices.h"
#include "analysis/statistics/allocate.h"
#include "analysis/statistics/statistics.h"

/* The index of a value, added if it is new; `MAP_MAX` if there is no room. */
static size_t index_of_value(double *values, size_t *count, double value)
{
    size_t i = 0;
    while (i < *count && values[i] != value)
        i++;
    if (i == *count && *count < MAP_MAX)
        values[(*count)++] = value;
    return i;
}

static size_t index_of_kind(const struct map *m, const char *kind)
{
    size_t i = 0;
    while (i < m->kinds && strcmp(m->kind[i], kind) != 0)
        i++;
    return i;
}

static bool is_of_map(const struct row *row)
{
    return row->attention && row->nodes != COUNT_ABSENT && !isnan(row->degree);
}

/* The rows of a cell, by kind; null: none. */
struct rivals {
    const struct row *row[WINNERS_MAX];
};

static bool was_timed(const struct row *row, size_t program)
{
    return row && row_is_ok(row) && !isnan(row_timed(row, program)->median);
}

static struct map_cell judge_cell(const struct map *m, const struct rivals *r)
{
    struct map_cell cell = {.winner = -1, .factor = NAN};
    double next = INFINITY;
    int best = -1;
    for (size_t k = 0; k < m->kinds; k++) {
        bool timed = was_timed(r->row[k], m->program);
        cell.timed += timed;
        cell.known += timed || (r->row[k] && same_text(r->row[k]->status, "oom"));
        if (timed && (best < 0 ||
                      row_timed(r->row[k], m->program)->median < row_timed(r->row[best], m->program)->median))
            best = (int)k;
    }
    if (best < 0 || cell.known < m->kinds)
        return cell;
    cell.winner = best;
    for (int k = 0; k < (int)m->kinds; k++)
        if (k != best && was_timed(r->row[k], m->program)) {
            next = fmin(next, row_timed(r->row[k], m->program)->median);
            if (row_verdict(r->row[k], m->program, r->row[best], m->program, verdict_within).kind !=
                VERDICT_FASTER)
                cell.winner = -1;
        }
    if (isfinite(next))
        cell.factor = next / row_timed(r->row[best], m->program)->median;
    return cell;
}

static void survey(const struct slice *slice, struct map *m)
{
    m->program = TIMED_FORWARD;
    for (size_t i = 0; i < slice->count; i++) {
        const struct row *row = slice->rows[i].row;
        if (!is_of_map(row))
            continue;
        if (index_of_kind(m, row->attention) == m->kinds && m->kinds < WINNERS_MAX)
            m->kind[m->kinds++] = row->attention;
        index_of_value(m->nodes, &m->columns, (double)row->nodes);
        index_of_value(m->degree, &m->lines, row->degree);
        if (was_timed(row, TIMED_STEP))
            m->program = TIMED_STEP;
    }
    sort_doubles(m->nodes, m->columns);
    sort_doubles(m->degree, m->lines);
}

static void fill_map(const struct slice *slice, struct map *m)
{
    struct rivals r[MAP_MAX + 1][MAP_MAX + 1] = {0}; /* the last ones: of values beyond the limits */
    for (size_t i = 0; i < slice->count; i++) {
        const struct row *row = slice->rows[i].row;
        size_t k = is_of_map(row) ? index_of_kind(m, row->attention) : m->kinds;
        if (k < m->kinds)
            r[index_of_value(m->nodes, &m->columns, (double)row->nodes)]
             [index_of_value(m->degree, &m->lines, row->degree)]
                 .row[k] = row;
    }
    for (size_t x = 0; x < m->columns; x++)
        for (size_t y = 0; y < m->lines; y++)
            m->cell[x][y] = judge_cell(m, &r[x][y]);
}

bool map_of(const struct rows *rows, struct map *m)
{
    static const char *const any[] = {"attention", "nodes", "degree", NULL};
    struct slices slices = slices_of(rows, NULL, any);
    *m = (struct map){0};
    survey(slices.list, m);
    bool several = m->kinds > 1 && m->columns > 1 && m->lines > 1;
    if (several)
        fill_map(slices.list, m);
    slices_free(&slices);
    return several;
}

static void put_values(FILE *out, const char *name, const double *values, size_t n)
{
    fprintf(out, "%s = \"", name);
    for (size_t i = 0; i < n; i++)
        fprintf(out, " %.15g", values[i]);
    fputs("\"\n", out);
}

static void put_map(FILE *out, const struct map *m)
{
    fputs("$cells << END\n", out);
    for (size_t x = 0; x < m->columns; x++)
        for (size_t y = 0; y < m->lines; y++) {
            const struct map_cell *c = &m->cell[x][y];
            char text[32] = "";
            if (c->winner >= 0 && !isnan(c->factor))
                snprintf(text, sizeof text, "%.3gx", c->factor);
            else if (c->winner >= 0)
                snprintf(text, sizeof text, "alone");
            else if (c->timed > 0)
                snprintf(text, sizeof text, "open");
            fprintf(out, "%zu %zu %d \"%s\"\n", x, y, c->winner + 1, text);
        }
    fputs("END\n", out);
}

struct winner_chart {
    const struct record *record;
    const struct map *map;
};

static void write_map(FILE *out, const void *what)
{
    const struct winner_chart *c = what;
    const struct map *m = c->map;
    char title[128];
    fprintf(out, "array label[%zu]\n", m->kinds);
    for (size_t k = 0; k < m->kinds; k++)
        gnuplot_put_element(out, "label", k + 1, m->kind[k]);
    put_values(out, "nodes", m->nodes, m->columns);
    put_values(out, "degrees", m->degree, m->lines);
    put_map(out, m);
    snprintf(title, sizeof title, "The fastest attention in %s, by nodes and degree",
             m->program == TIMED_STEP ? "a training step" : "inference");
    frame_write(out,
                &(struct frame){.title = title,
                                .axis = "degree",
                                .record = c->record,
                                .rows = record_rows(c->record),
                                .notes = {"number: how much longer the next one takes; open: inconclusive; "
                                          "alone: the others need more memory"},
                                .height = 56 + 44 * m->lines});
}

void winner_chart_add(struct figures *f, const struct record *record, const struct field *axis)
{
    (void)axis;
    struct map m;
    if (rows_count(record_rows(record)) > 0 && map_of(record_rows(record), &m))
        figures_add(f, "winner", style_map, write_map, &(struct winner_chart){record, &m});
}
