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

/* What grows with the ranks: nothing, or one of the sizes of the batch. */
enum growth { GROWS_NOT, GROWS_GRAPHS, GROWS_NODES, GROWTHS };

static const char *const work_of[GROWTHS] = {"the same batch", "a batch for each rank",
                                             "as many nodes for each rank"};

/* A row of several ranks, and the row of one rank that it is compared with. */
struct scaling {
    const struct row *base, *row;
    int64_t ranks;
    enum growth growth;
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

/* Whether base is the row of one rank that `row` of several is compared with. */
static bool is_base(const struct rows *rows, const struct row *base, const struct scaling *s)
{
    return count_of(base, "ranks.count") == 1 &&
           has_times(base, s->row, "batch", s->growth == GROWS_GRAPHS ? s->ranks : 1) &&
           has_times(base, s->row, "nodes", s->growth == GROWS_NODES ? s->ranks : 1) &&
           (s->growth != GROWS_NODES || divides_nodes(s->row)) && same_but_ranks(rows, base, s->row);
}

/* The same work is compared first: a sweep over sizes and ranks has both. */
static bool find_base(const struct rows *rows, struct scaling *s)
{
    for (s->growth = 0; s->growth < GROWTHS; s->growth++)
        for (size_t k = 0; k < rows_count(rows); k++) {
            s->base = rows_at(rows, k);
            if (is_base(rows, s->base, s))
                return true;
        }
    return false;
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
    bool weak = s->growth != GROWS_NOT;
    double ideal = weak ? 1 : 1 / (double)s->ranks;
    fprintf(out,
            "%s of %s on %lld ranks takes %.2f [%.2f, %.2f] times what one rank takes%s: an efficiency of "
            "%.0f %% (%.0f to "
            "%.0f %%).\n",
            strcmp(program, "step") == 0 ? "A training step" : "Inference", work_of[s->growth],
            (long long)s->ranks, v.ratio, v.low, v.high, weak ? " for one" : "", 100 * ideal / v.ratio,
            100 * ideal / v.high, 100 * ideal / v.low);
}

void sentences_ranks(FILE *out, const struct facts *facts)
{
    for (size_t i = 0; i < rows_count(facts->rows); i++) {
        struct scaling s = {.row = rows_at(facts->rows, i)};
        double load = 0;
        s.ranks = count_of(s.row, "ranks.count");
        if (s.ranks < 2 || !row_get_real(s.row, "ranks.load", &load) || load > 1)
            continue;
        if (find_base(facts->rows, &s)) {
            print_scaling(out, &s, "forward");
            print_scaling(out, &s, "step");
        }
    }
}
