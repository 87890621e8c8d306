/* When encodings pay off: what computing one costs, in runs of the program on the same graph. */
#include "analysis/findings/sentences.h"

/* The row whose encoding pays off last, of the *count that were timed beside the program and took a solver.
 */
static const struct row *last_to_pay(const struct rows *rows, size_t kind, int64_t *runs, size_t *count)
{
    const struct row *last = NULL;
    *count = 0;
    for (size_t i = 0; i < rows_count(rows); i++) {
        const struct row *row = rows_at(rows, i);
        int64_t here = kind == TIMED_STEP ? row->encoding.break_even_step : row->encoding.break_even_forward;
        if (!is_settled(row, TIMED_ENCODING) || !is_settled(row, kind) || row_solved_nothing(row) ||
            here == COUNT_ABSENT)
            continue;
        ++*count;
        if (!last || here > *runs) {
            last = row;
            *runs = here;
        }
    }
    return last;
}

double sentence_encodings(FILE *out, const struct facts *facts)
{
    size_t kind = TIMED_STEP;
    char name[AXES_TEXT];
    int64_t runs = 0;
    size_t count;
    const struct row *row = last_to_pay(facts->rows, kind, &runs, &count);
    if (!row)
        row = last_to_pay(facts->rows, kind = TIMED_FORWARD, &runs, &count);
    if (!row)
        return 0;
    describe_row(facts->rows, row, name);
    if (count > 1)
        fprintf(out, "Of %zu encodings the last to pay off (%s)", count, name);
    else
        fprintf(out, "The encoding (%s)", name);
    fprintf(out, " takes less than 1 %% of the time after about %lld %s%s on its graph.", (long long)runs,
            kind == TIMED_STEP ? "training step" : "inference run", runs == 1 ? "" : "s");
    return (double)runs;
}
