#include "bench/cli/readers.h"

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

bool data_read(const struct argument *a, struct message *error)
{
    const char *text = a->value;
    struct graph_tables *t = (struct graph_tables *)((char *)a->options + a->flag->field);
    const struct {
        const char *name;
        const char **file;
    } kinds[] = {{"features=", &t->features}, {"edge-features=", &t->edge_features}, {"labels=", &t->labels}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].name);
        if (strncmp(text, kinds[i].name, length) != 0 || !text[length])
            continue;
        if (*kinds[i].file)
            return complain(error, "--data %.200s: %.*s is given twice", text, (int)length - 1, text);
        *kinds[i].file = text + length;
        return true;
    }
    return complain(
        error, "--data %.200s: features=FILE, edge-features=FILE or labels=FILE; FILE may be none", text);
}
