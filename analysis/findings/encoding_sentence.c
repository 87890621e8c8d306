/* When encodings pay off: what computing one costs, in runs of the program on the same graph. */
#include "analysis/findings/sentences.h"

/* Runs after which computing the encoding is less than 1 % of the total for certain: once < 0.01 (once + runs
 * each); NAN: not known. */
static double runs_at_most(const struct row *row, size_t kind)
{
    struct range once = row_range(row, TIMED_ENCODING), each = row_range(row, kind);
    bool known = is_settled(row, TIMED_ENCODING) && is_settled(row, kind) && ranges_suffice(&once, &each);
    return known ? floor(99 * once.high / range_floor_within(&each)) + 1 : NAN;
}

/* The most runs that an encoding takes to pay off; of how many it is known, of those that took a solver. */
static double most_runs(const struct rows *rows, size_t kind, struct basis *basis)
{
    double most = 0;
    *basis = (struct basis){0};
    for (size_t i = 0; i < rows_count(rows); i++) {
        const struct row *row = rows_at(rows, i);
        double runs = runs_at_most(row, kind);
        if (!row_is_ok(row) || row_solved_nothing(row) || !(row->encoding.time.median > 0))
            continue;
        basis->of++;
        basis->rows += !isnan(runs);
        most = fmax(most, runs); /* ignores NAN */
    }
    return most;
}

double sentence_encodings(FILE *out, const struct facts *facts, struct basis *basis)
{
    size_t kind = TIMED_STEP;
    double runs = most_runs(facts->rows, kind, basis);
    if (!(runs > 0))
        runs = most_runs(facts->rows, kind = TIMED_FORWARD, basis);
    if (runs > 0)
        fprintf(
            out,
            "Computing an encoding takes less than 1 %% of the time after at most %.0f %s%s on its graph.",
            runs, kind == TIMED_STEP ? "training step" : "inference run", runs == 1 ? "" : "s");
    return runs;
}
