/* For the files of this folder alone: values and rows are objects of the JSON library. */
#ifndef GTMARK_ANALYSIS_JSON_H
#define GTMARK_ANALYSIS_JSON_H

#include "analysis/record/row.h"
#include "analysis/record/value.h"

#include <jansson.h>

enum { JSON_STYLE = JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY };

static inline json_t *json_of_value(const struct value *v)
{
    return (json_t *)v;
}

static inline struct value *value_of_json(const json_t *json)
{
    return (struct value *)json;
}

static inline json_t *json_of_row(const struct row *row)
{
    return (json_t *)row;
}

static inline struct row *row_of_json(const json_t *json)
{
    return (struct row *)json;
}

/* What stands at a dotted path, borrowed; null where there is nothing. */
json_t *json_at(const json_t *object, const char *path);

#endif
