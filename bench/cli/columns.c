#include "bench/cli/columns.h"

#include <string.h>

#include "analysis/tables/columns.h"
#include "bench/base/suggest.h"

static void offer_columns(struct suggestion *s)
{
    const char *summary;
    for (size_t i = 0; (summary = column_summary(i)) != NULL; i++)
        suggest_offer(s, summary);
    for (size_t i = 0; i < schema_fields_count; i++)
        suggest_offer(s, schema_fields[i].path);
}

bool columns_read(const char *name, const char *list[TABLE_COLUMNS], int *count, struct message *error)
{
    struct suggestion s = {name, strlen(name), NULL, 0};
    char nearest[SUGGESTION_TEXT], now[SCHEMA_PATH];
    const char *path = column_named(schema_path_now(name, now)).path;
    offer_columns(&s);
    if (!path)
        return complain(error, "--columns %.200s: no such column; docs/fields.md lists them%s", name,
                        suggest_text(&s, "", nearest));
    if (*count == TABLE_COLUMNS)
        return complain(error, "--columns: at most %d columns", TABLE_COLUMNS);
    list[(*count)++] = path;
    return true;
}
