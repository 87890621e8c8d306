/* What rows say about themselves. */
#include "analysis/record/row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool row_is_ok(const struct row *row)
{
    return row && row->status && strcmp(row->status, "ok") == 0;
}

static const struct row_times *times_of(const struct row *row, const char *program)
{
    char group[SCHEMA_PATH];
    snprintf(group, sizeof group, "%s.time", program);
    return row_times(row, group);
}

const char *row_noisy(const struct row *row, const char *program)
{
    const char *noisy = times_of(row, program)->noisy;
    return noisy && *noisy ? noisy : NULL;
}

const char *row_unchecked(const struct row *row)
{
    const char *reason = row_reason(row, "checked");
    bool none = row_is_ok(row) && row->checked && strcmp(row->checked, "none") == 0;
    bool ran = !isnan(row->forward.time.median) || !isnan(row->step.time.median) ||
               !isnan(row->kernel.time.median); /* encodings are checked as they are made */
    return none && ran ? reason ? reason : "not checked" : NULL;
}

bool row_validate_status(const struct row *row, char *error)
{
    static const char *const allowed[] = {"ok", "skipped", "oom", "failed", "wrong"};
    bool known = false;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        known = known || (row->status && strcmp(row->status, allowed[i]) == 0);
    if (!known)
        snprintf(error, MESSAGE_SIZE, "status: %.40s is none of ok, skipped, oom, failed, wrong",
                 row->status ? row->status : "");
    else if (!row_is_ok(row) && (!row->reason || !*row->reason))
        snprintf(error, MESSAGE_SIZE, "reason: a row that is %s needs one", row->status);
    else
        return true;
    return false;
}

bool row_validate(const struct row *row, char *error)
{
    if (!row->flaw)
        return row_validate_status(row, error);
    snprintf(error, MESSAGE_SIZE, "%s", row->flaw);
    return false;
}

bool row_solved_nothing(const struct row *row)
{
    return row->encoding.iterated == 0 && row->encoding.nullity > 0;
}
