/* The ceiling of communication as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/machine/link.h"

static struct value *kind_json(const struct link *l, enum link_kind kind)
{
    static const char *const keys[] = {"bytes", "seconds", "low", "high", "bandwidth"};
    struct value *json = value_new_object(), *lists[5];
    const struct link_fit *f = &l->fit[kind];
    for (int i = 0; i < 5; i++)
        value_set(json, keys[i], lists[i] = value_new_array());
    for (int i = 0; i < l->points[kind]; i++) {
        const struct link_point *p = &l->point[kind][i];
        value_append(lists[0], value_new_count(p->bytes));
        value_append(lists[1], value_new_real(p->seconds));
        value_append(lists[2], value_new_real(p->low));
        value_append(lists[3], value_new_real(p->high));
        value_append(lists[4],
                     value_new_real(link_load(kind, l->ranks, (double)p->bytes).bytes / p->seconds));
    }
    value_set_real(json, "alpha", f->alpha);
    value_set_real(json, "beta", f->beta);
    value_set_real(json, "error", f->error);
    value_set_text(json, "verdict", link_verdict_name(f->verdict));
    return json;
}

struct value *link_json(const struct link *l)
{
    struct value *json = value_new_object();
    value_set_count(json, "ranks", l->ranks);
    value_set_count(json, "hosts", l->hosts);
    value_set_text(json, "mpi", l->mpi);
    value_set_text(json, "time", l->time);
    value_set_real(json, "load", l->load);
    for (enum link_kind kind = 0; kind < LINK_KINDS; kind++)
        value_set(json, link_kind_name(kind), kind_json(l, kind));
    return json;
}

/* The i-th of a list; NAN: null. */
static double real_at(const struct value *json, const char *key, int i)
{
    double real = NAN;
    value_read_real(value_at(value_get(json, key), (size_t)i), &real);
    return real;
}

/* The fit is found again. */
static bool read_kind(const struct value *json, enum link_kind kind, struct link *l)
{
    int n = (int)value_size(value_get(json, "bytes"));
    bool good = n > 0 && n <= LINK_SIZES;
    for (int i = 0; i < n && good; i++) {
        struct link_point *p = &l->point[kind][i];
        *p = (struct link_point){0, real_at(json, "seconds", i), real_at(json, "low", i),
                                 real_at(json, "high", i)};
        good = value_read_count(value_at(value_get(json, "bytes"), (size_t)i), &p->bytes) && p->bytes > 0 &&
               p->seconds > 0 && isfinite(p->seconds) && !(p->low > p->seconds) && !(p->high < p->seconds);
    }
    l->points[kind] = n;
    if (good)
        l->fit[kind] = link_fit(kind, l->ranks, l->point[kind], n);
    return good;
}

bool link_read(const struct value *json, struct link *l)
{
    int64_t ranks = 0, hosts = 0;
    *l = (struct link){0};
    bool good = value_get_count(json, "ranks", &ranks) && value_get_count(json, "hosts", &hosts) &&
                ranks > 1 && ranks <= INT32_MAX && hosts > 0 && hosts <= ranks &&
                value_copy_text(json, "mpi", l->mpi, sizeof l->mpi) &&
                value_copy_text(json, "time", l->time, sizeof l->time) &&
                value_get_real(json, "load", &l->load);
    l->ranks = (int)ranks, l->hosts = (int)hosts;
    for (enum link_kind kind = 0; kind < LINK_KINDS && good; kind++)
        good = read_kind(value_get(json, link_kind_name(kind)), kind, l);
    return good;
}
