#include "analysis/record/rank_scaling.h"

#include "analysis/record/axes.h"

#include <string.h>

bool same_but_ranks(const struct rows *rows, const struct row *a, const struct row *b)
{
    const struct field *axes[AXES_MAX];
    size_t n = axes_varying(rows, axes), i = 0;
    while (i < n && (strcmp(axes[i]->path, "ranks.count") == 0 || strcmp(axes[i]->path, "batch") == 0 ||
                     strcmp(axes[i]->path, "nodes") == 0 || row_order(a, b, axes[i]) == 0))
        i++;
    return i == n;
}

static int64_t count_of(const struct row *row, const char *path)
{
    int64_t count = 0;
    row_get_count(row, path, &count);
    return count;
}

/* Whether the row has `times` as many of a size as the base. */
static bool has_times(const struct row *base, const struct row *row, const char *size, int64_t times)
{
    return count_of(row, size) == times * count_of(base, size);
}

/* Nodes for each rank are its own only if ranks divide them. */
static bool divides_nodes(const struct row *row)
{
    const char *parallel;
    return row_get_text(row, "ranks.parallel", &parallel) && strcmp(parallel, "halo") == 0;
}

static bool is_base(const struct rows *rows, const struct row *base, const struct scaling *s)
{
    return count_of(base, "ranks.count") == 1 &&
           has_times(base, s->row, "batch", s->growth == GROWS_GRAPHS ? s->ranks : 1) &&
           has_times(base, s->row, "nodes", s->growth == GROWS_NODES ? s->ranks : 1) &&
           (s->growth != GROWS_NODES || divides_nodes(s->row)) && same_but_ranks(rows, base, s->row);
}

/* The same work is compared first: a sweep over sizes and ranks has both. */
bool scaling_find(const struct rows *rows, const struct row *row, struct scaling *s)
{
    *s = (struct scaling){.row = row, .ranks = count_of(row, "ranks.count")};
    for (; s->ranks > 1 && s->growth < GROWTHS; s->growth++)
        for (size_t k = 0; k < rows_count(rows); k++) {
            s->base = rows_at(rows, k);
            if (is_base(rows, s->base, s))
                return true;
        }
    return false;
}

double scaling_efficiency(const struct scaling *s, double base, double time)
{
    return base / time / (s->growth == GROWS_NOT ? (double)s->ranks : 1);
}
