/* Values at paths of a JSON value, for tests. */
#ifndef GTMARK_TESTS_VALUES_H
#define GTMARK_TESTS_VALUES_H

#include "analysis/record/value.h"

#include <math.h>

/* Null, NAN and INT64_MIN if there is none. */
static inline const char *text_in(const struct value *object, const char *path)
{
    const char *text = NULL;
    value_get_text(object, path, &text);
    return text;
}

static inline double real_in(const struct value *object, const char *path)
{
    double real = NAN;
    value_get_real(object, path, &real);
    return real;
}

static inline int64_t count_in(const struct value *object, const char *path)
{
    int64_t count = INT64_MIN;
    value_get_count(object, path, &count);
    return count;
}

/* Whether there is a value, and it is null. */
static inline bool is_null_in(const struct value *object, const char *path)
{
    return value_get(object, path) && value_kind(value_get(object, path)) == VALUE_NULL;
}

#endif
