#include "analysis/charts/charts.h"

static chart_adder *const kinds[] = {kernel_chart_add, rank_chart_add,  winner_chart_add,
                                     chart_add,        parts_chart_add, profile_chart_add};
enum { KINDS = sizeof kinds / sizeof *kinds };

void charts_add(struct figures *f, const struct record *record, const struct field *axis)
{
    const struct rows *rows = record_rows(record);
    bool one = rows_count(rows) == 1 && !rows_at(rows, 0)->op; /* of which the profile says most */
    for (size_t i = 0; i < KINDS; i++)
        kinds[one ? (i + KINDS - 1) % KINDS : i](f, record, axis);
}
