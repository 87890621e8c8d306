#include "bench/sweep/gates.h"

#include <string.h>

#include "analysis/record/axes.h"
#include "analysis/statistics/statistics.h"
#include "analysis/tables/grid.h"

/* The axes that vary, and the missed gates so far. */
struct judging {
    const struct field *axes[AXES_MAX];
    size_t axes_count;
    struct grid misses;
};

/* Adds a line for the row if its value does not keep the gate. */
static void judge_gate(struct judging *j, const struct gate *g, const struct row *row, const char *program,
                       const char *field)
{
    const struct gate_kind *k = &gate_kinds[g->kind];
    char path[SCHEMA_PATH], measured[QUANTITY_TEXT] = "none", allowed[QUANTITY_TEXT];
    const char *dot = *program ? "." : "";
    double value;
    snprintf(path, sizeof path, "%s%s%s", program, dot, field ? field : "");
    bool known =
        *g->metric ? row_get_metric(row, program, g->metric, &value) : row_get_real(row, path, &value);
    if (known && (k->least ? value >= g->limit : value <= g->limit))
        return;
    if (known)
        quantity_format(measured, value, k->quantity);
    else if (g->kind == GATE_P99)
        snprintf(measured, sizeof measured, "none, needs %d samples", SUMMARY_P99_MIN);
    quantity_format(allowed, g->limit, k->quantity);
    for (size_t i = 0; i < j->axes_count; i++) {
        char text[AXES_TEXT];
        axes_text(row, j->axes[i], text);
        grid_add(&j->misses, "%s", text);
    }
    grid_add(&j->misses, "%s%s%s%s%s", program, dot, k->name, *g->metric ? "." : "", g->metric);
    grid_add(&j->misses, "%s", measured);
    grid_add(&j->misses, "%s %s", k->least ? "at least" : "at most", allowed);
}

/* Whether a row did not have to run what other rows of the sweep run: it has no encoding, or its graph is
 * only encoded, and then it has no plan of the program either. */
static bool was_not_required(const struct row *row, size_t kind)
{
    if (kind == TIMED_ENCODING)
        return !row->pe || strcmp(row->pe, "none") == 0;
    return row_is_ok(row) && row_program(row, kind)->memory.planned == COUNT_ABSENT;
}

/* A gate that names nothing is for all programs that are timed. Returns whether it judged something. */
static bool judge_programs(struct judging *j, const struct gate *g, const bool programs[PROGRAMS],
                           const struct row *row)
{
    const struct gate_kind *k = &gate_kinds[g->kind];
    bool any = false;
    for (size_t p = 0; p < TIMED; p++) {
        bool asked = p == TIMED_ENCODING || programs[p];
        bool meant = g->program == (int)p || (g->program == GATE_ALL && p != TIMED_ENCODING && asked);
        if (!meant || (asked && was_not_required(row, p)))
            continue;
        judge_gate(j, g, row, program_name(p), p == TIMED_ENCODING ? k->of_encoding : k->field);
        any = true;
    }
    return any;
}

/* Whether a row did not have to run any program. */
static bool nothing_was_required(const struct row *row, const bool programs[PROGRAMS])
{
    int asked = 0, spared = 0;
    for (size_t p = 0; p < PROGRAMS; p++) {
        asked += programs[p];
        spared += programs[p] && was_not_required(row, p);
    }
    return asked > 0 && spared == asked;
}

static bool judge_of_row(struct judging *j, const struct gate *g, const bool programs[PROGRAMS],
                         const struct row *row)
{
    bool spared = nothing_was_required(row, programs);
    if (!spared)
        judge_gate(j, g, row, "", gate_kinds[g->kind].field);
    return !spared;
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
            const struct gate *gate = &g->list[i];
            bool any = (gate_kinds[gate->kind].of_row ? judge_of_row : judge_programs)(&j, gate, programs,
                                                                                       rows_at(rows, r));
            judged[i] = judged[i] || any;
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

int gates_judge_unchecked(const struct rows *rows, bool allowed, FILE *out)
{
    const char *reason = NULL;
    int count = 0;
    for (size_t i = 0; i < rows_count(rows); i++) {
        const char *unchecked = row_unchecked(rows_at(rows, i));
        count += unchecked != NULL;
        reason = reason ? reason : unchecked;
    }
    if (count > 0)
        fprintf(out, "%s: %d of %zu rows unchecked (%s)%s\n", allowed ? "note" : "missed", count,
                rows_count(rows), reason,
                allowed ? ": their results may be wrong" : "; --gate allow-unchecked accepts this");
    return allowed ? 0 : count;
}
