/*
 * Memory is that of the largest rank. It no longer falls from the fewest ranks on whose memory is within 1 %
 * of the least of all: what each rank has whole, as the parameters, then dominates.
 */
#include "analysis/findings/rank_memory.h"

#include "analysis/record/axes.h"
#include "analysis/record/rank_scaling.h"
#include "analysis/tables/units.h"

#include <stdlib.h>
#include <string.h>

static const double same = 1.01;

/* A row: its set is those of the same group and sizes, where with `weak` the one that grows is that of a
 * rank. */
struct rank_place {
    const struct row *row;
    size_t group, index;
    double graphs, nodes;
    int64_t ranks, bytes; /* 0: not known */
};

static bool has_bytes(const struct rank_place *p)
{
    return p->ranks > 0 && p->bytes > 0;
}

static int by_set(const struct rank_place *x, const struct rank_place *y)
{
    int order = (x->group > y->group) - (x->group < y->group);
    order = order ? order : (x->graphs > y->graphs) - (x->graphs < y->graphs);
    return order ? order : (x->nodes > y->nodes) - (x->nodes < y->nodes);
}

static int by_set_and_index(const void *a, const void *b)
{
    const struct rank_place *x = a, *y = b;
    int order = by_set(x, y);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* The set of the earliest row first, and in it rows with bytes. */
static int by_first_of_set(const void *a, const void *b)
{
    const struct rank_place *x = a, *y = b;
    int order = (x->group > y->group) - (x->group < y->group);
    order = order ? order : has_bytes(y) - has_bytes(x);
    order = order ? order : (x->ranks > y->ranks) - (x->ranks < y->ranks);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static struct rank_place rank_place_of(const struct row *row, size_t group, size_t index, bool weak)
{
    struct rank_place p = {.row = row, .group = group, .index = index};
    row_get_real(row, "batch", &p.graphs);
    row_get_real(row, "nodes", &p.nodes);
    row_get_count(row, "ranks.count", &p.ranks);
    if (!row_get_count(row, "ranks.memory", &p.bytes) && !row_get_count(row, "step.memory.planned", &p.bytes))
        row_get_count(row, "forward.memory.planned", &p.bytes);
    if (weak && p.ranks > 0)
        *(divides_nodes(row) ? &p.nodes : &p.graphs) /= (double)p.ranks;
    return p;
}

/* All rows, by sets in the order of their first rows, and by ranks in each; to be freed. */
static struct rank_place *sort_places(const struct rows *rows, bool weak)
{
    size_t n = rows_count(rows), *group = malloc((n + 1) * sizeof *group);
    struct rank_place *p = malloc((n + 1) * sizeof *p);
    if (!group || !p)
        abort();
    group_but_ranks(rows, group);
    for (size_t i = 0; i < n; i++)
        p[i] = rank_place_of(rows_at(rows, i), group[i], i, weak);
    qsort(p, n, sizeof *p, by_set_and_index);
    for (size_t i = 0, first = 0; i < n; i++) {
        group[i] = i > 0 && by_set(&p[i - 1], &p[i]) == 0 ? first : p[i].index;
        first = group[i];
    }
    for (size_t i = 0; i < n; i++)
        p[i].group = group[i];
    qsort(p, n, sizeof *p, by_first_of_set);
    free(group);
    return p;
}

static void ranks_text(char text[32], int64_t ranks)
{
    snprintf(text, 32, "%lld rank%s", (long long)ranks, ranks == 1 ? "" : "s");
}

/* "; it is within 1.00 GiB from 8 ranks on". */
static void say_limit(FILE *out, const struct rank_place *p, size_t n, double limit)
{
    char bytes[UNITS_TEXT], ranks[32];
    size_t within = 0, fit = 0, first = 0;
    units_format(bytes, limit, UNITS_BINARY, "B");
    for (size_t i = n; i-- > 0;)
        if ((double)p[i].bytes <= limit)
            fit++, first = i;
    while (within < n && (double)p[n - 1 - within].bytes <= limit)
        within++;
    ranks_text(ranks, p[first].ranks);
    if (fit == 0)
        fprintf(out, "; it exceeds %s on all", bytes);
    else if (fit == n)
        fprintf(out, "; it is within %s on all", bytes);
    else if (within == fit)
        fprintf(out, "; it is within %s from %s on", bytes, ranks);
    else
        fprintf(out, "; it is within %s first on %s, but not on all more", bytes, ranks);
}

static void say_fall(FILE *out, const struct rank_place *p, size_t n, double limit)
{
    char from[UNITS_TEXT], least[UNITS_TEXT], first[32], last[32];
    size_t min = 0, end = 0;
    for (size_t i = 1; i < n; i++)
        min = p[i].bytes < p[min].bytes ? i : min;
    while ((double)p[end].bytes > same * (double)p[min].bytes)
        end++;
    units_format(from, (double)p[0].bytes, UNITS_BINARY, "B");
    units_format(least, (double)p[end].bytes, UNITS_BINARY, "B");
    ranks_text(first, p[0].ranks);
    ranks_text(last, p[end].ranks);
    if (end == 0)
        fprintf(out, ": %s on %s, and no less on more", from, first);
    else
        fprintf(out, ": falls from %s on %s to %s on %s, %s", from, first, least, last,
                end == n - 1 ? "the most here" : "and no further on more");
    if (limit > 0)
        say_limit(out, p, n, limit);
}

static bool is_size(const struct field *axis)
{
    return strcmp(axis->path, "batch") == 0 || strcmp(axis->path, "nodes") == 0;
}

/* The axes that vary beside ranks and, with `weak`, sizes; returns how many. */
static size_t axes_of_sets(const struct rows *rows, bool weak, const struct field *axes[AXES_MAX])
{
    size_t n = 0, all = axes_varying(rows, axes);
    for (size_t i = 0; i < all; i++)
        if (strcmp(axes[i]->path, "ranks.count") != 0 && !(weak && is_size(axes[i])))
            axes[n++] = axes[i];
    return n;
}

/* "; ends before 16 ranks (fewer heads than ranks)", if a row was skipped. */
static void say_end(FILE *out, const struct rank_place *p, size_t n)
{
    const char *status, *reason;
    for (size_t i = 0; i < n; i++)
        if (row_get_text(p[i].row, "status", &status) && strcmp(status, "skipped") == 0) {
            if (row_get_text(p[i].row, "reason", &reason))
                fprintf(out, "; ends before %lld ranks (%s)", (long long)p[i].ranks, reason);
            return;
        }
}

void findings_print_rank_memory(FILE *out, const struct rows *rows, bool weak, double limit)
{
    const struct field *axes[AXES_MAX];
    size_t count = rows_count(rows), n = axes_of_sets(rows, weak, axes);
    struct rank_place *all = sort_places(rows, weak);
    for (size_t i = 0, end; i < count; i = end) {
        char text[AXES_TEXT];
        for (end = i + 1; end < count && all[end].group == all[i].group;)
            end++;
        size_t known = 0;
        while (i + known < end && has_bytes(&all[i + known]))
            known++;
        if (known < 2 || all[i].ranks == all[i + known - 1].ranks)
            continue;
        axes_describe_all(all[i].row, axes, n, text);
        fprintf(out, "memory of the largest rank%s%s%s", n > 0 ? " (" : "", n > 0 ? text : "",
                n > 0 ? ")" : "");
        say_fall(out, all + i, known, limit);
        say_end(out, all + i + known, end - i - known);
        putc('\n', out);
    }
    free(all);
}
