/* The distance of two rows is the number of axes in which they differ. */
#include "analysis/compare/match.h"

#include "analysis/statistics/allocate.h"

static bool varies_in_one(const struct rows *const *rows, size_t files, const struct field *axis)
{
    for (size_t f = 0; f < files; f++)
        if (axes_vary(rows[f], axis))
            return true;
    return false;
}

struct match_rule match_rule(const struct rows *const *rows, size_t files, const char *const *ignored)
{
    static const char *const where[] = {"device", "threads", "origin", NULL};
    struct match_rule rule = {.work = !ignored || !*ignored};
    for (size_t i = 0; i < schema_fields_count && rule.count < AXES_MAX; i++) {
        const struct field *f = &schema_fields[i];
        if (f->symbol && !has_name(ignored, f->path) &&
            (!has_name(where, f->path) || varies_in_one(rows, files, f)))
            rule.axes[rule.count++] = f;
    }
    return rule;
}

static bool same_work(const struct row *a, const struct row *b)
{
    return same_text(a->work, b->work);
}

/* An axis that one version lacks does not matter if the work has the same hash, or need not have it. */
static bool agree(const struct match_rule *rule, const struct row *a, const struct row *b,
                  const struct field *axis)
{
    bool both = row_has_field(a, axis) && row_has_field(b, axis);
    return row_order(a, b, axis) == 0 || (!both && (!rule->work || same_work(a, b)));
}

static size_t distance(const struct match_rule *rule, const struct row *a, const struct row *b)
{
    size_t differ = 0;
    for (size_t i = 0; i < rule->count; i++)
        differ += !agree(rule, a, b, rule->axes[i]);
    return differ;
}

bool match(const struct match_rule *rule, const struct row *a, const struct row *b)
{
    return (!rule->work || same_work(a, b)) && distance(rule, a, b) == 0;
}

size_t match_find(const struct match_rule *rule, const struct rows *rows, const struct row *row)
{
    size_t found = MATCH_NONE;
    for (size_t i = 0; i < rows_count(rows); i++) {
        const struct row *other = rows_at(rows, i);
        if (!match(rule, row, other))
            continue;
        if (row_is_ok(other))
            return i;
        if (found == MATCH_NONE)
            found = i;
    }
    return found;
}

static void add_difference(char text[AXES_TEXT], const struct row *row, const struct row *other,
                           const struct field *axis)
{
    char is[AXES_TEXT], should[AXES_TEXT];
    axes_text(row, axis, is);
    axes_text(other, axis, should);
    append(text, AXES_TEXT, "%s%s %s, not %s", *text ? "; " : "", axis->path, *is ? is : "null",
           *should ? should : "null");
}

static bool only_one_has(const struct row *a, const struct row *b, const struct field *axis)
{
    return row_has_field(a, axis) != row_has_field(b, axis);
}

static const struct row *nearest_to(const struct match_rule *rule, const struct rows *rows,
                                    const struct row *row)
{
    const struct row *nearest = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < rows_count(rows); i++) {
        const struct row *other = rows_at(rows, i);
        size_t differ = distance(rule, row, other);
        if (differ < least) {
            least = differ;
            nearest = other;
        }
    }
    return nearest;
}

/* Axes that both have explain more than those that one version lacks, and those that the file does not sweep
 * more than those that it does: if any of the former differs, the latter are not named. */
void match_explain(const struct match_rule *rule, const struct rows *rows, const struct row *row,
                   char text[AXES_TEXT])
{
    const struct row *nearest = row ? nearest_to(rule, rows, row) : NULL;
    text[0] = '\0';
    for (int pass = 0; pass < 4 && nearest && !*text; pass++)
        for (size_t i = 0; i < rule->count; i++)
            if (!agree(rule, row, nearest, rule->axes[i]) &&
                only_one_has(row, nearest, rule->axes[i]) == (pass >= 2) &&
                axes_vary(rows, rule->axes[i]) == (pass % 2 == 1))
                add_difference(text, row, nearest, rule->axes[i]);
    if (!nearest)
        snprintf(text, AXES_TEXT, "the file has no rows");
    else if (!*text)
        snprintf(text, AXES_TEXT,
                 "every axis agrees, but not the work id: another version of gtmark, or "
                 "another file of edges");
}
