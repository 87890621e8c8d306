#include "analysis/record/rank_scaling.h"

#include "analysis/record/axes.h"

#include <stdlib.h>
#include <string.h>

void group_but_ranks(const struct rows *rows, size_t *group)
{
    const struct field *axes[AXES_MAX];
    size_t all = axes_varying(rows, axes), n = 0;
    for (size_t i = 0; i < all; i++)
        if (strcmp(axes[i]->path, "ranks.count") != 0 && strcmp(axes[i]->path, "batch") != 0 &&
            strcmp(axes[i]->path, "nodes") != 0)
            axes[n++] = axes[i];
    axes_group(rows, axes, n, group);
}

bool divides_nodes(const struct row *row)
{
    const char *parallel;
    return row_get_text(row, "ranks.parallel", &parallel) && strcmp(parallel, "halo") == 0;
}

/* A row's group and sizes. */
struct place {
    size_t group, index;
    int64_t ranks, batch, nodes;
};

static struct place place_of(const struct row *row, size_t group, size_t index)
{
    struct place p = {group, index, 0, 0, 0};
    row_get_count(row, "ranks.count", &p.ranks);
    row_get_count(row, "batch", &p.batch);
    row_get_count(row, "nodes", &p.nodes);
    return p;
}

/* By group and sizes; of equal ones the first row is first. */
static int by_work(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = (x->group > y->group) - (x->group < y->group);
    order = order ? order : (x->batch > y->batch) - (x->batch < y->batch);
    return order ? order : (x->nodes > y->nodes) - (x->nodes < y->nodes);
}

static int by_work_and_index(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = by_work(a, b);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Keeps the first of each work; returns how many are left. */
static size_t sort_bases(struct place *bases, size_t n)
{
    size_t kept = 0;
    qsort(bases, n, sizeof *bases, by_work_and_index);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || by_work(&bases[kept - 1], &bases[i]) != 0)
            bases[kept++] = bases[i];
    return kept;
}

/* The row of one rank that has 1 / R of what grows. The same work is compared first: a sweep over sizes and
 * ranks has both. */
static bool find_base(const struct place *bases, size_t n, const struct rows *rows, const struct place *p,
                      struct scaling *s)
{
    for (s->growth = 0; s->growth < GROWTHS; s->growth++) {
        struct place key = *p;
        int64_t *size = s->growth == GROWS_GRAPHS ? &key.batch : &key.nodes;
        if ((s->growth != GROWS_NOT && *size % s->ranks != 0) ||
            (s->growth == GROWS_NODES && !divides_nodes(s->row)))
            continue;
        *size /= s->growth == GROWS_NOT ? 1 : s->ranks;
        const struct place *base = bsearch(&key, bases, n, sizeof *bases, by_work);
        s->base = base ? rows_at(rows, base->index) : NULL;
        if (base)
            return true;
    }
    return false;
}

struct scaling *scalings_find(const struct rows *rows, size_t *n)
{
    size_t count = rows_count(rows), bases = 0;
    size_t *group = malloc((count + 1) * sizeof *group);
    struct place *base = malloc((count + 1) * sizeof *base);
    struct scaling *all = malloc((count + 1) * sizeof *all);
    if (!group || !base || !all)
        abort();
    group_but_ranks(rows, group);
    for (size_t i = 0; i < count; i++) {
        base[bases] = place_of(rows_at(rows, i), group[i], i);
        bases += base[bases].ranks == 1;
    }
    bases = sort_bases(base, bases);
    *n = 0;
    for (size_t i = 0; i < count; i++) {
        struct place p = place_of(rows_at(rows, i), group[i], i);
        all[*n] = (struct scaling){.row = rows_at(rows, i), .ranks = p.ranks};
        *n += p.ranks > 1 && find_base(base, bases, rows, &p, &all[*n]);
    }
    free(group);
    free(base);
    return all;
}

double scaling_efficiency(const struct scaling *s, double base, double time)
{
    return base / time / (s->growth == GROWS_NOT ? (double)s->ranks : 1);
}
