/* The fit: with loads m, n of a point of t seconds and x = m / t, y = n / t, alpha and 1 / beta minimise the
 * sum of (alpha x + y / beta - 1)^2, two normal equations. */
#include "bench/machine/link.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"
#include "analysis/tables/units.h"
#include "bench/base/members.h"

static const char *const kinds[LINK_KINDS] = {"message", "exchange", "sum"};
static const char *const verdicts[] = {"inconclusive", "holds", "fails"}; /* enum link_verdict */

struct link_load link_load(enum link_kind kind, int ranks, double bytes)
{
    double others = ranks - 1;
    return kind == LINK_MESSAGE    ? (struct link_load){1, bytes}
           : kind == LINK_EXCHANGE ? (struct link_load){others, bytes}
                                   : (struct link_load){2 * others, 2 * others / ranks * bytes};
}

double link_seconds(const struct link_fit *fit, struct link_load load)
{
    return load.messages * fit->alpha + load.bytes / fit->beta;
}

int64_t link_size(int index)
{
    return index < LINK_SIZES - 1 ? INT64_C(8) << 3 * index : INT64_C(64) << 20;
}

/* Each is the other's if that one is 0. */
static void solve(struct link_fit *f, double xx, double xy, double yy, double x, double y)
{
    double det = xx * yy - xy * xy;
    double alpha = det > 0 ? (x * yy - y * xy) / det : -1, inverse = det > 0 ? (y * xx - x * xy) / det : -1;
    if (!(alpha >= 0))
        alpha = 0, inverse = y / yy;
    else if (!(inverse >= 0))
        alpha = x / xx, inverse = 0;
    f->alpha = alpha;
    f->beta = 1 / inverse;
}

/* By the time that misses most, and by all intervals. */
static void judge(struct link_fit *f, enum link_kind kind, int ranks, const struct link_point *p, int count)
{
    bool all = count > 2, beyond = false;
    f->error = 0;
    for (int i = 0; i < count; i++) {
        double model = link_seconds(f, link_load(kind, ranks, (double)p[i].bytes));
        f->error = fmax(f->error, fabs(model / p[i].seconds - 1));
        all = all && model / p[i].low <= 1 + LINK_MISS && model / p[i].high >= 1 - LINK_MISS;
        all = all && model / p[i].high <= 1 + LINK_MISS && model / p[i].low >= 1 - LINK_MISS;
        beyond = beyond || model / p[i].high > 1 + LINK_MISS || model / p[i].low < 1 - LINK_MISS;
    }
    f->verdict = count > 2 && beyond ? LINK_FAILS : all ? LINK_HOLDS : LINK_INCONCLUSIVE;
}

struct link_fit link_fit(enum link_kind kind, int ranks, const struct link_point *points, int count)
{
    struct link_fit f = {NAN, NAN, NAN, LINK_INCONCLUSIVE};
    double xx = 0, xy = 0, yy = 0, x = 0, y = 0;
    for (int i = 0; i < count; i++) {
        struct link_load load = link_load(kind, ranks, (double)points[i].bytes);
        double m = load.messages / points[i].seconds, n = load.bytes / points[i].seconds;
        xx += m * m, xy += m * n, yy += n * n, x += m, y += n;
    }
    if (count > 0) {
        solve(&f, xx, xy, yy, x, y);
        judge(&f, kind, ranks, points, count);
    }
    return f;
}

/* The logarithm of measured / model at a point. */
static double excess_at(const struct link *l, enum link_kind kind, int point)
{
    const struct link_point *p = &l->point[kind][point];
    return log(p->seconds / link_seconds(&l->fit[kind], link_load(kind, l->ranks, (double)p->bytes)));
}

static double excess(const struct link *l, enum link_kind kind, double bytes)
{
    const struct link_point *p = l->point[kind];
    int n = l->points[kind], above = 0;
    while (above < n && (double)p[above].bytes < bytes)
        above++;
    if (n == 0 || above == 0 || above == n)
        return n == 0 ? 0 : excess_at(l, kind, above < n ? 0 : n - 1);
    double from = log((double)p[above - 1].bytes), to = log((double)p[above].bytes);
    double share = (log(bytes) - from) / (to - from);
    return (1 - share) * excess_at(l, kind, above - 1) + share * excess_at(l, kind, above);
}

double link_predict(const struct link *l, enum link_kind kind, int ranks, double bytes)
{
    return link_seconds(&l->fit[kind], link_load(kind, ranks, bytes)) * exp(excess(l, kind, bytes));
}

struct link link_given(double alpha, double beta)
{
    struct link l = {0};
    for (enum link_kind kind = 0; kind < LINK_KINDS; kind++)
        l.fit[kind] = (struct link_fit){.alpha = alpha, .beta = beta};
    return l;
}

void links_add(struct links *all, const struct link *l)
{
    all->list = grow(all->list, (size_t)all->count, sizeof *all->list);
    all->list[all->count++] = *l;
}

void links_free(struct links *all)
{
    free(all->list);
    *all = (struct links){0};
}

const struct link *links_for(const struct links *all, int ranks)
{
    const struct link *best = NULL;
    for (int i = 0; i < all->count; i++) {
        const struct link *l = &all->list[i];
        if (!best || l->ranks == ranks || (best->ranks != ranks && l->ranks >= best->ranks))
            best = l;
    }
    return best;
}

void link_text(const struct link *l, enum link_kind kind, struct message *text)
{
    const struct link_fit *f = &l->fit[kind];
    char alpha[UNITS_TEXT], beta[UNITS_TEXT];
    units_format(alpha, f->alpha, UNITS_SI, "s");
    units_format(beta, f->beta, UNITS_SI, "B/s");
    if (l->ranks)
        complain(text, "%s, %s of a%s %s on %d ranks of %d host%s, calibrated %s, %s", alpha, beta,
                 kind == LINK_EXCHANGE ? "n" : "", kinds[kind], l->ranks, l->hosts, l->hosts == 1 ? "" : "s",
                 l->time,
                 f->verdict == LINK_HOLDS   ? "which holds for all sizes"
                 : f->verdict == LINK_FAILS ? "which fails for some sizes"
                                            : "which may hold");
    else
        complain(text, "%s, %s, given (--peaks)", alpha, beta);
}

static const struct member members[] = {{MEMBER(link, INT, ranks)}, {MEMBER(link, INT, hosts)},
                                        {MEMBER(link, TEXT, mpi)},  {MEMBER(link, TEXT, time)},
                                        {MEMBER(link, REAL, load)}, {.name = NULL}};

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
    value_set_text(json, "verdict", verdicts[f->verdict]);
    return json;
}

struct value *link_json(const struct link *l)
{
    struct value *json = value_new_object();
    members_write(members, l, json);
    for (enum link_kind kind = 0; kind < LINK_KINDS; kind++)
        value_set(json, kinds[kind], kind_json(l, kind));
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
    *l = (struct link){0};
    bool good = members_read(members, json, l) && l->ranks > 1 && l->hosts <= l->ranks;
    for (enum link_kind kind = 0; kind < LINK_KINDS && good; kind++)
        good = read_kind(value_get(json, kinds[kind]), kind, l);
    return good;
}
