/* Findings about ranks (analysis/record/rank_scaling.h). Ranks that share cores show nothing. */
#include "analysis/findings/sentences.h"

#include "analysis/compare/verdict.h"
#include "analysis/record/rank_scaling.h"
#include "analysis/record/schema.h"

#include <math.h>
#include <string.h>

static const char *const work_of[GROWTHS] = {"the same batch", "a batch for each rank",
                                             "as many nodes for each rank"};

static void print_scaling(FILE *out, const struct scaling *s, const char *program)
{
    struct verdict_limits limits = verdict_limits_default();
    limits.machines = true; /* states of one thread and of several are not compared */
    if (!is_settled(s->base, program) || !is_settled(s->row, program))
        return;
    struct verdict v = verdict_rows(s->base, s->row, program, verdict_samples, limits);
    if (isnan(v.low))
        return;
    fprintf(out,
            "%s of %s on %lld ranks takes %.2f [%.2f, %.2f] times what one rank takes%s: an efficiency of "
            "%.0f %% (%.0f to "
            "%.0f %%).\n",
            strcmp(program, "step") == 0 ? "A training step" : "Inference", work_of[s->growth],
            (long long)s->ranks, v.ratio, v.low, v.high, s->growth != GROWS_NOT ? " for one" : "",
            100 * scaling_efficiency(s, 1, v.ratio), 100 * scaling_efficiency(s, 1, v.high),
            100 * scaling_efficiency(s, 1, v.low));
}

void sentences_ranks(FILE *out, const struct facts *facts)
{
    for (size_t i = 0; i < rows_count(facts->rows); i++) {
        const struct row *row = rows_at(facts->rows, i);
        struct scaling s;
        double load = 0;
        if (!row_get_real(row, "ranks.load", &load) || load > 1 || !scaling_find(facts->rows, row, &s))
            continue;
        print_scaling(out, &s, "forward");
        print_scaling(out, &s, "step");
    }
}
