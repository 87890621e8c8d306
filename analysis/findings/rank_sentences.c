/*
 * Findings about ranks. Strong scaling: the same batch on more ranks; on R ranks an efficiency of 1 takes 1 /
 * R of the time. Weak scaling: R times the graphs or nodes; an efficiency of 1 takes the same time. Ranks
 * that share cores show neither.
 */
#include "analysis/findings/sentences.h"

#include "analysis/compare/verdict.h"
#include "analysis/record/axes.h"
#include "analysis/record/schema.h"

#include <math.h>
#include <string.h>

/* A row of several ranks, and the row of one rank that it is compared with. */
struct scaling {
    const struct row *base, *row;
    int64_t ranks;
    bool weak;
};

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

/* Whether base is the row of one rank that `row` of several is compared with. */
static bool is_base(const struct rows *rows, const struct row *base, struct scaling *s)
{
    int64_t graphs = count_of(base, "batch"), all_graphs = count_of(s->row, "batch");
    int64_t nodes = count_of(base, "nodes"), all_nodes = count_of(s->row, "nodes");
    if (graphs < 1 || nodes < 1)
        return false;
    int64_t more = (all_graphs / graphs) * (all_nodes / nodes);
    s->base = base;
    s->weak = more != 1;
    return count_of(base, "ranks.count") == 1 && all_graphs % graphs == 0 && all_nodes % nodes == 0 &&
           (more == 1 || (more == s->ranks && (all_graphs == graphs || all_nodes == nodes))) &&
           same_but_ranks(rows, base, s->row);
}

static void print_scaling(FILE *out, const struct scaling *s, const char *program)
{
    struct verdict_limits limits = verdict_limits_default();
    limits.machines = true; /* states of one thread and of several are not compared */
    if (!is_settled(s->base, program) || !is_settled(s->row, program))
        return;
    struct verdict v = verdict_rows(s->base, s->row, program, verdict_samples, limits);
    if (isnan(v.low))
        return;
    double ideal = s->weak ? 1 : 1 / (double)s->ranks;
    fprintf(out,
            "%s of %s on %lld ranks takes %.2f [%.2f, %.2f] times what one rank takes%s: an efficiency of "
            "%.0f %% (%.0f to "
            "%.0f %%).\n",
            strcmp(program, "step") == 0 ? "A training step" : "Inference",
            s->weak ? "as much for each rank" : "the same batch", (long long)s->ranks, v.ratio, v.low, v.high,
            s->weak ? " for one" : "", 100 * ideal / v.ratio, 100 * ideal / v.high, 100 * ideal / v.low);
}

void sentences_ranks(FILE *out, const struct facts *facts)
{
    for (size_t i = 0; i < rows_count(facts->rows); i++) {
        struct scaling s = {.row = rows_at(facts->rows, i)};
        double load = 0;
        s.ranks = count_of(s.row, "ranks.count");
        if (s.ranks < 2 || !row_get_real(s.row, "ranks.load", &load) || load > 1)
            continue;
        size_t k = 0;
        while (k < rows_count(facts->rows) && !is_base(facts->rows, rows_at(facts->rows, k), &s))
            k++;
        if (k < rows_count(facts->rows)) {
            print_scaling(out, &s, "forward");
            print_scaling(out, &s, "step");
        }
    }
}
