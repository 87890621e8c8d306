/* A value is a cJSON item; only files that include this know that. */
#ifndef GTMARK_ANALYSIS_JSON_H
#define GTMARK_ANALYSIS_JSON_H

#include "analysis/record/value.h"

#include <cjson/cJSON.h>

static inline cJSON *json_of(const struct value *v)
{
    return (cJSON *)v;
}

static inline struct value *value_of(const cJSON *json)
{
    return (struct value *)json;
}

#endif
