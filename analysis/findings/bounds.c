/*
 * How far measured times are from the bounds that are predicted for them: least and most of P.time.median /
 * P.predicted.time over the programs of some rows. For a model on the host without a prediction P.bound.time
 * is in its place.
 */
#include "analysis/findings/findings.h"
#include "analysis/statistics/allocate.h"

/* NAN if the row does not have both. */
static double ratio_of(const struct row *row, size_t kind)
{
    const struct row_program *p = row_program(row, kind);
    bool on_host = same_text(row->device, "cpu");
    bool other = isnan(p->predicted.time) && on_host && kind != TIMED_KERNEL;
    double bound = other ? p->bound.time : p->predicted.time;
    return row_is_ok(row) && bound > 0 ? p->time.median / bound : NAN;
}

void findings_print_bounds(FILE *out, const struct rows *rows, const char *where)
{
    double least = INFINITY, most = 0;
    int count = 0;
    for (size_t i = 0; i < rows_count(rows); i++)
        for (size_t kind = 0; kind < TIMED_ENCODING; kind++) {
            double ratio = ratio_of(rows_at(rows, i), kind);
            count += !isnan(ratio);
            least = fmin(least, ratio);
            most = fmax(most, ratio);
        }
    if (count > 1)
        fprintf(out, "measured times are usually %.*f to %.*f times these bounds (of %d programs in %s)\n",
                least < 10, least, most < 10, most, count, where);
    else if (count > 0)
        fprintf(out, "a measured time is %.*f times this bound (of 1 program in %s)\n", most < 10, most,
                where);
}
