/* Which axes vary, and their values as text. */
#include "analysis/record/axes.h"

#include "analysis/statistics/allocate.h"

enum {
    AXES_COUNT = 0
/* clang-format off */
#define AXIS(...)  + 1
#define OTHER(...) + 1
#include "analysis/record/axes.def"
    /* clang-format on */
};
_Static_assert((int)AXES_COUNT < (int)AXES_MAX, "room for all axes");

bool axes_vary(const struct rows *rows, const struct field *axis)
{
    for (size_t i = 1; i < rows_count(rows); i++)
        if (row_order(rows_at(rows, 0), rows_at(rows, i), axis) != 0)
            return true;
    return false;
}

/* Whether all rows that have the axis have the same value. */
static bool has_one_value(const struct rows *rows, const struct field *axis)
{
    const struct row *first = NULL;
    for (size_t i = 0; i < rows_count(rows); i++) {
        const struct row *row = rows_at(rows, i);
        if (!row_has_field(row, axis))
            continue;
        if (first && row_order(first, row, axis) != 0)
            return false;
        first = row;
    }
    return true;
}

/* Looks at each row once: rows are large, and often there are thousands. */
size_t axes_varying(const struct rows *rows, const struct field *varying[AXES_MAX])
{
    const struct field *axes[AXES_MAX];
    bool varies[AXES_MAX] = {0};
    size_t n = 0, count = 0;
    for (size_t i = 0; i < schema_fields_count && n < AXES_MAX; i++)
        if (schema_fields[i].symbol)
            axes[n++] = &schema_fields[i];
    for (size_t i = 1; i < rows_count(rows); i++)
        for (size_t a = 0; a < n; a++)
            varies[a] = varies[a] || row_order(rows_at(rows, 0), rows_at(rows, i), axes[a]) != 0;
    for (size_t a = 0; a < n; a++)
        if (varies[a])
            varying[count++] = axes[a];
    return count;
}

static int by_axis(const void *a, const void *b, void *axis)
{
    return row_order(*(const struct row *const *)a, *(const struct row *const *)b, axis);
}

bool axes_follows(const struct rows *rows, const struct field *axis, const struct field *other)
{
    return other->type != FIELD_TEXT && axes_determine(rows, axis, other);
}

bool axes_determine(const struct rows *rows, const struct field *axis, const struct field *other)
{
    size_t count = rows_count(rows);
    const struct row **sorted = allocate(count, sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = rows_at(rows, i);
    qsort_r(sorted, count, sizeof *sorted, by_axis, (void *)(uintptr_t)axis);
    bool follows = true;
    for (size_t i = 1; follows && i < count; i++)
        follows =
            row_order(sorted[i - 1], sorted[i], axis) != 0 || row_order(sorted[i - 1], sorted[i], other) == 0;
    free(sorted);
    return follows;
}

size_t axes_beside(const struct rows *rows, const struct field *axis, const struct field *beside[AXES_MAX])
{
    const struct field *varying[AXES_MAX];
    size_t n = axes_varying(rows, varying), count = 0;
    for (size_t i = 0; i < n; i++)
        if (varying[i] != axis && !has_one_value(rows, varying[i]) && !axes_follows(rows, axis, varying[i]))
            beside[count++] = varying[i];
    return count;
}

size_t axes_numeric(const struct rows *rows, const struct field *numeric[AXES_MAX])
{
    const struct field *varying[AXES_MAX];
    size_t n = axes_varying(rows, varying), count = 0;
    for (size_t i = 0; i < n; i++) {
        bool own = varying[i]->type != FIELD_TEXT;
        for (size_t k = 0; own && k < i; k++)
            own = varying[k]->type == FIELD_TEXT || !axes_follows(rows, varying[k], varying[i]);
        if (own)
            numeric[count++] = varying[i];
    }
    return count;
}

const struct field *axes_default(const struct rows *rows)
{
    const struct field *varying[AXES_MAX], *preset = schema_find("preset");
    size_t n = axes_varying(rows, varying);
    bool presets = axes_vary(rows, preset);
    for (size_t i = 0; i < n; i++)
        if (varying[i]->type != FIELD_TEXT && !(presets && axes_determine(rows, preset, varying[i])))
            return varying[i];
    return schema_find(presets ? "threads" : "nodes");
}

void axes_text(const struct row *row, const struct field *axis, char text[AXES_TEXT])
{
    text[0] = '\0';
    if (!row || !row_has_field(row, axis))
        return;
    if (axis->type == FIELD_TEXT)
        snprintf(text, AXES_TEXT, "%s", *field_text(row, axis));
    else if (axis->type == FIELD_COUNT)
        snprintf(text, AXES_TEXT, "%lld", (long long)*field_count(row, axis));
    else if (axis->type == FIELD_REAL)
        snprintf(text, AXES_TEXT, "%g", *field_real(row, axis));
}

const char *axes_title(const struct field *axis)
{
    return *axis->unit ? axis->unit : axis->path;
}

void axes_describe_value(const struct field *axis, const char *value, char text[AXES_TEXT])
{
    int unit_length = (int)strlen(axis->unit);
    bool words = axis->type == FIELD_TEXT,
         plural = !words && *axis->unit && axis->unit[unit_length - 1] == 's';
    unit_length -= plural && strcmp(value, "1") == 0; /* "1 layer" */
    if (strcmp(value, "none") == 0)
        snprintf(text, AXES_TEXT, "no %s", axes_title(axis));
    else if (*value && *axis->unit && (words || plural))
        snprintf(text, AXES_TEXT, "%.*s %.*s", AXES_TEXT / 2, value, unit_length, axis->unit);
    else if (*value && !words)
        snprintf(text, AXES_TEXT, "%s %.*s", axes_title(axis), AXES_TEXT / 2, value);
    else
        snprintf(text, AXES_TEXT, "%s", value);
}

void axes_describe_number(const struct field *axis, double x, char text[AXES_TEXT])
{
    char value[AXES_TEXT];
    snprintf(value, sizeof value, "%.10g", x);
    axes_describe_value(axis, value, text);
}

void axes_describe_span(const struct field *axis, double from, const char *joint, double to,
                        char text[AXES_TEXT])
{
    char value[AXES_TEXT];
    snprintf(value, sizeof value, "%.10g %s %.10g", from, joint, to);
    axes_describe_value(axis, value, text);
}

void axes_describe(const struct row *row, const struct field *axis, char text[AXES_TEXT])
{
    char value[AXES_TEXT];
    axes_text(row, axis, value);
    axes_describe_value(axis, value, text);
}

const char *axes_symbol(const struct field *axis)
{
    return axis && axis->symbol && *axis->symbol ? axis->symbol : "x";
}

void axes_describe_all(const struct row *row, const struct field *const *axes, size_t n, char text[AXES_TEXT])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        char value[AXES_TEXT];
        axes_describe(row, axes[i], value);
        int more = snprintf(text + used, AXES_TEXT - used, "%s%s", used && *value ? ", " : "", value);
        used = used + (size_t)more < AXES_TEXT ? used + (size_t)more : AXES_TEXT - 1;
    }
}
