/*
 * Checks that a row is complete: every field of the schema has its type, or is null with a reason; there are
 * no other fields, and no unused reasons.
 */
#include "analysis/record/row.h"

#include "analysis/record/row_cells.h"

#include <string.h>

/* Whether a null field has a reason; that of the field before, *last, is often its own. */
static bool is_explained(const struct row *row, const struct field *f, const struct reason **last)
{
    if (*last && field_is_under(f, (*last)->path, (*last)->length))
        return true;
    for (size_t i = 0; i < row->reason_count; i++) {
        *last = &row->reasons[i];
        if (field_is_under(f, (*last)->path, (*last)->length))
            return true;
    }
    return false;
}

static bool every_field_is_there(const struct row *row, char *error)
{
    const struct reason *last = NULL;
    for (size_t i = 0; i < schema_fields_count; i++) {
        const struct field *f = &schema_fields[i];
        enum cell_state state = row->cells[i].state;
        if (state == CELL_UNSET)
            snprintf(error, MESSAGE_SIZE, "%s: the field is missing", f->path);
        else if (state == CELL_NULL && !is_explained(row, f, &last))
            snprintf(error, MESSAGE_SIZE, "%s: null without a reason", f->path);
        else if (state == CELL_OTHER)
            snprintf(error, MESSAGE_SIZE, "%s: not %s", f->path, field_type_name(f->type));
        else
            continue;
        return false;
    }
    return true;
}

static bool reasons_are_sound(const struct row *row, char *error)
{
    for (size_t i = 0; i < row->reason_count; i++) {
        const struct reason *r = &row->reasons[i];
        if (!*r->text)
            snprintf(error, MESSAGE_SIZE, "reasons: %.*s: not a text, or empty", SCHEMA_PATH, r->path);
        else if (!reason_is_used(row, r))
            snprintf(error, MESSAGE_SIZE, "reasons: %.*s: no field of this path is null", SCHEMA_PATH,
                     r->path);
        else
            continue;
        return false;
    }
    return true;
}

bool row_validate_status(const struct row *row, char *error)
{
    static const char *const allowed[] = {"ok", "skipped", "oom", "failed", "wrong"};
    const char *status = "", *reason = "";
    bool known = false;
    row_get_text(row, "status", &status);
    row_get_text(row, "reason", &reason);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        known = known || strcmp(status, allowed[i]) == 0;
    if (!known)
        snprintf(error, MESSAGE_SIZE, "status: %.40s is none of ok, skipped, oom, failed, wrong", status);
    else if (!row_is_ok(row) && !*reason)
        snprintf(error, MESSAGE_SIZE, "reason: a row that is %s needs one", status);
    else
        return true;
    return false;
}

bool row_validate(const struct row *row, char *error)
{
    if (row->flaw) {
        snprintf(error, MESSAGE_SIZE, "%s", row->flaw);
        return false;
    }
    return every_field_is_there(row, error) && reasons_are_sound(row, error) &&
           row_validate_status(row, error);
}
