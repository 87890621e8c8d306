/* Findings about the parts of a program that was profiled. */
#include "analysis/findings/sentences.h"

#include "analysis/record/profile.h"
#include "analysis/tables/units.h"

#include <math.h>
#include <stdlib.h>

/* A profile has no interval: of two ops whose times differ by less than this factor either may be the
 * dearest. */
static const double distinct = 1.1;

/* "attention_backward with 34 % of its time, at 45 % of its roofline" */
static void print_group(FILE *out, const struct profile_group *g, double total)
{
    fprintf(out, "%s with %.0f %% of its time", g->key, 100 * g->seconds / total);
    if (isfinite(g->least) && g->seconds > 0 && g->least <= g->seconds)
        fprintf(out, ", at %.0f %% of its roofline", 100 * g->least / g->seconds);
}

void sentences_profile(FILE *out, const struct facts *facts)
{
    struct profile p;
    size_t count = 0;
    char name[AXES_TEXT] = "";
    const struct row *row = profile_of_largest(facts->rows, "step", &p);
    struct profile_group *groups = profile_groups(&p, PROFILE_OP, PROFILE_LONGEST, &count);
    double total = profile_total(&p).seconds;
    if (row && count > 1 && total > 0) {
        bool tie = groups[0].seconds < distinct * groups[1].seconds;
        describe_row(facts, row, name);
        fprintf(out, "Of the ops of a training step with %s the dearest is ", name);
        print_group(out, &groups[0], total);
        if (tie) {
            fputs(", or ", out);
            print_group(out, &groups[1], total);
            fputs(": the profile cannot tell", out);
        }
        fputs(".\n", out);
    }
    free(groups);
    profile_free(&p);
}
