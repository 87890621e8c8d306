#include "bench/row/gates.h"

#include "analysis/record/axes.h"

static void print_titles(const struct field *const *axes, size_t count, FILE *out)
{
    fprintf(out, "\nmissed:");
    for (size_t i = 0; i < count; i++)
        fprintf(out, " %12s", axes[i]->path);
    fprintf(out, " %-20s %12s %12s\n", "gate", "measured", "allowed");
}

/* What is compared: the rows, the axes that tell them apart, and the misses so far. */
struct judging {
    const struct field *axes[AXES_MAX];
    size_t axes_count;
    int misses;
    FILE *out;
};

static void print_miss(struct judging *j, const struct row *row, const char *program,
                       const struct gate_kind *k, const char *measured, double limit)
{
    char allowed[QUANTITY_TEXT], text[AXES_TEXT], gate[64];
    quantity_format(allowed, limit, k->quantity);
    snprintf(gate, sizeof gate, "%s%s%s", program, *program ? "." : "", k->name);
    if (!j->misses++)
        print_titles(j->axes, j->axes_count, j->out);
    fprintf(j->out, "       ");
    for (size_t i = 0; i < j->axes_count; i++) {
        axes_text(row, j->axes[i], text);
        fprintf(j->out, " %12s", text);
    }
    fprintf(j->out, " %-20s %12s %s %s\n", gate, measured, k->least ? "at least" : "at most", allowed);
}

static void judge_gate(struct judging *j, const struct gate *g, const struct row *row, const char *program)
{
    const struct gate_kind *k = &gate_kinds[g->kind];
    char path[SCHEMA_PATH], measured[QUANTITY_TEXT] = "none";
    double value;
    snprintf(path, sizeof path, "%s%s%s", program, *program ? "." : "", k->field);
    bool known = row_get_real(row, path, &value);
    if (known)
        quantity_format(measured, value, k->quantity);
    if (!known || (k->least ? value < g->limit : value > g->limit))
        print_miss(j, row, program, k, measured, g->limit);
}

/* Whether a row was not to run a program that others of its sweep run, as graphs that are only encoded: it
 * has not even a plan of it. */
static bool is_spared(const struct row *row, const char *program)
{
    char path[SCHEMA_PATH];
    double planned;
    snprintf(path, sizeof path, "%s.memory.planned", program);
    return row_is_ok(row) && !row_get_real(row, path, &planned);
}

/* A gate of a program, on a row; one that names no program is of all that are timed. */
static void judge_programs(struct judging *j, const struct gate *g, const bool programs[PROGRAMS],
                           const struct row *row)
{
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        bool meant = g->program == (int)p || (g->program == PROGRAMS && programs[p]);
        if (meant && !(programs[p] && is_spared(row, program_name(p))))
            judge_gate(j, g, row, program_name(p));
    }
}

/* Whether a row was to run none of the programs that are timed. */
static bool is_spared_all(const struct row *row, const bool programs[PROGRAMS])
{
    int asked = 0, spared = 0;
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        asked += programs[p];
        spared += programs[p] && is_spared(row, program_name(p));
    }
    return asked > 0 && spared == asked;
}

int gates_judge(const struct gates *g, const bool programs[PROGRAMS], const struct rows *rows, FILE *out)
{
    struct judging j = {.out = out};
    bool judged[sizeof g->list / sizeof *g->list] = {false};
    j.axes_count = axes_varying(rows, j.axes);
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
    for (int i = 0; i < g->count && rows_count(rows) > 0; i++)
        if (!judged[i]) {
            fprintf(out, "missed: %s: no row was to run anything that it could judge\n",
                    gate_kinds[g->list[i].kind].name);
            j.misses++;
        }
    return j.misses;
}
