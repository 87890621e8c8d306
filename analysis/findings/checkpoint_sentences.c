/* Findings about checkpoints: rows that differ in nothing else, of those with the most work. */
#include "analysis/findings/sentences.h"

#include "analysis/compare/verdict.h"
#include "analysis/record/axes.h"
#include "analysis/tables/units.h"

#include <math.h>
#include <string.h>

/* The rows, and the axes in which a row with checkpoints and one without must agree. */
struct trade {
    const struct rows *rows;
    const struct field *axes[AXES_MAX];
    size_t n;
};

static struct trade trade_of(const struct rows *rows)
{
    struct trade t = {.rows = rows};
    size_t varying = axes_varying(rows, t.axes);
    for (size_t i = 0; i < varying; i++)
        if (strcmp(t.axes[i]->path, "checkpoint") != 0)
            t.axes[t.n++] = t.axes[i];
    return t;
}

static bool has_checkpoints(const struct row *row)
{
    const char *text;
    return row_get_text(row, "checkpoint", &text) && strcmp(text, "none") != 0;
}

static bool same_beside(const struct trade *t, const struct row *a, const struct row *b)
{
    size_t i = 0;
    while (i < t->n && row_order(a, b, t->axes[i]) == 0)
        i++;
    return i == t->n;
}

/* The row without checkpoints that a row with them is compared with; null if there is none. *work: its FLOPs.
 */
static const struct row *row_without(const struct trade *t, const struct row *row, double *work)
{
    if (!has_checkpoints(row) || !is_settled(row, "step"))
        return NULL;
    for (size_t i = 0; i < rows_count(t->rows); i++) {
        const struct row *base = rows_at(t->rows, i);
        if (!has_checkpoints(base) && is_settled(base, "step") && same_beside(t, base, row) &&
            row_get_real(base, "step.flops.analytic", work))
            return base;
    }
    return NULL;
}

/* Nothing if the intervals leave open whether the times differ. */
static void print_trade(FILE *out, const struct facts *facts, const struct row *base, const struct row *row)
{
    struct verdict v = verdict_rows(base, row, "step", verdict_samples, verdict_limits_default());
    char name[AXES_TEXT], before[UNITS_TEXT], after[UNITS_TEXT];
    bool slower = v.kind == VERDICT_SLOWER;
    double from, to;
    if ((!slower && v.kind != VERDICT_FASTER) || !row_get_real(base, "step.memory.planned", &from) ||
        !row_get_real(row, "step.memory.planned", &to))
        return;
    describe_row(facts, row, name);
    units_format(before, from, UNITS_BINARY, "B");
    units_format(after, to, UNITS_BINARY, "B");
    fprintf(out, "With %s, a training step needs %s of memory instead of %s, and %.0f %% %s time", name,
            after, before, 100 * fabs(v.ratio - 1), slower ? "more" : "less");
    fprintf(out, " (%.0f to %.0f %%).\n", 100 * (slower ? v.low - 1 : 1 - v.high),
            100 * (slower ? v.high - 1 : 1 - v.low));
}

void sentences_checkpoints(FILE *out, const struct facts *facts)
{
    struct trade t = trade_of(facts->rows);
    double most = 0, work = 0;
    for (size_t i = 0; i < rows_count(t.rows); i++)
        if (row_without(&t, rows_at(t.rows, i), &work))
            most = fmax(most, work);
    for (size_t i = 0; i < rows_count(t.rows); i++) {
        const struct row *row = rows_at(t.rows, i), *base = row_without(&t, row, &work);
        if (base && work == most)
            print_trade(out, facts, base, row);
    }
}
