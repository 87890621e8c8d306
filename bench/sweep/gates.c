#include "bench/sweep/gates.h"

#include <string.h>

#include "analysis/compare/compare.h"
#include "analysis/record/axes.h"
#include "analysis/record/row_range.h"
#include "analysis/statistics/statistics.h"
#include "analysis/tables/grid.h"

/* The axes that vary, and the gates so far that rows miss, or may miss. */
struct judging {
    const struct field *axes[AXES_MAX];
    size_t axes_count;
    struct grid grid[LIMIT_MISSED + 1]; /* of LIMIT_MET: none */
};

/* What a value may be: that of a time is as uncertain as the time; its percentiles for the load alone. */
static struct range range_of_value(const struct row *row, const struct gate *g, size_t program, double value)
{
    struct range time = row_range(row, program), r = {.low = value, .high = value};
    double shortest = range_floor(&time) / time.median, longest = time.high / time.median;
    if (g->kind == GATE_P99)
        r.low *= 1 - time.lost;
    else if (g->kind == GATE_LATENCY)
        r = (struct range){.low = value * shortest, .high = value * longest};
    else if (g->kind <= GATE_EDGES)
        r = (struct range){.low = value / longest, .high = value / shortest};
    return r;
}

static void range_text(char text[AXES_TEXT], const struct range *r, enum quantity_kind kind)
{
    char low[QUANTITY_TEXT], high[QUANTITY_TEXT];
    quantity_format(low, r->low, kind);
    quantity_format(high, r->high, kind);
    snprintf(text, AXES_TEXT, strcmp(low, high) == 0 ? "%s" : "%s to %s", low, high);
}

/* Adds a line for the row if its value, or some of its range, does not keep the gate. */
static void judge_gate(struct judging *j, const struct gate *g, const struct row *row, size_t program,
                       const char *field)
{
    const struct gate_kind *k = &gate_kinds[g->kind];
    char path[SCHEMA_PATH], measured[AXES_TEXT] = "none", allowed[QUANTITY_TEXT];
    const char *name = k->of_row ? "" : program_name(program), *dot = *name ? "." : "";
    enum limit_verdict verdict = LIMIT_MISSED;
    double value;
    snprintf(path, sizeof path, "%s%s%s", name, dot, field ? field : "");
    if (*g->metric ? row_get_metric(row, name, g->metric, &value) : row_get_real(row, path, &value)) {
        struct range r = range_of_value(row, g, program, value);
        verdict = limit_judge(r.low, r.high, g->limit, k->least);
        range_text(measured, &r, k->quantity);
    } else if (g->kind == GATE_P99) {
        snprintf(measured, sizeof measured, "none, needs %d samples", SUMMARY_P99_MIN);
    }
    if (verdict == LIMIT_MET)
        return;
    struct grid *grid = &j->grid[verdict];
    quantity_format(allowed, g->limit, k->quantity);
    for (size_t i = 0; i < j->axes_count; i++) {
        char text[AXES_TEXT];
        axes_text(row, j->axes[i], text);
        grid_add(grid, "%s", text);
    }
    grid_add(grid, "%s%s%s%s%s", name, dot, k->name, *g->metric ? "." : "", g->metric);
    grid_add(grid, "%s", measured);
    grid_add(grid, "%s %s", k->least ? "at least" : "at most", allowed);
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
        judge_gate(j, g, row, p, p == TIMED_ENCODING ? k->of_encoding : k->field);
        any = true;
    }
    return any;
}

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
        judge_gate(j, g, row, 0, gate_kinds[g->kind].field);
    return !spared;
}

static void begin(struct judging *j, struct grid *grid)
{
    grid->columns = j->axes_count + 3;
    for (size_t i = 0; i < j->axes_count; i++)
        grid_add(grid, "%s", j->axes[i]->path);
    grid_add(grid, "gate");
    grid_add(grid, "measured");
    grid_add(grid, "allowed");
}

/* Prints a table, if it has lines; returns how many. */
static int print_gates(struct grid *grid, const char *title, FILE *out)
{
    int count = (int)(grid->count / grid->columns) - 1;
    if (count > 0)
        fprintf(out, "\n%s:\n", title);
    grid_print(grid, TABLE_TERMINAL, out);
    grid_free(grid);
    return count;
}

int gates_judge(const struct gates *g, const bool programs[PROGRAMS], const struct rows *rows, bool strict,
                FILE *out)
{
    struct judging j = {.axes_count = axes_varying(rows, j.axes)};
    struct grid *missed = &j.grid[LIMIT_MISSED], *open = &j.grid[LIMIT_INCONCLUSIVE];
    bool judged[sizeof g->list / sizeof *g->list] = {false};
    begin(&j, missed);
    begin(&j, open);
    for (size_t r = 0; r < rows_count(rows); r++)
        for (int i = 0; i < g->count; i++) {
            const struct gate *gate = &g->list[i];
            bool any = (gate_kinds[gate->kind].of_row ? judge_of_row : judge_programs)(&j, gate, programs,
                                                                                       rows_at(rows, r));
            judged[i] = judged[i] || any;
        }
    int misses = print_gates(missed, "missed", out),
        unsure = print_gates(open,
                             strict ? "missed, since inconclusive (--gate strict)"
                                    : "inconclusive; --gate strict makes this a miss",
                             out);
    for (int i = 0; i < g->count && rows_count(rows) > 0; i++)
        if (!judged[i]) {
            fprintf(out, "missed: %s: no row was to run anything that it could judge\n",
                    gate_kinds[g->list[i].kind].name);
            misses++;
        }
    return misses + (strict ? unsure : 0);
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

_Static_assert(PROGRAMS + 1 == TIMED && (int)PROGRAM_FORWARD == TIMED_FORWARD &&
                   (int)PROGRAM_STEP == TIMED_STEP && (int)PROGRAM_KERNEL == TIMED_KERNEL,
               "the programs, and the encoding");

/* Rows match whatever device and threads they ran on, so a difference is reported. */
static void note_place(const struct row *base, const struct row *row, FILE *out)
{
    static const char *const places[] = {"device", "threads"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char then[AXES_TEXT], now[AXES_TEXT];
        axes_text(base, schema_find(places[i]), then);
        axes_text(row, schema_find(places[i]), now);
        if (strcmp(then, now) != 0)
            fprintf(out, "note: %s %s, in the baseline %s: this is no comparison of builds\n", places[i], now,
                    then);
    }
}

static void note_rest(const struct comparison *c, FILE *out)
{
    size_t others = comparison_alone(c, 0);
    if (others > 0)
        fprintf(out, "note: %zu of %zu rows of the baseline %s not of this run\n", others,
                rows_count(c->files[0].rows), others == 1 ? "is" : "are");
    for (size_t i = 0; i < comparison_lines(c); i++)
        note_place(comparison_row(c, 0, i), comparison_row(c, 1, i), out);
}

static bool any_encoded(const struct rows *rows)
{
    size_t i = 0;
    while (i < rows_count(rows) && rows_at(rows, i)->encoding.time.samples.count == 0)
        i++;
    return i < rows_count(rows);
}

static struct comparison compare_with(const struct rows *base, const struct rows *rows,
                                      const bool programs[PROGRAMS], FILE *out)
{
    struct comparison c;
    comparison_of_rows(&c, base, rows);
    memcpy(c.programs, programs, PROGRAMS * sizeof *programs);
    fputs("\nA: the baseline; B: this run\n", out);
    return c;
}

int baseline_judge_exact(const struct record *base, const struct record *now, const struct rows *rows,
                         const bool programs[PROGRAMS], struct lenience how, FILE *out)
{
    struct comparison c = compare_with(record_rows(base), rows, programs, out);
    struct exact found = exact_compare(&c, exact_counts_alike(base, now));
    exact_table(out, TABLE_TERMINAL, &c, &found);
    if (found.alone + found.fallen > 0)
        compare_left_over(out, &c, 1);
    int misses = gate_exact(out, &found, how);
    note_rest(&c, out);
    exact_free(&found);
    comparison_free(&c);
    return misses;
}

int baseline_judge(const struct rows *base, const struct rows *rows, const bool programs[PROGRAMS],
                   struct lenience how, FILE *out)
{
    struct comparison c = compare_with(base, rows, programs, out);
    c.programs[PROGRAMS] = any_encoded(rows) || any_encoded(base);
    int misses = gate_pairs(out, &c, how);
    note_rest(&c, out);
    comparison_free(&c);
    return misses;
}

/* Prints a line if there are any; returns the number of misses. */
static size_t say(FILE *out, size_t count, bool miss, const char *what)
{
    if (count > 0)
        fprintf(out, "%s: %zu %s\n", miss ? "missed" : "note", count, what);
    return miss ? count : 0;
}

static size_t say_uncompared(FILE *out, size_t count, struct lenience how)
{
    return say(out, count, !how.allow_uncompared,
               how.allow_uncompared ? "not compared (--gate allow-uncompared)"
                                    : "not compared; --gate allow-uncompared accepts this");
}

int gate_exact(FILE *out, const struct exact *found, struct lenience how)
{
    size_t misses = say(out, found->more, true, "more than in the baseline");
    misses += say(out, found->fallen, true, "no longer ok");
    say(out, found->less, false, "less than in the baseline: keep this file as the next one");
    misses += say_uncompared(out, found->alone, how);
    if (misses == 0 && found->equal + found->less > 0)
        fprintf(out, "exact: %zu figures as in the baseline\n", found->equal);
    if (misses == 0 && found->equal + found->less == 0)
        misses += say(out, 1, true, "comparison: nothing could be compared");
    return (int)misses;
}

int gate_pairs(FILE *out, const struct comparison *c, struct lenience how)
{
    struct tally all = compare_two(out, c);
    size_t uncompared = comparison_alone(c, 1), open = 0, not_slower = 0, misses;
    for (struct pair p = {0}; comparison_next(c, &p);) {
        struct verdict v = comparison_judge(c, &p);
        uncompared += v.uncompared;
        open += v.kind == VERDICT_INCONCLUSIVE && !v.uncompared && !v.not_slower;
        not_slower += v.not_slower;
    }
    misses = say(out, all.verdicts[VERDICT_SLOWER], true, "slower");
    misses += say_uncompared(out, uncompared, how);
    say(out, not_slower, false, "inconclusive, but not slower");
    misses +=
        say(out, open, how.strict,
            how.strict ? "inconclusive (--gate strict)" : "inconclusive; --gate strict makes this a miss");
    return (int)misses + (misses == 0 && all.judged == 0);
}
