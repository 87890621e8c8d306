/*
 * Memory is that of the largest rank. It no longer falls from the fewest ranks on whose memory is within 1 %
 * of the least of all: what each rank has whole, as the parameters, then dominates.
 */
#include "analysis/findings/findings.h"

#include "analysis/record/rank_scaling.h"
#include "analysis/record/slices.h"
#include "analysis/statistics/allocate.h"
#include "analysis/tables/units.h"

static const double same = 1.01;

/* Of the largest rank; 0: not known. */
static double bytes_of_rank(const struct row *row)
{
    const int64_t bytes[] = {row->ranks.memory, row->step.memory.planned, row->forward.memory.planned};
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        if (bytes[i] != COUNT_ABSENT)
            return (double)bytes[i];
    return 0;
}

static void ranks_text(char text[32], int64_t ranks)
{
    snprintf(text, 32, "%lld rank%s", (long long)ranks, ranks == 1 ? "" : "s");
}

/* "; it is within 1.00 GiB from 8 ranks on". */
static void say_limit(FILE *out, const struct rank_place *p, size_t n, double limit)
{
    char bytes[UNITS_TEXT], ranks[32];
    size_t first = 0, more;
    units_format(bytes, limit, UNITS_BINARY, "B");
    while (first < n && bytes_of_rank(p[first].row) > limit)
        first++;
    for (more = first; more < n && bytes_of_rank(p[more].row) <= limit;)
        more++;
    ranks_text(ranks, p[first < n ? first : 0].ranks);
    if (first == n)
        fprintf(out, "; it exceeds %s on all", bytes);
    else
        fprintf(out,
                more == n ? "; it is within %s from %s on"
                          : "; it is within %s first on %s, but not on all more",
                bytes, ranks);
}

static void say_fall(FILE *out, const struct rank_place *p, size_t n)
{
    char from[UNITS_TEXT], to[UNITS_TEXT], first[32], last[32];
    double least = bytes_of_rank(p->row);
    size_t end = 0;
    for (size_t i = 1; i < n; i++)
        least = bytes_of_rank(p[i].row) < least ? bytes_of_rank(p[i].row) : least;
    while (bytes_of_rank(p[end].row) > same * least)
        end++;
    units_format(from, bytes_of_rank(p->row), UNITS_BINARY, "B");
    units_format(to, bytes_of_rank(p[end].row), UNITS_BINARY, "B");
    ranks_text(first, p->ranks);
    ranks_text(last, p[end].ranks);
    if (end == 0)
        fprintf(out, ": %s on %s, and no less on more", from, first);
    else
        fprintf(out, ": falls from %s on %s to %s on %s, %s", from, first, to, last,
                end == n - 1 ? "the most here" : "and no further on more");
}

/* "; ends before 16 ranks (fewer heads than ranks)", if rows were skipped. */
static void say_end(FILE *out, const struct rank_place *p, size_t n)
{
    size_t i = 0;
    while (i < n && !same_text(p[i].row->status, "skipped"))
        i++;
    if (i < n && p[i].row->reason)
        fprintf(out, "; ends before %lld ranks (%s)", (long long)p[i].ranks, p[i].row->reason);
}

void findings_print_rank_memory(FILE *out, const struct rows *rows, bool weak, double limit)
{
    const char *const any[] = {"ranks.count", weak ? "batch" : NULL, "nodes", NULL};
    const struct field *axes[AXES_MAX];
    char text[AXES_TEXT];
    size_t count = rows_count(rows), n = slices_axes(rows, NULL, any, axes);
    struct rank_place *all = rank_places(rows, weak), *known = allocate(count + 1, sizeof *known);
    for (size_t i = 0, end; i < count; i = end) {
        size_t found = 0;
        for (end = i; end < count && rank_place_same(&all[i], &all[end]); end++) {
            known[found] = all[end];
            found += all[end].ranks > 0 && bytes_of_rank(all[end].row) > 0;
        }
        if (found < 2 || known[0].ranks == known[found - 1].ranks)
            continue;
        axes_describe_all(all[i].row, axes, n, text);
        fprintf(out, "memory of the largest rank%s%s%s", *text ? " (" : "", text, *text ? ")" : "");
        say_fall(out, known, found);
        if (limit > 0)
            say_limit(out, known, found, limit);
        say_end(out, all + i, end - i);
        putc('\n', out);
    }
    free(known);
    free(all);
}
