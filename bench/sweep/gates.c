#include "bench/sweep/gates.h"

#include "analysis/record/axes.h"
#include "analysis/tables/grid.h"

/* The axes that vary, and the missed gates so far. */
struct judging {
    const struct field *axes[AXES_MAX];
    size_t axes_count;
    struct grid misses;
};

static void judge_gate(struct judging *j, const struct gate *g, const struct row *row, const char *program)
{
    const struct gate_kind *k = &gate_kinds[g->kind];
    char path[SCHEMA_PATH], measured[QUANTITY_TEXT] = "none", allowed[QUANTITY_TEXT];
    const char *dot = *program ? "." : "";
    double value;
    snprintf(path, sizeof path, "%s%s%s", program, dot, k->field);
    bool known = row_get_real(row, path, &value);
    if (known && (k->least ? value >= g->limit : value <= g->limit))
        return;
    if (known)
        quantity_format(measured, value, k->quantity);
    quantity_format(allowed, g->limit, k->quantity);
    for (size_t i = 0; i < j->axes_count; i++) {
        char text[AXES_TEXT];
        axes_text(row, j->axes[i], text);
        grid_add(&j->misses, "%s", text);
    }
    grid_add(&j->misses, "%s%s%s", program, dot, k->name);
    grid_add(&j->misses, "%s", measured);
    grid_add(&j->misses, "%s %s", k->least ? "at least" : "at most", allowed);
}

/* Whether a row did not have to run a program that other rows of the sweep run, such as a graph that is only
 * encoded: then it has no plan of the program either. */
static bool is_spared(const struct row *row, enum program_kind kind)
{
    return row_is_ok(row) && row_program(row, kind)->memory.planned == COUNT_ABSENT;
}

/* A gate that names no program is for all that are timed. */
static void judge_programs(struct judging *j, const struct gate *g, const bool programs[PROGRAMS],
                           const struct row *row)
{
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        bool meant = g->program == (int)p || (g->program == PROGRAMS && programs[p]);
        if (meant && !(programs[p] && is_spared(row, p)))
            judge_gate(j, g, row, program_name(p));
    }
}

/* Whether a row did not have to run any program. */
static bool is_spared_all(const struct row *row, const bool programs[PROGRAMS])
{
    int asked = 0, spared = 0;
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        asked += programs[p];
        spared += programs[p] && is_spared(row, p);
    }
    return asked > 0 && spared == asked;
}

/* Returns the number of missed gates. */
static int print_misses(const struct grid *misses, FILE *out)
{
    int count = (int)(misses->count / misses->columns) - 1;
    if (count > 0)
        fputs("\nmissed:\n", out);
    grid_print(misses, TABLE_TERMINAL, out);
    return count;
}

int gates_judge(const struct gates *g, const bool programs[PROGRAMS], const struct rows *rows, FILE *out)
{
    struct judging j = {.axes_count = 0};
    bool judged[sizeof g->list / sizeof *g->list] = {false};
    j.axes_count = axes_varying(rows, j.axes);
    j.misses.columns = j.axes_count + 3;
    for (size_t i = 0; i < j.axes_count; i++)
        grid_add(&j.misses, "%s", j.axes[i]->path);
    grid_add(&j.misses, "gate");
    grid_add(&j.misses, "measured");
    grid_add(&j.misses, "allowed");
    for (size_t r = 0; r < rows_count(rows); r++)
        for (int i = 0; i < g->count; i++) {
            const struct row *row = rows_at(rows, r);
            if (is_spared_all(row, programs))
                continue;
            judged[i] = true;
            if (gate_kinds[g->list[i].kind].of_row)
                judge_gate(&j, &g->list[i], row, "");
            else
                judge_programs(&j, &g->list[i], programs, row);
        }
    int misses = print_misses(&j.misses, out);
    for (int i = 0; i < g->count && rows_count(rows) > 0; i++)
        if (!judged[i]) {
            fprintf(out, "missed: %s: no row was to run anything that it could judge\n",
                    gate_kinds[g->list[i].kind].name);
            misses++;
        }
    grid_free(&j.misses);
    return misses;
}

int gates_judge_unchecked(const struct rows *rows, bool wanted, FILE *out)
{
    const char *reason = NULL;
    int count = 0;
    for (size_t i = 0; i < rows_count(rows); i++) {
        const char *unchecked = row_unchecked(rows_at(rows, i));
        count += unchecked != NULL;
        reason = reason ? reason : unchecked;
    }
    if (count > 0)
        fprintf(out, "%s: %d of %zu rows unchecked (%s)%s\n", wanted ? "missed" : "note", count,
                rows_count(rows), reason,
                wanted ? "; --no-check accepts this" : ": their results may be wrong");
    return wanted ? count : 0;
}
