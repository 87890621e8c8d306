#include "analysis/record/rank_scaling.h"

#include "analysis/record/slices.h"
#include "analysis/statistics/allocate.h"

/* Nodes for each rank are its own only if ranks divide them. */
static bool divides_nodes(const struct row *row)
{
    return same_text(row->ranks.parallel, "halo");
}

static int by_sizes(const struct rank_place *x, const struct rank_place *y)
{
    int order = (x->group > y->group) - (x->group < y->group);
    order = order ? order : (x->graphs > y->graphs) - (x->graphs < y->graphs);
    return order ? order : (x->nodes > y->nodes) - (x->nodes < y->nodes);
}

static int by_rank_place(const void *a, const void *b)
{
    const struct rank_place *x = a, *y = b;
    int order = by_sizes(x, y);
    order = order ? order : (x->ranks > y->ranks) - (x->ranks < y->ranks);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int by_row(const void *a, const void *b)
{
    const struct scaling *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

bool rank_place_same(const struct rank_place *a, const struct rank_place *b)
{
    return by_sizes(a, b) == 0;
}

/* 0 if it is absent. */
static int64_t known(int64_t count)
{
    return count == COUNT_ABSENT ? 0 : count;
}

struct rank_place *rank_places(const struct rows *rows, bool weak)
{
    static const char *const any[] = {"ranks.count", "batch", "nodes", NULL};
    size_t n = rows_count(rows);
    struct rank_place *places = allocate(n, sizeof *places);
    struct slices slices = slices_of(rows, NULL, any);
    for (size_t i = 0; i < n; i++) {
        const struct row *row = rows_at(rows, i);
        struct rank_place p = {.row = row,
                               .group = slices.of[i],
                               .index = i,
                               .ranks = known(row->ranks.count),
                               .graphs = (double)known(row->batch),
                               .nodes = (double)known(row->nodes)};
        if (weak && p.ranks > 0)
            *(divides_nodes(p.row) ? &p.nodes : &p.graphs) /= (double)p.ranks;
        places[i] = p;
    }
    qsort(places, n, sizeof *places, by_rank_place);
    slices_free(&slices);
    return places;
}

/* The row of one rank that has 1 / R of what grows. The same work is compared first: a sweep over sizes and
 * ranks has both. */
static bool find_base(const struct rank_place *places, size_t n, const struct rank_place *p,
                      struct scaling *s)
{
    *s = (struct scaling){.row = p->row, .ranks = p->ranks, .index = p->index};
    for (; s->ranks > 1 && s->growth < GROWTHS; s->growth++) {
        struct rank_place key = *p;
        key.ranks = 1;
        key.index = 0;
        if (s->growth != GROWS_NOT)
            *(s->growth == GROWS_GRAPHS ? &key.graphs : &key.nodes) /= (double)s->ranks;
        const struct rank_place *base =
            places + first_not_less(places, n, sizeof *places, &key, by_rank_place);
        if (base < places + n && base->ranks == 1 && by_sizes(base, &key) == 0 &&
            (s->growth != GROWS_NODES || divides_nodes(s->row))) {
            s->base = base->row;
            return true;
        }
    }
    return false;
}

struct scaling *scalings_find(const struct rows *rows, size_t *n)
{
    size_t count = rows_count(rows);
    struct rank_place *places = rank_places(rows, false);
    struct scaling *all = allocate(count + 1, sizeof *all);
    *n = 0;
    for (size_t i = 0; i < count; i++)
        *n += find_base(places, count, &places[i], &all[*n]);
    qsort(all, *n, sizeof *all, by_row);
    free(places);
    return all;
}

double scaling_efficiency(const struct scaling *s, double base, double time)
{
    return base / time / (s->growth == GROWS_NOT ? (double)s->ranks : 1);
}
