#include "bench/base/members.h"

#include <limits.h>

static bool read_number(const struct member *m, const struct value *v, void *at)
{
    int64_t count;
    if (m->kind == AS_REAL || m->kind == AS_RATE)
        return value_read_real(v, at) && (m->kind == AS_REAL || *(double *)at > 0);
    if (!value_read_count(v, &count) || count <= 0 || (m->kind == AS_INT && count > INT_MAX))
        return false;
    if (m->kind == AS_INT)
        *(int *)at = (int)count;
    else
        *(int64_t *)at = count;
    return true;
}

static bool is_none(const struct member *m, const void *at)
{
    return m->may_lack && (m->kind == AS_COUNT ? *(const int64_t *)at == 0 : !(*(const double *)at > 0));
}

void members_write(const struct member *table, const void *from, struct value *object)
{
    for (const struct member *m = table; m->name; m++) {
        const void *at = (const char *)from + m->at;
        if (is_none(m, at))
            continue;
        if (m->kind == AS_TEXT)
            value_set_text(object, m->name, at);
        else if (m->kind == AS_INT)
            value_set_count(object, m->name, *(const int *)at);
        else if (m->kind == AS_COUNT)
            value_set_count(object, m->name, *(const int64_t *)at);
        else
            value_set_real(object, m->name, *(const double *)at);
    }
}

bool members_read(const struct member *table, const struct value *object, void *to)
{
    bool good = true;
    for (const struct member *m = table; m->name && good; m++) {
        const struct value *v = value_get(object, m->name);
        void *at = (char *)to + m->at;
        if (v || !m->may_lack)
            good = m->kind == AS_TEXT ? value_copy_text(object, m->name, at, m->size) : read_number(m, v, at);
    }
    return good;
}
