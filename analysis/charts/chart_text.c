#include "analysis/charts/chart_text.h"

#include "analysis/statistics/allocate.h"

void chart_value(char text[UNITS_TEXT], double y, const struct chart *c)
{
    char digits[UNITS_TEXT];
    if (c->quantities[0].kind != SERIES_RATE) {
        units_format(text, y, c->base, c->unit);
        return;
    }
    snprintf(digits, sizeof digits, "%.3g", y);
    if (y >= 1)
        units_format_short(digits, strtod(digits, NULL), UNITS_SI, "");
    snprintf(text, UNITS_TEXT, "%.20s %.30s", digits, c->unit);
}

void chart_label(char text[CHART_TEXT], const struct series *s)
{
    const struct quantity *q = s->quantity;
    snprintf(text, CHART_TEXT, "%s%s%s", q->label, *q->label && *s->group ? ", " : "", s->group);
    if (!*text)
        append(text, CHART_TEXT, "%s", q->subject);
}

static const struct row *first_ok(const struct rows *rows)
{
    for (size_t i = 0; i < rows_count(rows); i++)
        if (row_is_ok(rows_at(rows, i)))
            return rows_at(rows, i);
    return NULL;
}

/* Whether a value says that something is not there: "no pe", "0 dropout", how the work of one rank is shared.
 */
static bool is_absence(const struct row *row, const struct field *axis, const char *value)
{
    bool alone = strncmp(axis->path, "ranks.", strlen("ranks.")) == 0 &&
                 (!row || row->ranks.count == COUNT_ABSENT || row->ranks.count == 1);
    return alone || !*value || strncmp(value, "no ", 3) == 0 || strncmp(value, "0 ", 2) == 0;
}

static void append_constant(char text[CHART_TEXT], const struct row *row, const struct field *axis)
{
    char value[AXES_TEXT];
    axes_describe(row, axis, value);
    if (!is_absence(row, axis, value))
        append(text, CHART_TEXT, "%s%s", *text ? ", " : "", value);
}

/* Axes that identify the machine and the program rather than a size. */
static const char *const identity[] = {"model", "dtype", "device", "threads"};
enum { IDENTITY = sizeof identity / sizeof *identity };

void chart_machine(char text[CHART_TEXT], const struct record *record, const struct rows *rows)
{
    text[0] = '\0';
    if (record) {
        char processor[PROCESSOR_TEXT];
        processor_text(record_head(record), processor);
        append(text, CHART_TEXT, "%s", processor);
    }
    for (size_t i = 0; i < IDENTITY; i++)
        if (!axes_vary(rows, schema_find(identity[i])))
            append_constant(text, first_ok(rows), schema_find(identity[i]));
}

void chart_work(char text[CHART_TEXT], const struct rows *rows)
{
    const struct field *varying[AXES_MAX];
    size_t n = axes_varying(rows, varying), k = 0;
    text[0] = '\0';
    for (const struct field *axis = schema_fields; schema_has(axis); axis++) {
        bool varies = k < n && varying[k] == axis, told = false;
        k += varies;
        for (size_t i = 0; i < IDENTITY; i++)
            told = told || strcmp(axis->path, identity[i]) == 0;
        if (axis->symbol && !varies && !told)
            append_constant(text, first_ok(rows), axis);
    }
}

void chart_title(char text[CHART_TEXT], const struct chart *c, const struct series_set *set,
                 const struct field *axis)
{
    char at[AXES_TEXT];
    axes_describe_number(axis, set->series[0].points[0].at.x, at);
    snprintf(text, CHART_TEXT, "%s", c->noun);
    for (size_t i = 0; i < set->count; i++) {
        const char *subject = set->series[i].quantity->subject, *joint = i > 0 ? " and" : "";
        if (i == 0 || strcmp(subject, set->series[i - 1].quantity->subject) != 0)
            append(text, CHART_TEXT, "%s of %s", joint, subject);
    }
    if (!series_has_one_x(set))
        append(text, CHART_TEXT, " over %s", axes_title(axis));
    else
        append(text, CHART_TEXT, ", %s", at);
}

void chart_left_out(char text[CHART_TEXT], const struct rows *rows, const struct field *axis, bool encodings)
{
    enum { NAMED = 5 };
    size_t others = 0, unsolved = 0;
    text[0] = '\0';
    for (size_t i = 0; i < rows_count(rows); i++) {
        const struct row *row = rows_at(rows, i);
        const char *status = row->status ? row->status : "?";
        char value[AXES_TEXT];
        unsolved += encodings && row_is_ok(row) && row_solved_nothing(row);
        if (row_is_ok(row) && series_has_place(row, axis))
            continue;
        if (row_is_ok(row))
            status = "no place on a logarithmic scale";
        axes_describe(row, axis, value);
        if (others++ < NAMED)
            append(text, CHART_TEXT, "%s%s (%s)", *text ? ", " : "left out: ", value, status);
    }
    if (others > NAMED)
        append(text, CHART_TEXT, " and %zu more", others - NAMED);
    if (unsolved > 0)
        append(text, CHART_TEXT, "%s%zu encoding%s with all vectors in the null space, so that no solver ran",
               *text ? "; " : "left out: ", unsolved, unsolved == 1 ? "" : "s");
}
