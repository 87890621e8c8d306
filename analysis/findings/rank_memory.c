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

/* A row's ranks and bytes. */
struct place {
    int64_t ranks, bytes;
};

static int by_ranks(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return (x->ranks > y->ranks) - (x->ranks < y->ranks);
}

static bool place_of(const struct row *row, struct place *p)
{
    return row_get_count(row, "ranks.count", &p->ranks) &&
           (row_get_count(row, "ranks.memory", &p->bytes) ||
            row_get_count(row, "step.memory.planned", &p->bytes) ||
            row_get_count(row, "forward.memory.planned", &p->bytes));
}

static void ranks_text(char text[32], int64_t ranks)
{
    snprintf(text, 32, "%lld rank%s", (long long)ranks, ranks == 1 ? "" : "s");
}

/* "; it is within 1.00 GiB from 8 ranks on". */
static void say_limit(FILE *out, const struct place *p, size_t n, double limit)
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

static void say_fall(FILE *out, const struct place *p, size_t n, double limit)
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

/* Whether two rows are of the same graphs, or with `weak` of as many, or as many nodes, for each rank. */
static bool same_graphs(const struct row *a, const struct row *b, bool weak)
{
    int64_t graphs[2] = {0}, nodes[2] = {0}, ranks[2] = {1, 1};
    for (int i = 0; i < 2; i++) {
        row_get_count(i ? b : a, "batch", &graphs[i]);
        row_get_count(i ? b : a, "nodes", &nodes[i]);
        if (weak)
            row_get_count(i ? b : a, "ranks.count", &ranks[i]);
    }
    return (nodes[0] == nodes[1] && graphs[0] * ranks[1] == graphs[1] * ranks[0]) ||
           (graphs[0] == graphs[1] && nodes[0] * ranks[1] == nodes[1] * ranks[0]);
}

static bool is_size(const struct field *axis)
{
    return strcmp(axis->path, "batch") == 0 || strcmp(axis->path, "nodes") == 0;
}

/* " (500 nodes)": what varies beside ranks and, with `weak`, graphs. */
static void say_axes(FILE *out, const struct rows *rows, const struct row *row, bool weak)
{
    const struct field *axes[AXES_MAX];
    char text[AXES_TEXT];
    size_t n = 0, all = axes_varying(rows, axes);
    for (size_t i = 0; i < all; i++)
        if (strcmp(axes[i]->path, "ranks.count") != 0 && !(weak && is_size(axes[i])))
            axes[n++] = axes[i];
    axes_describe_all(row, axes, n, text);
    if (n > 0)
        fprintf(out, " (%s)", text);
}

static int64_t ranks_of(const struct row *row)
{
    int64_t ranks = 0;
    row_get_count(row, "ranks.count", &ranks);
    return ranks;
}

/* Of a row and one that was skipped before, the skipped one on fewer ranks; null: none. */
static const struct row *first_skipped(const struct row *before, const struct row *row)
{
    const char *status;
    bool skipped = row_get_text(row, "status", &status) && strcmp(status, "skipped") == 0;
    return skipped && (!before || ranks_of(row) < ranks_of(before)) ? row : before;
}

/* "; ends before 16 ranks (fewer heads than ranks)" */
static void say_end(FILE *out, const struct row *skipped)
{
    const char *reason;
    if (row_get_text(skipped, "reason", &reason))
        fprintf(out, "; ends before %lld ranks (%s)", (long long)ranks_of(skipped), reason);
}

void findings_print_rank_memory(FILE *out, const struct rows *rows, bool weak, double limit)
{
    size_t count = rows_count(rows);
    bool *done = calloc(count + 1, sizeof *done);
    struct place *p = calloc(count + 1, sizeof *p);
    if (!done || !p)
        abort();
    for (size_t i = 0; i < count; i++) {
        size_t n = 0;
        const struct row *skipped = NULL;
        for (size_t k = i; k < count; k++)
            if (!done[k] && same_but_ranks(rows, rows_at(rows, i), rows_at(rows, k)) &&
                same_graphs(rows_at(rows, i), rows_at(rows, k), weak)) {
                done[k] = true;
                n += place_of(rows_at(rows, k), &p[n]);
                skipped = first_skipped(skipped, rows_at(rows, k));
            }
        qsort(p, n, sizeof *p, by_ranks);
        if (n < 2 || p[0].ranks == p[n - 1].ranks)
            continue;
        fputs("memory of the largest rank", out);
        say_axes(out, rows, rows_at(rows, i), weak);
        say_fall(out, p, n, limit);
        if (skipped)
            say_end(out, skipped);
        putc('\n', out);
    }
    free(done);
    free(p);
}
