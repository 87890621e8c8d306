/* When encodings pay off: what computing one costs, in runs of the program on the same graph. */
#include "analysis/findings/sentences.h"

#include <string.h>

/* The row whose encoding pays off last, of the *count that were timed beside the program and took a solver.
 */
static const struct row *last_to_pay(const struct rows *rows, const char *program, int64_t *runs,
                                     size_t *count)
{
    const struct row *last = NULL;
    char path[SCHEMA_PATH];
    int64_t here;
    snprintf(path, sizeof path, "encoding.break_even_%s", program);
    *count = 0;
    for (size_t i = 0; i < rows_count(rows); i++) {
        const struct row *row = rows_at(rows, i);
        if (!is_settled(row, "encoding") || !is_settled(row, program) || row_solved_nothing(row) ||
            !row_get_count(row, path, &here))
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
    const char *program = "step";
    char name[AXES_TEXT];
    int64_t runs = 0;
    size_t count;
    const struct row *row = last_to_pay(facts->rows, program, &runs, &count);
    if (!row)
        row = last_to_pay(facts->rows, program = "forward", &runs, &count);
    if (!row)
        return 0;
    describe_row(facts->rows, row, name);
    if (count > 1)
        fprintf(out, "Of %zu encodings the last to pay off (%s)", count, name);
    else
        fprintf(out, "The encoding (%s)", name);
    fprintf(out, " takes less than 1 %% of the time after about %lld %s%s on its graph.", (long long)runs,
            strcmp(program, "step") == 0 ? "training step" : "inference run", runs == 1 ? "" : "s");
    return (double)runs;
}
